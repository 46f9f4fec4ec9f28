"""The stock model on padded batches against the same model unpadded: time, tokens, MACs, and the same embeddings.

Both get the same padded tensors of a batch, take turns in alternating order, and end in the mean of a text's token
states; what is timed is all of that. MACs are the closed form of cost/macs.py: of the width a batch is padded to, and
of each text's own tokens.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.tasks import Feature, collate

Encode = Callable[..., Any]
WARM_UP = 2  # batches that are run before any is timed


@dataclass(frozen=True)
class Side:
    """seconds: of each batch; n_tokens: that were computed, padding included; embeddings: (texts, hidden)."""

    seconds: tuple[float, ...]
    n_tokens: int
    macs: int
    embeddings: np.ndarray

    @property
    def total_s(self) -> float:
        return sum(self.seconds)


@dataclass(frozen=True)
class Comparison:
    """lengths: tokens of each text, batch by batch, in the order in which they were run."""

    lengths: tuple[tuple[int, ...], ...]
    stock: Side
    unpadded: Side

    @property
    def n_texts(self) -> int:
        return sum(len(batch) for batch in self.lengths)

    @property
    def padding(self) -> float:
        """The share of the stock model's tokens that is padding."""
        return 1 - self.unpadded.n_tokens / self.stock.n_tokens

    @property
    def median_gain(self) -> float:
        """Half of the batches were this many times faster, or more; what else the machine does touches it less."""
        return median(a / b for a, b in zip(self.stock.seconds, self.unpadded.seconds, strict=True))

    @property
    def largest_difference(self) -> float:
        return float(np.abs(self.stock.embeddings - self.unpadded.embeddings).max())

    @property
    def same_neighbour(self) -> int:
        """Texts whose nearest other text, by cosine, is the same one on both sides."""
        return int((nearest(self.stock.embeddings) == nearest(self.unpadded.embeddings)).sum())


def random_batches(features: Sequence[Feature], size: int, seed: int) -> list[list[Feature]]:
    """As texts come in: in no order of length."""
    order = list(features)
    Random(seed).shuffle(order)
    return [order[i : i + size] for i in range(0, len(order), size)]


def compare(model: AdaptiveModel, batches: Iterable[Sequence[Feature]], pad_id: int) -> Comparison:
    """`batches` may end early: what was run is what is reported. `model` is a bare encoder."""
    stock, unpadded = Timed(model.hf), Timed(model)
    lengths = []
    for b, features in enumerate(batches):
        batch = collate(features, pad_id)
        if b == 0:
            warm_up(batch, stock, unpadded)
        for side in (stock, unpadded) if b % 2 == 0 else (unpadded, stock):
            side.run(batch)
        lengths.append(tuple(feature.n_tokens for feature in features))
    own = [n for batch in lengths for n in batch]
    padded = [max(batch) for batch in lengths for _ in batch]
    return Comparison(tuple(lengths), stock.side(padded, macs(model, padded)), unpadded.side(own, macs(model, own)))


def warm_up(batch: dict[str, Tensor], *sides: "Timed") -> None:
    for _ in range(WARM_UP):
        for side in sides:
            side.embed(batch)


class Timed:
    """One side at work."""

    def __init__(self, encode: Encode) -> None:
        self.encode = encode
        self.seconds: list[float] = []
        self.embeddings: list[Tensor] = []

    @torch.inference_mode()
    def embed(self, batch: dict[str, Tensor]) -> Tensor:
        return mean_of_tokens(self.encode(**batch).last_hidden_state, batch["attention_mask"])

    def run(self, batch: dict[str, Tensor]) -> None:
        started = time.perf_counter()
        found = self.embed(batch)
        self.seconds.append(time.perf_counter() - started)
        self.embeddings.append(found)

    def side(self, n_tokens: Sequence[int], macs: int) -> Side:
        return Side(tuple(self.seconds), sum(n_tokens), macs, torch.cat(self.embeddings).float().numpy())


def mean_of_tokens(states: Tensor, mask: Tensor) -> Tensor:
    """(batch, hidden): the sentence embedding of MiniLM and its like."""
    seen = mask[:, :, None].to(states.dtype)
    return (states * seen).sum(1) / seen.sum(1)


def macs(model: AdaptiveModel, lengths: Iterable[int]) -> int:
    full = Plan.full(model.n_layers)
    return sum(model.shape.plan(full, n) for n in lengths)


def nearest(embeddings: np.ndarray) -> np.ndarray:
    unit = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    near = unit @ unit.T
    np.fill_diagonal(near, -np.inf)
    return near.argmax(axis=1)
