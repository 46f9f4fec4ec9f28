"""THE LOOP. A Hugging Face encoder under a plan, on Rows: nothing padded, nothing kept on the model.

    embed; for each layer of the plan: attend (score), drop, feed forward; restore.

Tokens leave between the attention block and the feed-forward block of a layer, so layer i costs its attention at
l_{i-1} tokens and its feed-forward at l_i (Kim and Cho 2021).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from anyformer.backbones.base import Backbone, Batch
from anyformer.depth.ramps import Ramps
from anyformer.length.drop import NONE, Left, select
from anyformer.length.significance import attend
from anyformer.plan import Plan
from anyformer.rows import Rows

STEP = 16  # slots come in multiples of it on a CPU
PIECE = 512  # slots that a feed-forward block takes at a time on a CPU: a tenth faster, and a fraction of the memory


@dataclass(frozen=True)
class Reads:
    """What the head reads: first: column 0 of each row, which then never leaves; all: every token, restored."""

    first: bool
    all: bool


@dataclass(frozen=True)
class Trace:
    """Where the tokens went: the rows that came in, and those that left each layer; what the ramps that ran said,
    with the rows that they read."""

    start: Rows
    layers: tuple[Rows, ...]
    ramps: dict[int, tuple[Tensor, Rows]] = field(default_factory=dict)

    def kept(self) -> list[Tensor]:
        """A (batch,) tensor a layer: how many tokens left it."""
        return [torch.tensor(rows.lengths) for rows in self.layers]

    def kept_positions(self) -> list[Tensor]:
        """A (batch, width) tensor a layer: the columns of the tokens that left it, ascending, filled with -1."""
        found = []
        for rows in self.layers:
            columns = rows.split(rows.columns.cpu())
            filled = torch.full((len(columns), rows.width), -1)
            for b, own in enumerate(columns):
                filled[b, : len(own)] = own
            found.append(filled)
        return found


@dataclass(frozen=True)
class Extras:
    """What a call may bring beside its batch: protect: (batch, width) tokens that may not leave; ramps: the model's;
    probe: run every ramp on the way (training); recompute: gradient checkpointing; embedded: the tokens, where several
    passes share them."""

    protect: Tensor | None = None
    ramps: Ramps | None = None
    probe: bool = False
    recompute: bool = False
    embedded: tuple[Tensor, Rows] | None = None


@dataclass(frozen=True)
class State:
    """The tokens between two layers: x, (slots, hidden), in their layout; which may not leave; which have left."""

    x: Tensor
    rows: Rows
    protected: Tensor | None = None
    left: Left = NONE


def run(backbone: Backbone, batch: Batch, plan: Plan, reads: Reads, extras: Extras) -> tuple[Tensor, Trace]:
    """The base model's last hidden state under the plan, (batch, width, hidden), or (batch, 1, hidden) of the first
    tokens where the head reads no more."""
    state = begin(backbone, batch, reads, extras)
    start, layers, said = state.rows, [], {}
    counts = counts_of(plan, state, extras)
    call = _recomputed if extras.recompute else _direct
    attend_in, feed = partial(attention_block, backbone), partial(feed_forward, backbone)
    for i in range(plan.n_layers):
        if i in plan.running:
            drops = counts[i] != state.rows.lengths
            x, score = call(attend_in, i, state.x, state.rows, drops and plan.score != "ramp")
            if extras.probe and extras.ramps and i in extras.ramps.layers:
                said[i] = extras.ramps.at(i)(x, state.rows), state.rows
            if drops:
                score = ranking(i, x, state.rows, score, plan, extras.ramps)
            state = leave(state, x, score, counts[i], reads) if drops else replace(state, x=x)
            del x  # no one else holds it, so the next layer has its room
            state = replace(state, x=call(feed, i, state.x))
        layers.append(state.rows)
    return restore(backbone, state, start, reads), Trace(start, tuple(layers), said)


def begin(backbone: Backbone, batch: Batch, reads: Reads, extras: Extras) -> State:
    x, rows = extras.embedded or embed(backbone, batch, reads)
    return State(x, rows, _protected(rows, extras.protect, reads))


def embed(backbone: Backbone, batch: Batch, reads: Reads) -> tuple[Tensor, Rows]:
    return backbone.embed(batch, reads.first, grid_step(backbone))


def counts_of(plan: Plan, state: State, extras: Extras) -> list[tuple[int, ...]]:
    """For each layer, the tokens of each row that leave it; never fewer than the caller protects."""
    lengths = state.rows.lengths
    counts = {n: plan.counts(n) for n in set(lengths)}
    found = [tuple(counts[n][i] for n in lengths) for i in range(plan.n_layers)]
    if extras.protect is None or state.protected is None:
        return found
    floors = [int(own.sum()) for own in state.rows.split(state.protected.cpu())]
    return [tuple(map(max, wanted, floors)) for wanted in found]


def ranking(i: int, x: Tensor, rows: Rows, score: Tensor | None, plan: Plan, ramps: Ramps | None) -> Tensor:
    """What ranks the tokens at layer i: the attention they receive, or what a ramp says of them."""
    if ramps and plan.score != "attention":
        return ramps.rank(i, x, rows, score, plan.score)
    assert score is not None
    return score


def leave(state: State, x: Tensor, score: Tensor, wanted: Sequence[int], reads: Reads) -> State:
    """x: what the attention block made of state.x. The lowest tokens of each row leave, with their states before it."""
    keep = select(score, state.rows, wanted, state.protected)
    left = state.left.joined(state.x, state.rows, keep, sum(wanted)) if reads.all else state.left
    rows, pick = state.rows.take(keep, wanted)
    return State(x.index_select(0, pick), rows, None if state.protected is None else state.protected[pick], left)


def restore(backbone: Backbone, state: State, start: Rows, reads: Reads) -> Tensor:
    """The final sequence: each token with its last state, in the place where it stood."""
    if not reads.all:
        return backbone.finish(state.x[state.rows.firsts()])[:, None]
    whole, cells = state.left.restore(state.x, state.rows)
    whole = backbone.finish(whole)
    flat = whole.new_zeros((len(start.lengths) * start.width, whole.shape[-1]))
    return flat.index_copy(0, cells, whole).unflatten(0, (-1, start.width))


def attention_block(backbone: Backbone, i: int, x: Tensor, rows: Rows, scored: bool) -> tuple[Tensor, Tensor | None]:
    q, k, v = backbone.project(i, x, rows)
    context, score = attend(q, k, v, rows, backbone.attention(i, rows), scored)
    return backbone.attention_output(i, context, x), score


def feed_forward(backbone: Backbone, i: int, x: Tensor) -> Tensor:
    """Slot by slot the same, so a CPU takes some at a time: what is between the two products stays in its cache."""
    if x.device.type != "cpu" or torch.is_grad_enabled() or len(x) <= PIECE:
        return backbone.feed_forward(i, x)
    return torch.cat([backbone.feed_forward(i, piece) for piece in x.split(PIECE)])


def _protected(rows: Rows, protect: Tensor | None, reads: Reads) -> Tensor | None:
    flags = None if protect is None else rows.pack(protect.bool())
    if not reads.first:
        return flags
    flags = torch.zeros(rows.cells.shape, dtype=torch.bool, device=rows.cells.device) if flags is None else flags
    return flags.index_fill(0, rows.firsts(), True)


def _direct(block: Callable, *args: Any) -> Any:
    return block(*args)


def _recomputed(block: Callable, *args: Any) -> Any:
    """Gradient checkpointing, a block at a time: what is dropped is decided outside, so it is decided once."""
    return checkpoint(block, *args, use_reentrant=False)


def grid_step(backbone: Backbone) -> int:
    """A CPU prepares its kernels for each new number of rows; elsewhere any number is as good."""
    return STEP if next(backbone.base.parameters()).device.type == "cpu" else 1
