"""The commands run in this process, as the script runs them, with what they say on either stream."""

import json
from dataclasses import dataclass

import pytest

from anyformer.cli.main import main
from tests.cli.made import made_model


@dataclass(frozen=True)
class Said:
    code: int
    out: str
    err: str

    @property
    def json(self):
        """The last line of standard output, which must be the only one."""
        lines = self.out.splitlines()
        assert len(lines) == 1, self.out
        return json.loads(lines[0])

    @property
    def lines(self):
        """The JSON lines on standard output."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def mistake(self):
        """The one line that a user's mistake gives."""
        assert self.code == 2, self
        assert self.out == ""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert "Traceback" not in self.err
        return lines[0]


@pytest.fixture
def anyformer(capfd):
    def call(*argv):
        capfd.readouterr()  # what saving a model said
        code = main([str(one) for one in argv])
        out, err = capfd.readouterr()
        return Said(code, out, err)

    return call


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    """One saved model a task."""
    root = tmp_path_factory.mktemp("models")
    made = {}

    def saved(task="classification"):
        if task not in made:
            made[task] = made_model(task).save(root / task)
        return made[task]

    return saved
