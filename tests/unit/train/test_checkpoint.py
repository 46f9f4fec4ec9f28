"""Checkpoints: a disk that is full keeps the one before; what cannot be read is one line."""

import errno
import json
import os

import pytest
import torch
from safetensors import SafetensorError

from anyformer.errors import FolderError
from anyformer.train import checkpoint
from anyformer.train.checkpoint import Progress, TrainingError, read_into, read_state, state_of, write, writing

FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
RUST = SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")


@pytest.fixture
def learner():
    model = torch.nn.Linear(2, 2)
    optimizer = torch.optim.AdamW(model.parameters())
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return model, optimizer


def _write(folder, learner, step):
    with writing("the checkpoint"):
        write(folder, *learner, checkpoint.weights(learner[0]), state_of(Progress("adapt", step), {"p": 0.2}))


@pytest.mark.parametrize(
    ("place", "nth", "error"),
    [
        ("save_file", 0, RUST),
        ("save_file", 1, RUST),
        ("save_file", 2, FULL),
        ("replace", 0, FULL),
        ("replace", 1, FULL),
    ],
)
def test_a_full_disk_keeps_the_checkpoint_before_and_none_of_the_half_one(
    learner, tmp_path, monkeypatch, place, nth, error
):
    _write(tmp_path, learner, 1)
    home, calls = (os if place == "replace" else checkpoint), []
    real = getattr(home, place)

    def full(*args):
        calls.append(args)
        if len(calls) > nth:
            raise error
        return real(*args)

    with monkeypatch.context() as patched:
        patched.setattr(home, place, full)
        with pytest.raises(TrainingError, match=r"No space left on device.*the last good checkpoint stays"):
            _write(tmp_path, learner, 2)
    assert read_state(tmp_path)["progress"]["step"] == 1
    assert read_into(tmp_path, *learner) is not None
    assert not list(tmp_path.glob(".adapt-*"))
    _write(tmp_path, learner, 3)
    assert [folder.name for folder in tmp_path.iterdir() if folder.is_dir()] == ["adapt-00000003"]


def test_another_error_is_not_taken_for_a_full_disk():
    with pytest.raises(ZeroDivisionError), writing("the checkpoint"):
        _ = 1 / 0


@pytest.mark.parametrize("state", [{"progress": {}}, {"schema": 99}, []])
def test_a_checkpoint_of_another_version_says_so(learner, tmp_path, state):
    _write(tmp_path, learner, 1)
    (tmp_path / "adapt-00000001" / "state.json").write_text(json.dumps(state))
    with pytest.raises(FolderError, match="written by another version of anyformer"):
        read_state(tmp_path)


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "best.safetensors"])
def test_a_checkpoint_that_is_cut_short_is_damaged(learner, tmp_path, name):
    _write(tmp_path, learner, 1)
    file = tmp_path / "adapt-00000001" / name
    file.write_bytes(file.read_bytes()[:-1])
    with pytest.raises(FolderError, match="is damaged"):
        read_into(tmp_path, *learner)
