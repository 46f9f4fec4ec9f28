"""Predictions over any number of records, a chunk at a time; evaluation runs the same code over features made once.

`forward` is any call of the model: `lambda batch: model(**batch, plan=plan)`. What it says of a row's cost and exit
(`macs`, `exit_layer`) is handed on, added up over the windows of an example.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from anyformer.data.records import Record
from anyformer.errors import DataError
from anyformer.tasks.base import Feature, Notes, Prediction, Task
from anyformer.tasks.batches import make_batches

CHUNK = 512
MAX_TOKENS = 8192

Forward = Callable[[dict[str, Any]], Any]


@dataclass(frozen=True)
class Prepared:
    """Records with their features and batches: made once, run under as many plans as wanted."""

    records: Sequence[Record]
    features: Sequence[Feature]
    batches: Sequence[Sequence[int]]


@dataclass(frozen=True)
class Predicted:
    """One record's prediction; `macs` of all its rows, the deepest `exit_layer`, the tokens of each row."""

    record: Record
    prediction: Prediction
    n_tokens: tuple[int, ...]
    macs: int | None = None
    exit_layer: int | None = None


def prepare(
    task: Task, records: Sequence[Record], max_tokens: int = MAX_TOKENS, notes: Notes | None = None
) -> Prepared:
    features = task.features(records, notes)
    return Prepared(records, features, make_batches([f.n_tokens for f in features], max_tokens))


def run_prepared(task: Task, forward: Forward, prepared: Prepared) -> list[Predicted]:
    """In the order of the records."""
    import torch

    raw: list[Any] = [None] * len(prepared.features)
    costs: list[tuple[int | None, int | None]] = [(None, None)] * len(prepared.features)
    for indices in prepared.batches:
        features = [prepared.features[i] for i in indices]
        with torch.inference_mode():
            output = forward(task.collate(features))
        for i, result, cost in zip(indices, task.decode(output, features), _costs(output, len(indices)), strict=True):
            raw[i], costs[i] = result, cost
    predictions = task.finish(raw, prepared.features, prepared.records)
    return _joined(prepared, predictions, costs)


def predict(
    task: Task,
    forward: Forward,
    records: Iterable[Record],
    chunk: int = CHUNK,
    max_tokens: int = MAX_TOKENS,
    notes: Notes | None = None,
) -> Iterator[Predicted]:
    """Streams: no more than `chunk` records are held, and their predictions come in their order."""
    source, done = iter(records), 0
    while some := list(islice(source, chunk)):
        try:
            prepared = prepare(task, some, max_tokens, notes)
        except DataError as error:
            raise DataError(f"{error} (counted from record {done + 1})" if done else str(error)) from error
        yield from run_prepared(task, forward, prepared)
        done += len(some)


def evaluate(task: Task, forward: Forward, prepared: Prepared) -> dict[str, float]:
    """The task's scores of labelled records."""
    found = run_prepared(task, forward, prepared)
    return task.score([one.prediction for one in found], prepared.records)


def _costs(output: Any, n_rows: int) -> list[tuple[int | None, int | None]]:
    macs, layers = getattr(output, "macs", None), getattr(output, "exit_layer", None)
    return [(None if macs is None else int(macs[i]), None if layers is None else int(layers[i])) for i in range(n_rows)]


def _joined(
    prepared: Prepared, predictions: Sequence[Prediction], costs: Sequence[tuple[int | None, int | None]]
) -> list[Predicted]:
    rows: list[list[int]] = [[] for _ in prepared.records]
    for i, feature in enumerate(prepared.features):
        rows[feature.example].append(i)
    return [
        Predicted(
            record,
            prediction,
            tuple(prepared.features[i].n_tokens for i in own),
            _over(sum, [costs[i][0] for i in own]),
            _over(max, [costs[i][1] for i in own]),
        )
        for record, prediction, own in zip(prepared.records, predictions, rows, strict=True)
    ]


def _over(join: Callable[[list[int]], int], values: Sequence[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return join(known) if known else None
