"""The made tokenizer, once for all tests of the tasks."""

import pytest

from tests.unit.tasks.made import made_tokenizer


@pytest.fixture(scope="session")
def tokenizer():
    return made_tokenizer()
