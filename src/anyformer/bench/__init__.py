"""Side by side in one run: what is compared takes turns, batch by batch, on the same machine with the same threads."""
