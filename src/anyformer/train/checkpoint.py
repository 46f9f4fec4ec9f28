"""The state of a training between two steps, on disk: weights, optimizer, the best weights so far, where it stands.

A checkpoint is a folder of safetensors and one JSON file; `latest` names it and is renamed into place last, so that a
run killed at any moment continues from a whole one.
"""

import json
import os
import shutil
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from anyformer.errors import FolderError
from anyformer.train.config import SettingsError

LATEST = "latest"


@dataclass
class Progress:
    """Where a training stands; scores are kept for the model card."""

    stage: str
    step: int = 0
    best: float | None = None
    history: list[dict[str, Any]] = field(default_factory=list)
    seconds: float = 0.0


def write(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer, best: dict | None, state: dict) -> None:
    """state: the progress and the settings, JSON-able."""
    name = f"{state['progress']['stage']}-{state['progress']['step']:08d}"
    fresh = folder / f".{name}"
    shutil.rmtree(fresh, ignore_errors=True)
    fresh.mkdir(parents=True)
    save_file(_cpu(dict(model.named_parameters())), fresh / "model.safetensors")
    save_file(_cpu(_moments(model, optimizer)), fresh / "optimizer.safetensors")
    if best is not None:
        save_file(_cpu(best), fresh / "best.safetensors")
    (fresh / "state.json").write_text(json.dumps(state))
    shutil.rmtree(folder / name, ignore_errors=True)
    os.replace(fresh, folder / name)
    beside = folder / f".{LATEST}"
    beside.write_text(name)
    os.replace(beside, folder / LATEST)
    for old in folder.iterdir():
        if old.is_dir() and old.name != name:
            shutil.rmtree(old, ignore_errors=True)


def read_state(folder: Path) -> dict | None:
    """What the latest checkpoint says of itself; None where there is none."""
    try:
        return json.loads((_latest(folder) / "state.json").read_text())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise FolderError(f"{folder} is damaged ({error}): train again without --resume") from None


def check_settings(saved: dict, now: dict) -> None:
    """A run is continued under the settings it began with; the difference is listed otherwise."""
    flat_saved, flat_now = _flat(saved), _flat(now)
    keys = sorted(set(flat_saved) | set(flat_now))
    wrong = [
        f"{k} was {flat_saved.get(k)!r}, is {flat_now.get(k)!r}" for k in keys if flat_saved.get(k) != flat_now.get(k)
    ]
    if wrong:
        raise SettingsError(
            f"--resume with other settings: {'; '.join(wrong)}. Use the same, or train into another folder"
        )


def read_into(folder: Path, model: nn.Module, optimizer: torch.optim.Optimizer) -> dict | None:
    """Loads the latest checkpoint; gives the best weights it knew."""
    source = _latest(folder)
    load_weights(model, load_file(source / "model.safetensors"))
    _restore_moments(model, optimizer, load_file(source / "optimizer.safetensors"))
    best = source / "best.safetensors"
    return load_file(best) if best.is_file() else None


@torch.no_grad()
def load_weights(model: nn.Module, tensors: dict[str, Tensor]) -> None:
    for name, parameter in model.named_parameters():
        parameter.copy_(tensors[name])


def weights(model: nn.Module) -> dict[str, Tensor]:
    """A copy on the host."""
    return {name: p.detach().to("cpu", copy=True) for name, p in model.named_parameters()}


def progress_of(state: dict) -> Progress:
    return Progress(**state["progress"])


def state_of(progress: Progress, settings: dict) -> dict:
    return {"progress": asdict(progress), "settings": settings}


def _latest(folder: Path) -> Path:
    return folder / (folder / LATEST).read_text()


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


def _flat(settings: dict, prefix: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in settings.items():
        found |= _flat(value, f"{prefix}{key}.") if isinstance(value, dict) else {f"{prefix}{key}": value}
    return found
