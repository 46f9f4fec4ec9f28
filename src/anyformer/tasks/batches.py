"""Batches of rows of about equal length, by a budget of tokens; and their tensors.

The budget counts a batch as its longest row times its rows: what a padded batch takes, and with rows of about
equal length nearly what an unpadded one does.
"""

from collections.abc import Iterator, Mapping, Sequence
from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np

from anyformer.errors import InputError
from anyformer.tasks.base import Feature

if TYPE_CHECKING:
    from torch import Tensor

IGNORED = -100  # a token that no loss counts


def make_batches(
    lengths: Sequence[int],
    max_tokens: int,
    shuffle_seed: int | None = None,
    bucket: int = 1024,
    max_rows: int | None = None,
) -> list[list[int]]:
    """Every index once. A row longer than the budget is a batch of its own.

    Without a seed: the longest first, so that a batch that is too large fails at once. With one: rows are shuffled,
    sorted within buckets of `bucket` rows only, and the batches come in random order.
    """
    if max_tokens < 1 or bucket < 1 or (max_rows is not None and max_rows < 1):
        raise InputError(f"max_tokens {max_tokens}, bucket {bucket} and max_rows {max_rows} must be at least 1")
    if shuffle_seed is None:
        return list(_fill(_longest_first(range(len(lengths)), lengths), lengths, max_tokens, max_rows))
    random, order = Random(shuffle_seed), list(range(len(lengths)))
    random.shuffle(order)
    buckets = [order[start : start + bucket] for start in range(0, len(order), bucket)]
    batches = [b for some in buckets for b in _fill(_longest_first(some, lengths), lengths, max_tokens, max_rows)]
    random.shuffle(batches)
    return batches


def _longest_first(indices: Sequence[int], lengths: Sequence[int]) -> list[int]:
    return sorted(indices, key=lambda i: -lengths[i])


def _fill(order: Sequence[int], lengths: Sequence[int], max_tokens: int, max_rows: int | None) -> Iterator[list[int]]:
    batch: list[int] = []
    for i in order:
        longest = lengths[batch[0]] if batch else lengths[i]
        if batch and (longest * (len(batch) + 1) > max_tokens or len(batch) == max_rows):
            yield batch
            batch = []
        batch.append(i)
    if batch:
        yield batch


def collate(features: Sequence[Feature], pad_id: int, side: str = "right") -> "dict[str, Tensor]":
    """Tensors of (rows, longest row), an attention_mask, and labels where the features have them."""
    import torch

    if side not in ("right", "left"):
        raise InputError(f"side {side!r} is not known; choose right or left")
    width = max(feature.n_tokens for feature in features)
    fill = {"input_ids": pad_id}
    batch = {
        key: _padded([f.inputs[key] for f in features], width, fill.get(key, 0), side) for key in features[0].inputs
    }
    batch["attention_mask"] = _padded([np.ones(f.n_tokens, dtype=np.int64) for f in features], width, 0, side)
    if features[0].labels is not None:
        batch |= _labels([feature.labels for feature in features], width, side)
    return {key: torch.from_numpy(values) for key, values in batch.items()}


def _padded(rows: Sequence[Any], width: int, fill: int, side: str) -> np.ndarray:
    table = np.full((len(rows), width), fill, dtype=np.int64)
    for own, row in zip(table, rows, strict=True):
        if len(row):
            own[slice(len(row)) if side == "right" else slice(-len(row), None)] = row
    return table


def _labels(labels: Sequence[Any], width: int, side: str) -> dict[str, np.ndarray]:
    """A number a row, a number a token, or named numbers (start_positions and end_positions)."""
    first = labels[0]
    if isinstance(first, Mapping):
        if side != "right":
            raise InputError("named positions count from the left: they need side='right'")
        return {key: np.array([one[key] for one in labels], dtype=np.int64) for key in first}
    if isinstance(first, float):
        return {"labels": np.array(labels, dtype=np.float32)}
    if isinstance(first, int):
        return {"labels": np.array(labels, dtype=np.int64)}
    return {"labels": _padded(labels, width, IGNORED, side)}
