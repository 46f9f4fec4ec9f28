"""Train once: fine-tune, then adapt, so that one checkpoint serves every budget."""
