"""A model under several plans against its stock self, on the same texts in the same random batches, taking turns.

What is timed is the model's call on tensors that are ready; tokenising, the same for all sides, is not. The stock side
runs the wrapped model as `transformers` does: padded to the longest of each batch, float32, `sdpa`.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

import numpy as np
import torch

from anyformer.data.records import Record
from anyformer.engine.packed import packed
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.tasks.base import Task

STOCK = "stock"
Call = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Side:
    """seconds: of each batch; tallies: (texts, k), what each text adds to the score."""

    seconds: tuple[float, ...]
    tallies: np.ndarray

    @property
    def total_s(self) -> float:
        return sum(self.seconds)


@dataclass(frozen=True)
class Sides:
    """lengths: tokens of each text, in the order of the records."""

    sides: dict[str, Side]
    lengths: tuple[int, ...]

    def times(self, name: str, other: str) -> float:
        """How many times as long `name` took as `other`."""
        return self.sides[name].total_s / self.sides[other].total_s


@torch.inference_mode()
def compare(
    model: AdaptiveModel,
    task: Task,
    records: Sequence[Record],
    plans: Mapping[str, Plan],
    batch_rows: int = 8,
    advance: Callable[[int], None] = lambda n: None,
) -> Sides:
    """STOCK and every plan; each batch begins with another side."""
    quick = packed(model.eval())
    calls: dict[str, Call] = {STOCK: lambda batch: model.hf(**batch)}
    calls |= {name: _under(quick, plan) for name, plan in plans.items()}
    features = task.features(records)
    order = list(range(len(features)))
    Random(0).shuffle(order)
    seconds: dict[str, list[float]] = {name: [] for name in calls}
    raw: dict[str, list[Any]] = {name: [None] * len(features) for name in calls}
    names = list(calls)
    for b, at in enumerate(range(0, len(order), batch_rows)):
        own = order[at : at + batch_rows]
        batch = {k: v.to(model.device) for k, v in task.collate([features[i] for i in own]).items()}
        for name in names if b else [*names, *names]:  # the first batch twice: once to warm up
            started = time.perf_counter()
            out = calls[name](batch)
            if model.device.type == "cuda":
                torch.cuda.synchronize()
            seconds[name].append(time.perf_counter() - started)
            for i, result in zip(own, task.decode(out, [features[i] for i in own]), strict=True):
                raw[name][i] = result
        if b == 0:
            seconds = {name: taken[1:] for name, taken in seconds.items()}
        names = [*names[1:], names[0]]
        advance(len(own))
    sides = {
        name: Side(tuple(seconds[name]), task.tallies(task.finish(raw[name], features, records), records))
        for name in calls
    }
    return Sides(sides, tuple(feature.n_tokens for feature in features))


def _under(model: AdaptiveModel, plan: Plan) -> Call:
    return lambda batch: model.call(batch, plan)[0]
