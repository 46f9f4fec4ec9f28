"""What a training says of itself: trackers that are there, and those that are not."""

import errno
import os
import sys
from types import SimpleNamespace

import pytest
import torch

from anyformer.data.splits import Splits
from anyformer.errors import MissingExtra
from anyformer.train.checkpoint import TrainingError
from anyformer.train.config import TrainSettings
from anyformer.train.process import Process
from anyformer.train.stages import train
from tests.unit.train.made import checkpoint, texts

tracking = pytest.importorskip("accelerate.tracking")
SETTINGS = TrainSettings.from_dict(
    {
        "finetune": {"epochs": 1},
        "adapt": {"epochs": 1},
        "run": {"precision": "fp32", "report_to": "tensorboard"},
    }
)


def _train(folder):
    model = checkpoint(folder / "toy")
    process = Process("cpu", SETTINGS.run.report_to, str(folder / "out"), say=lambda line: None)
    return train(
        model, Splits("classification", texts(64), texts(20, seed=1)), SETTINGS, folder / "out", process=process
    )


class Writer:
    """Stands where TensorBoard's writer stands, and is as narrow in what it takes."""

    def __init__(self, folder):
        self.told = []
        written.append(self)

    def add_hparams(self, values, metric_dict):
        assert all(isinstance(value, int | float | str | bool) for value in values.values())

    def add_scalar(self, name, value, global_step):
        self.told.append((name, value, global_step))

    def flush(self):
        pass

    def close(self):
        pass


written = []


@pytest.fixture
def writer(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", SimpleNamespace(SummaryWriter=Writer))
    monkeypatch.setattr(torch.utils, "tensorboard", sys.modules["torch.utils.tensorboard"], raising=False)
    monkeypatch.setattr(tracking, "_available_trackers", [tracking.LoggerType.TENSORBOARD])
    return Writer


def test_a_tracker_gets_the_losses_and_the_three_scores_under_steps_that_never_go_back(writer, tmp_path):
    result = _train(tmp_path)
    told = written[-1].told
    parts = ("loss", "students", "full", "middle", "smallest")
    assert {name for name, _, _ in told} == {f"{stage}/{part}" for stage in ("finetune", "adapt") for part in parts}
    steps = [step for _, _, step in told]
    assert steps == sorted(steps)
    assert steps[-1] > steps[0]
    assert {name: value for name, value, _ in told}["adapt/full"] == result.history[-1]["full"]


def test_a_tracker_with_a_full_disk_is_one_line(writer, tmp_path, monkeypatch):
    def full(self):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(writer, "flush", full)
    with pytest.raises(TrainingError, match=r"the tracker's record cannot be written \(No space left"):
        _train(tmp_path)


def test_event_files_hold_what_was_told(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    result = _train(tmp_path)
    events = EventAccumulator(str(tmp_path / "out" / "anyformer"))
    events.Reload()
    assert {"finetune/loss", "adapt/students", "adapt/middle"} <= set(events.Tags()["scalars"])
    assert events.Scalars("adapt/smallest")[-1].value == pytest.approx(result.history[-1]["smallest"])


@pytest.mark.parametrize(
    ("name", "package"), [("tensorboard", "tensorboard"), ("wandb", "wandb"), ("all", "tensorboard")]
)
def test_a_tracker_that_is_not_installed_says_what_to_install(monkeypatch, name, package):
    monkeypatch.setattr(tracking, "_available_trackers", [])
    with pytest.raises(MissingExtra, match=f"report_to {name} finds no tracker: pip install {package}"):
        Process("cpu", name, "out")


def test_a_tracker_needs_a_folder(writer):
    with pytest.raises(TrainingError, match="say where the model goes"):
        Process("cpu", "tensorboard")


@pytest.mark.parametrize(("loss", "norm"), [(float("nan"), 1.0), (1.0, float("inf")), (1.0, float("nan"))])
def test_a_loss_or_a_gradient_that_is_no_number_is_told_with_its_step(loss, norm):
    meter = Process("cpu", say=lambda line: None).meter("adapt", n_steps=9, done=2)
    meter.step(3, torch.tensor([loss, 0.0]), torch.tensor(norm), rows=1)
    with pytest.raises(TrainingError, match="not a number at step 3 of stage adapt"):
        meter.check()
