"""One deterministic hypothesis profile for every test: a run that passed passes again."""

from hypothesis import settings

settings.register_profile("anyformer", derandomize=True, deadline=None, max_examples=60, database=None)
settings.load_profile("anyformer")
