"""The state of a training between two steps, on disk: weights, optimizer, the best weights so far, where it stands.

A checkpoint is a folder of safetensors and one JSON file; `latest` names it and is renamed into place last, so that a
run killed at any moment continues from a whole one.
"""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from anyformer.errors import AnyformerError, FolderError
from anyformer.train.config import SettingsError

LATEST = "latest"
SCHEMA = 1


class TrainingError(AnyformerError):
    """A training that cannot go on; its last good checkpoint stays."""


@contextmanager
def writing(what: str) -> Iterator[None]:
    """A full disk is one line, whichever library meets it: those in Rust say `os error` in errors of their own."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, OSError) and "os error" not in str(error):
            raise
        reason = getattr(error, "strerror", None) or error
        raise TrainingError(
            f"{what} cannot be written ({reason}): the last good checkpoint stays; make room, then go on with --resume"
        ) from error


@dataclass
class Progress:
    """Where a training stands; scores are kept for the model card."""

    stage: str
    step: int = 0
    best: float | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


def write(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, best: dict | None, state: dict) -> None:
    """state: what `state_of` gives."""
    name = f"{state['progress']['stage']}-{state['progress']['step']:08d}"
    fresh = folder / f".{name}"
    shutil.rmtree(fresh, ignore_errors=True)
    try:
        fresh.mkdir(parents=True)
        save_file(_cpu(dict(model.named_parameters())), fresh / "model.safetensors")
        save_file(_cpu(_moments(model, optimizer)), fresh / "optimizer.safetensors")
        if best is not None:
            save_file(_cpu(best), fresh / "best.safetensors")
        (fresh / "state.json").write_text(json.dumps(state))
        shutil.rmtree(folder / name, ignore_errors=True)
        os.replace(fresh, folder / name)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)  # half a checkpoint fills a disk that is full
    beside = folder / f".{LATEST}"
    beside.write_text(name)
    os.replace(beside, folder / LATEST)
    for old in folder.iterdir():
        if old.is_dir() and old.name != name:
            shutil.rmtree(old, ignore_errors=True)


def read_state(folder: Path) -> dict | None:
    """What the latest checkpoint says of itself; None where there is none."""
    try:
        state = json.loads((_latest(folder) / "state.json").read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _damaged(folder, error) from None
    schema = state.get("schema") if isinstance(state, dict) else None
    if schema != SCHEMA:
        raise FolderError(
            f"{folder} was written by another version of anyformer (schema {schema}, this one reads {SCHEMA}): "
            "go on with that version, or train again without --resume"
        )
    return state


def check_same(saved: dict, now: dict) -> None:
    """A run is continued as it began: settings, data, model, processes. The difference is listed otherwise."""
    was, is_now = flat(saved), flat(now)
    keys = sorted(set(was) | set(is_now))
    wrong = [f"{k} was {was.get(k)!r}, is {is_now.get(k)!r}" for k in keys if was.get(k) != is_now.get(k)]
    if wrong:
        raise SettingsError(f"--resume of another run: {'; '.join(wrong)}. Use the same, or train into another folder")


def read_into(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict | None:
    """Loads the latest checkpoint; gives the best weights it knew."""
    source = _latest(folder)
    best = source / "best.safetensors"
    try:
        load_weights(model, load_file(source / "model.safetensors"))
        _restore_moments(model, optimizer, load_file(source / "optimizer.safetensors"))
        return load_file(best) if best.is_file() else None
    except (OSError, SafetensorError) as error:
        raise _damaged(folder, error) from None


@torch.no_grad()
def load_weights(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(tensors[name])


def weights(model: nn.Module) -> dict[str, Tensor]:
    """A copy on the host."""
    return {name: p.detach().to("cpu", copy=True) for name, p in model.named_parameters()}


def progress_of(state: dict) -> Progress:
    return Progress(**state["progress"])


def state_of(progress: Progress, run: dict) -> dict:
    """run: what a resumed run must have in common with this one."""
    return {"schema": SCHEMA, "progress": asdict(progress), "run": run}


def _latest(folder: Path) -> Path:
    return folder / (folder / LATEST).read_text()


def _damaged(folder: Path, error: Exception) -> FolderError:
    return FolderError(f"{folder} is damaged ({error}): train again without --resume")


def _cpu(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}


def _moments(model: nn.Module, optimizer: torch.optim.Optimizer) -> dict[str, Tensor]:
    names = {id(p): name for name, p in model.named_parameters()}
    found: dict[str, Tensor] = {}
    for parameter, state in optimizer.state.items():
        for key, value in state.items():
            found[f"{key}:{names[id(parameter)]}"] = torch.as_tensor(value)
    return found


def _restore_moments(model: nn.Module, optimizer: torch.optim.Optimizer, tensors: dict[str, Tensor]) -> None:
    parameters = dict(model.named_parameters())
    for full_name, value in tensors.items():
        key, name = full_name.split(":", 1)
        own = parameters[name]
        optimizer.state[own][key] = value if key == "step" and own.device.type == "cpu" else value.to(own.device)


def flat(settings: dict, prefix: str = "") -> dict[str, Any]:
    """{"adapt": {"p": 0.2}} as {"adapt.p": 0.2}."""
    found: dict[str, Any] = {}
    for key, value in settings.items():
        found |= flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found
