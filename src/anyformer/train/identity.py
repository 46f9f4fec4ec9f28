"""What a run is: its settings, its data, its model and its processes. A resumed run must be the same in all of them.

Data and weights are told by digests; images by where they lie.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch

from anyformer.data.records import Records
from anyformer.data.splits import Splits
from anyformer.model import AdaptiveModel

SHOWN = 12  # characters of a digest


def identity(settings: dict[str, Any], splits: Splits, model: str, processes: int) -> dict[str, Any]:
    """JSON-able, with the names that a difference is told by; `model` is what `model_digest` gave."""
    parts = {"train": records_digest(splits.train), "validation": records_digest(splits.validation)}
    data = {"task": splits.task, "labels": list(splits.label_names), **parts}
    return settings | {"data": data, "model": model, "processes": processes}


def records_digest(records: Records) -> str:
    digest = hashlib.sha256()
    for record in records:
        digest.update(json.dumps(record, sort_keys=True, default=_plain).encode())
    return f"{len(records)} records {digest.hexdigest()[:SHOWN]}"


def model_digest(model: AdaptiveModel, weights: bool) -> str:
    """Without weights: of names and shapes. A model in memory changes while it learns, and a checkpoint holds all that
    a resumed run takes of it."""
    digest = hashlib.sha256()
    for name, parameter in model.named_parameters():
        digest.update(f"{name} {tuple(parameter.shape)}".encode())
        if weights:
            digest.update(parameter.detach().cpu().reshape(-1).view(torch.uint8).numpy().data)
    return f"{type(model.hf).__name__} {digest.hexdigest()[:SHOWN]}"


def _plain(value: Any) -> str:
    """Of a path, or of an image in memory."""
    if isinstance(value, Path):
        return str(value)
    array = np.frombuffer(value, np.uint8) if isinstance(value, bytes) else np.asarray(value)
    return str(value) if array.dtype == object else hashlib.sha256(array.tobytes()).hexdigest()
