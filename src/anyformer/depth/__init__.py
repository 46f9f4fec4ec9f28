"""Rows leave and layers are skipped: LayerDrop, exit heads and their rules, predicted depth."""
