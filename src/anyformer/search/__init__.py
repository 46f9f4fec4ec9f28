"""Search once: the trade-off front of a trained model, and what of it may be promised."""
