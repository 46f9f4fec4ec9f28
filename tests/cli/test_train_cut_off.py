"""`anyformer train` that stops on the way: one line, exit code 2, and a checkpoint to go on from."""

import errno
import json
import os

import pytest
import torch
from safetensors import SafetensorError
from transformers import PreTrainedModel

from anyformer import load
from anyformer.train import checkpoint as state_files
from tests.unit.train.made import checkpoint, texts, write

pytest.importorskip("accelerate")
EPOCHS = ("--finetune-epochs", 1, "--adapt-epochs", 1)
QUICK = (*EPOCHS, "--precision", "fp32", "--save-every", 1)
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
RUST = SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    torch.manual_seed(0)
    return checkpoint(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def run(anyformer, toy, tmp_path):
    data = write(tmp_path / "data.jsonl", texts(80))
    return lambda *flags, model=toy: anyformer(
        "train", model, "--data", data, "--out", tmp_path / "out", *QUICK, *flags
    )


@pytest.fixture
def cut(run, monkeypatch, tmp_path):
    """A run that trained to its end and then met a full disk."""

    def full(*_, **__):
        raise RUST

    with monkeypatch.context() as patched:
        patched.setattr(PreTrainedModel, "save_pretrained", full)
        said = run()
    state = tmp_path / "out" / ".train"
    return said, state / (state / "latest").read_text() / "state.json"


def _one_line(said, *words):
    assert said.code == 2, said.err
    assert all(word in said.err.splitlines()[-1] for word in words), said.err
    assert "Traceback" not in said.err
    assert said.err.count("anyformer train:") == 1


def test_a_full_disk_at_the_end_is_gone_on_from(cut, run, tmp_path):
    said, _ = cut
    _one_line(said, "out cannot be written", "No space left on device", "the last good checkpoint stays")
    assert [file.name for file in (tmp_path / "out").iterdir()] == [".train"]
    again = run("--resume")
    assert again.code == 0
    assert "goes on after step 3 of stage adapt" in again.err
    assert load(tmp_path / "out").about["task"] == "classification"


@pytest.mark.parametrize("error", [FULL, RUST], ids=["python", "rust"])
def test_a_full_disk_on_the_way_keeps_the_checkpoint_before(run, monkeypatch, tmp_path, error):
    real, written = state_files.save_file, []

    def full(tensors, path):
        written.append(path)
        if len(written) > 4:
            raise error
        real(tensors, path)

    monkeypatch.setattr(state_files, "save_file", full)
    _one_line(run(), "the checkpoint cannot be written", "No space left on device", "the last good checkpoint stays")
    assert state_files.read_state(tmp_path / "out" / ".train")["progress"]["step"] == 2


def test_resuming_another_run_is_refused_with_what_differs(cut, run, tmp_path):
    other = write(tmp_path / "other.jsonl", texts(80, seed=1))
    torch.manual_seed(1)
    sister = checkpoint(tmp_path / "sister")
    cases = [
        (("--p", 0.3, "--seed", 5), ("adapt.p was 0.2, is 0.3", "run.seed was 0, is 5")),
        (("--data", other), ("data.train was '72 records ", ", is '72 records ")),
        (("--validation", other), ("data.validation was '8 records ", ", is '80 records ")),
    ]
    for flags, words in cases:
        _one_line(run("--resume", *flags), "--resume of another run", *words)
    said = run("--resume", model=sister)
    _one_line(said, "model was 'BertForSequenceClassification ", "is 'BertForSequenceClassification ")
    assert "data" not in said.err.splitlines()[-1]


def test_a_checkpoint_of_another_version_is_refused(cut, run):
    _, state = cut
    state.write_text(json.dumps(json.loads(state.read_text()) | {"schema": 99}))
    _one_line(run("--resume"), "written by another version of anyformer", "schema 99")
    state.write_text("{")
    _one_line(run("--resume"), "is damaged")


def test_a_loss_that_is_no_number_stops_and_keeps_the_checkpoint_before(run, tmp_path):
    said = run("--finetune-learning-rate", 1e30)
    _one_line(said, "not a number at step", "of stage finetune", "the last good checkpoint stays")
    named = int(said.err.split("at step ")[1].split()[0])
    assert state_files.read_state(tmp_path / "out" / ".train")["progress"]["step"] == named - 1


def test_a_run_that_cannot_begin_leaves_the_checkpoint_of_the_one_before(cut, run, tmp_path):
    odd = write(tmp_path / "odd.jsonl", [{"text": "w1", "label": "odd"}])
    _one_line(run("--validation", odd), "'odd'")
    assert run("--resume").code == 0
