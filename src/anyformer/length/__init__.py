"""Tokens leave: what they are worth (significance), which stay (drop), which plans training draws (sample)."""
