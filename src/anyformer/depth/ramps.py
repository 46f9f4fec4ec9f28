"""Ramps: small exit heads on a layer's attention block, where tokens and rows may leave.

A ramp of a pooled head reads the first token; a ramp of a token head reads every token, and then also ranks them
(`worth`): length reduction is early exit of tokens. A ramp costs less than 2% of its layer.
"""

from collections.abc import Iterable, Sequence
from typing import cast

import torch
from torch import Tensor, nn

from anyformer.errors import PlanError
from anyformer.rows import Rows

TOKEN_KINDS = ("span", "tag")
NARROWER = 8  # a token ramp's inner width is the model's over this: 1/96 of a layer's products


class Ramp(nn.Module):
    """norm -> dense -> activation -> classes."""

    def __init__(self, hidden: int, n_labels: int, per_token: bool, dropout: float) -> None:
        super().__init__()
        self.per_token = per_token
        inner = max(hidden // NARROWER, n_labels) if per_token else hidden
        self.norm = nn.LayerNorm(hidden)
        self.dense = nn.Linear(hidden, inner)
        self.activation = nn.GELU() if per_token else nn.Tanh()
        self.dropout = nn.Dropout(dropout)
        self.out = nn.Linear(inner, n_labels)

    def forward(self, x: Tensor, rows: Rows) -> Tensor:
        """(slots, labels), or (rows, labels) from the first tokens."""
        x = x if self.per_token else x.index_select(0, rows.firsts())
        return self.out(self.dropout(self.activation(self.dense(self.norm(x)))))

    def macs(self, n_tokens: int) -> int:
        return (self.dense.weight.numel() + self.out.weight.numel()) * (n_tokens if self.per_token else 1)


class Ramps(nn.Module):
    """The ramps of a model, by layer. kind: what its head says (class, measure, tag, span)."""

    def __init__(self, layers: Iterable[int], hidden: int, n_labels: int, kind: str, dropout: float = 0.1) -> None:
        super().__init__()
        self.kind = kind
        per_token = kind in TOKEN_KINDS
        self.by_layer = nn.ModuleDict({str(i): Ramp(hidden, n_labels, per_token, dropout) for i in sorted(set(layers))})

    @property
    def layers(self) -> tuple[int, ...]:
        return tuple(int(i) for i in self.by_layer)

    def at(self, layer: int) -> Ramp:
        if str(layer) not in self.by_layer:
            known = ", ".join(self.by_layer)
            raise PlanError(f"the plan needs a ramp at layer {layer}; this model has ramps at layers {known}")
        return cast(Ramp, self.by_layer[str(layer)])

    @torch.no_grad()
    def rank(self, layer: int, x: Tensor, rows: Rows, attention: Tensor | None, score: str) -> Tensor:
        """What ranks the tokens at a dropping layer: the ramp, or its ranks and those of attention together."""
        if self.kind not in TOKEN_KINDS:
            raise PlanError(f"score {score!r}: the ramps of a pooled head rank no tokens; use score='attention'")
        value = worth(self.at(layer)(x, rows), rows, self.kind)
        return value if score == "ramp" or attention is None else ranks(value, rows) + ranks(attention, rows)


def worth(logits: Tensor, rows: Rows, kind: str) -> Tensor:
    """span: the chance, in logs, that the answer starts or ends at a token; tag: how unsure the ramp is of its tag."""
    if kind == "tag":
        return -logits.float().log_softmax(-1).amax(-1)
    square = rows.square()
    table = square.spread(logits.float(), fill=-torch.inf).log_softmax(1).amax(-1)
    return square.gather(table, logits.shape[0])


def ranks(value: Tensor, rows: Rows) -> Tensor:
    """0 for the lowest value of a row, 1 for the next, …"""
    square = rows.square()
    table = square.spread(value.float(), fill=torch.inf)
    return square.gather(table.argsort(dim=1, stable=True).argsort(dim=1).float(), value.shape[0])


def default_layers(n_layers: int) -> Sequence[int]:
    """Every layer but the last."""
    return range(n_layers - 1)
