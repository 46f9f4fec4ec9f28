"""Whole trainings of a toy: they learn, they are resumed bit for bit, they run on two processes."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification

from anyformer import load
from anyformer.data.splits import Splits
from anyformer.errors import AnyformerError
from anyformer.train.config import SettingsError, TrainSettings
from anyformer.train.process import Process
from anyformer.train.stages import train
from tests.unit.train.made import checkpoint, texts, write

pytest.importorskip("accelerate")
KILLS = int(os.environ.get("ANYFORMER_KILLS", "3"))  # of each run; ten were survived when this was written
SETTINGS = {
    "finetune": {"epochs": 2, "learning_rate": 3e-3},
    "adapt": {"epochs": 2, "learning_rate": 1e-3},
    "run": {"batch_rows": 16, "precision": "fp32", "save_every": 1},
}


def _quiet():
    return Process(device="cpu", say=lambda line: None)


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    torch.manual_seed(0)
    return checkpoint(tmp_path_factory.mktemp("toy"))


def _settings(**run):
    return TrainSettings.from_dict(SETTINGS | {"run": SETTINGS["run"] | run})


def test_a_toy_learns_and_its_folder_holds_what_the_contract_says(toy, tmp_path):
    splits = Splits("classification", texts(600), texts(100, seed=1))
    out = tmp_path / "out"
    result = train(toy, splits, _settings(), out, process=_quiet())
    assert result.scores["full"] > 90
    assert result.scores["smallest"] > 80
    assert load(out).config.id2label == {0: "bad", 1: "good"}
    plain = AutoModelForSequenceClassification.from_pretrained(out)
    ids = torch.tensor([[2, 5, 9, 12, 3]])
    assert torch.equal(plain(ids).logits, result.model.hf(ids).logits)
    about = json.loads((out / "anyformer.json").read_text())
    assert about["task"] == "classification"
    assert about["labels"] == ["bad", "good"]
    assert about["settings"]["adapt"]["kl"] == "forward"
    assert {"full", "middle", "smallest"} <= set(about["scores"])
    assert "full" in (out / "README.md").read_text()
    assert not (out / ".train").exists()


def test_ramps_are_saved_beside_the_model_and_come_back(toy, tmp_path):
    splits = Splits("classification", texts(64), texts(20, seed=1))
    settings = _settings().with_changes({"finetune": {"ramps": "on", "epochs": 1}, "adapt": {"epochs": 1}})
    result = train(toy, splits, settings, tmp_path / "out", process=_quiet())
    back = load(tmp_path / "out")
    assert back.ramps.layers == (0, 1)
    wanted = result.model.ramps.state_dict()
    assert all(torch.equal(tensor, wanted[name]) for name, tensor in back.ramps.state_dict().items())


RUNNER = """
import sys, torch
torch.set_num_threads(1)
from anyformer.train.config import TrainSettings
from anyformer.train.process import Process
from anyformer.train.stages import train
import json
model, data, out, settings, resume = sys.argv[1:6]
quiet = Process(device="cpu", say=lambda line: print(line, flush=True))
train(model, data, TrainSettings.from_dict(json.loads(settings)), out, resume=resume == "1", process=quiet,
      task="classification", validation=data)
"""


GRADIENTS = """
import sys, json, torch
torch.set_num_threads(1)
from safetensors.torch import save_file
from anyformer.data.splits import load_splits
from anyformer.train.config import TrainSettings
from anyformer.train.loop import optimiser_step, step_settings
from anyformer.train.process import Process
from anyformer.train.schedule import make_schedule
from anyformer.train.stages import make_trainee
model, data, out, settings, _ = sys.argv[1:6]
settings, process = TrainSettings.from_dict(json.loads(settings)), Process(device="cpu", say=lambda line: None)
trainee = make_trainee(model, load_splits(data, "classification", data), settings, process, None)
lengths = [f.n_tokens for f in trainee.features]
schedule = make_schedule(lengths, 1, settings.run, "adapt", process.world)
optimiser_step(trainee, settings.adapt, step_settings(settings.adapt, process, settings.run), schedule, 0, "adapt")
if process.rank == 0:
    save_file({name: p.grad for name, p in trainee.model.named_parameters()}, out)
"""


def _start(toy, data, out, settings, resume, program=RUNNER, **env):
    command = [sys.executable, "-c", program, str(toy), str(data), str(out), json.dumps(settings.to_dict()), resume]
    with Path(f"{out}-{resume}{env.get('RANK', '')}.log").open("w") as log:
        return subprocess.Popen(command, env=os.environ | {"OMP_NUM_THREADS": "1"} | env, stdout=log, stderr=log)


def _log(out):
    return "".join(file.read_text()[-2000:] for file in sorted(out.parent.glob(f"{out.name}-*.log")))


@pytest.mark.parametrize("accumulate", [1, 3])
def test_a_run_killed_at_random_moments_ends_bit_for_bit_as_an_uninterrupted_one(toy, tmp_path, accumulate):
    data = write(tmp_path / "data.jsonl", texts(400))
    settings = _settings(accumulate=accumulate)
    whole = _start(toy, data, tmp_path / "whole", settings, "0")
    assert whole.wait() == 0, _log(tmp_path / "whole")
    rng, kills = random.Random(accumulate), 0
    state = tmp_path / "cut" / ".train" / "latest"
    while kills < KILLS:
        before = state.read_text() if state.is_file() else ""
        run = _start(toy, data, tmp_path / "cut", settings, "1")
        while run.poll() is None and (state.read_text() if state.is_file() else "") == before:
            time.sleep(0.01)  # so that every run gets on, however slow the machine
        time.sleep(rng.random() * 0.5)
        if run.poll() is not None:
            break
        run.send_signal(signal.SIGKILL)
        run.wait()
        kills += 1
    assert kills == KILLS
    last = _start(toy, data, tmp_path / "cut", settings, "1")
    assert last.wait() == 0, _log(tmp_path / "cut")
    wanted, found = (load_file(tmp_path / name / "model.safetensors") for name in ("whole", "cut"))
    assert all(torch.equal(found[name], tensor) for name, tensor in wanted.items())


def _on_two(toy, data, out, settings, program):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    shared = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, "WORLD_SIZE": "2", "LOCAL_WORLD_SIZE": "2"}
    return [_start(toy, data, out, settings, "0", program, RANK=str(r), LOCAL_RANK=str(r), **shared) for r in range(2)]


@pytest.mark.parametrize(("program", "tolerance"), [(GRADIENTS, 1e-6), (RUNNER, 2e-5)], ids=["gradients", "weights"])
def test_two_processes_do_what_one_does_with_twice_the_micro_batches(toy, tmp_path, program, tolerance):
    data = write(tmp_path / "data.jsonl", texts(200))
    changes = {"finetune": {"epochs": 0}, "adapt": {"epochs": 1, "learning_rate": 1e-3}}
    one = _settings(accumulate=2, save_every=0).with_changes(changes)
    two = _settings(accumulate=1, save_every=0).with_changes(changes)
    single = _start(toy, data, tmp_path / "one", one, "0", program)
    for process in (single, *_on_two(toy, data, tmp_path / "two", two, program)):
        assert process.wait(120) == 0, _log(tmp_path / "one") + _log(tmp_path / "two")
    files = [tmp_path / name for name in ("one", "two")]
    wanted, found = (load_file(f / "model.safetensors" if f.is_dir() else f) for f in files)
    for name, tensor in wanted.items():
        torch.testing.assert_close(found[name], tensor, atol=tolerance, rtol=1e-4)


def test_resuming_with_other_settings_is_refused_and_lists_them(toy, tmp_path):
    splits = Splits("classification", texts(64), texts(20, seed=1))
    out = tmp_path / "out"
    stop = _settings(save_every=1)

    def interrupt(line):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(toy, splits, stop, out, process=Process(device="cpu", say=interrupt))
    other = stop.with_changes({"adapt": {"p": 0.3}})
    with pytest.raises(SettingsError, match=r"adapt\.p was 0\.2, is 0\.3"):
        train(toy, splits, other, out, resume=True, process=_quiet())
    train(toy, splits, stop, out, resume=True, process=_quiet())


def test_a_loss_that_is_no_number_stops_and_names_the_step(toy):
    splits = Splits("classification", texts(64), texts(20, seed=1))
    wild = _settings().with_changes({"finetune": {"learning_rate": 1e30}})
    with pytest.raises(AnyformerError, match=r"not a number at step \d+ of stage finetune"):
        train(toy, splits, wild, process=_quiet())
