"""What plans score on labelled examples: the examples made into batches once, then a generation of plans at a time.

A `Jury` gives tallies, (examples, k) a plan: what each example adds to the score, so that scores of parts, intervals
and bounds come out of one pass (`Task.tallies`, `Task.score_of`).
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import numpy as np
import torch

from anyformer.data.records import Record
from anyformer.engine.packed import packed
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.search.tree import run_plans
from anyformer.tasks.base import Notes, Task
from anyformer.tasks.predicting import prepare

BATCH_TOKENS = 4096  # a state a layer is held for each batch; more is hardly faster


class Jury:
    """Judges plans on the same examples again and again."""

    def __init__(
        self, model: AdaptiveModel, task: Task, records: Sequence[Record], precision: str, notes: Notes | None = None
    ) -> None:
        self.model, self.task = packed(model.eval()), task
        self.prepared = prepare(task, records, BATCH_TOKENS, notes)
        self.autocast = autocast(precision, model.device)

    @property
    def lengths(self) -> list[int]:
        return [feature.n_tokens for feature in self.prepared.features]

    def tallies(self, plans: Sequence[Plan]) -> list[np.ndarray]:
        """(examples, k) a plan."""
        raw: list[list[Any]] = [[None] * len(self.prepared.features) for _ in plans]
        for indices in self.prepared.batches:
            features = [self.prepared.features[i] for i in indices]

            def take(numbers: Sequence[int], out: Any, indices: Sequence[int] = indices, own: list = features) -> None:
                for i, result in zip(indices, self.task.decode(out, own), strict=True):
                    for p in numbers:
                        raw[p][i] = result

            batch = {name: tensor.to(self.model.device) for name, tensor in self.task.collate(features).items()}
            with self.autocast():
                run_plans(self.model, batch, plans, take)
        return [self._tallied(results) for results in raw]

    def _tallied(self, raw: list[Any]) -> np.ndarray:
        prepared = self.prepared
        predictions = self.task.finish(raw, prepared.features, prepared.records)
        return self.task.tallies(predictions, prepared.records)


def autocast(precision: str, device: torch.device) -> Callable[[], AbstractContextManager]:
    """auto: bf16 where it is several times as fast as fp32, which is with AMX and on a GPU."""
    quick = torch.cpu._is_amx_tile_supported() if device.type == "cpu" else device.type == "cuda"
    if precision == "fp32" or (precision == "auto" and not quick):
        return nullcontext
    return partial(torch.autocast, device.type, torch.bfloat16)
