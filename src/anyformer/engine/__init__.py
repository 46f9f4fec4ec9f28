"""How a segment is run: faster ways to the same answers."""
