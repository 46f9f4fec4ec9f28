"""Attention over rows, and what each token is worth.

Significance of token k (Goyal et al. 2020; Kim and Cho 2021): the attention it receives,
    s_k = Σ_heads Σ_queries softmax(q · kᵀ · scale + bias)[head, query, k].
Only the row's own tokens vote: padding is not there, guests look without a vote.

# differs from Kim and Cho 2021: the score is taken before attention dropout, so it has no noise in training.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from anyformer.rows import Rows

Bias = Callable[[Tensor, Tensor, Tensor], Tensor]  # (q, k, columns of a square) -> what is added to q · kᵀ · scale
Triple = tuple[Tensor, Tensor, Tensor]
Scored = tuple[Tensor, Tensor | None]
CACHE_BYTES = 1 << 20  # heads are scored in blocks that stay in a core's second-level cache


@dataclass(frozen=True)
class Attention:
    """What a family says of layer i's attention beside q, k and v."""

    scale: float
    dropout: float = 0.0
    bias: Bias | None = None
    eager: bool = False


def attend(q: Tensor, k: Tensor, v: Tensor, rows: Rows, how: Attention, scored: bool) -> Scored:
    """q, k, v: (slots, heads, size). Gives the context, (slots, heads · size), and, if asked, the significance."""
    by_row = q.device.type == "cpu" and len(rows.lengths) > 1
    context, score = (_row_by_row if by_row else _in_a_square)((q, k, v), rows, how, scored)
    return context.flatten(1), score


def _row_by_row(qkv: Triple, rows: Rows, how: Attention, scored: bool) -> Scored:
    """A CPU runs one row after another, so that no row pays for a longer one."""
    contexts, scores = [], []
    columns = rows.split(rows.columns)
    guests = rows.split(rows.guests) if rows.guests is not None else (None,) * len(columns)
    for q, k, v, column, guest in zip(*(rows.split(t) for t in qkv), columns, guests, strict=True):
        seen = None if guest is None else ~guest[None]
        context, score = _rectangle((q[None], k[None], v[None]), column[None], seen, how, scored)
        contexts.append(context[0])
        if score is not None:
            scores.append(score[0])
    return rows.join(contexts), rows.join(scores) if scores else None


def _in_a_square(qkv: Triple, rows: Rows, how: Attention, scored: bool) -> Scored:
    """A GPU runs all rows in one square under a mask."""
    square = rows.square()
    whole = square.filled.numel() == rows.total
    seen = None if whole else square.filled
    if rows.guests is not None:
        seen = square.filled & ~square.spread(rows.guests.to(torch.uint8)).bool()
    q, k, v = (square.spread(t) for t in qkv)
    context, score = _rectangle((q, k, v), square.spread(rows.columns), seen, how, scored)
    slots = qkv[0].shape[0]
    return square.gather(context, slots), None if score is None else square.gather(score, slots)


def _rectangle(qkv: Triple, columns: Tensor, seen: Tensor | None, how: Attention, scored: bool) -> Scored:
    """qkv: (batch, n, heads, size) each; seen: (batch, n), the keys that count, or None for all."""
    q, k, v = (t.transpose(1, 2) for t in qkv)
    added = how.bias(q, k, columns) if how.bias else None
    if seen is not None:
        hidden = torch.zeros(seen.shape, dtype=q.dtype, device=q.device).masked_fill(~seen, torch.finfo(q.dtype).min)
        added = hidden[:, None, None] if added is None else added + hidden[:, None, None]
    if how.eager:
        context, score = _eager((q, k, v), added, seen, how)
    elif scored and not torch.is_grad_enabled():
        context, score = _score((q, k, v), added, seen, how, with_context=True)
    else:
        context = F.scaled_dot_product_attention(q, k, v, added, how.dropout, scale=how.scale)
        score = _score((q, k, v), added, seen, how, with_context=False)[1] if scored else None
    return context.transpose(1, 2), score


def _eager(qkv: Triple, added: Tensor | None, seen: Tensor | None, how: Attention) -> Scored:
    q, k, v = qkv
    logits = q @ k.transpose(-1, -2) * how.scale
    probabilities = (logits if added is None else logits + added).softmax(-1)
    votes = probabilities.detach() if seen is None else probabilities.detach() * seen[:, None, :, None]
    return F.dropout(probabilities, how.dropout) @ v, votes.float().sum((1, 2))


@torch.no_grad()
def _score(qkv: Triple, added: Tensor | None, seen: Tensor | None, how: Attention, with_context: bool) -> Scored:
    """Column sums of the probabilities, a few heads at a time, and the context from the same probabilities."""
    q, k, v = qkv
    batch, heads, n, _ = q.shape
    block = heads if q.is_cuda else max(1, min(heads, CACHE_BYTES // (4 * batch * n * n)))
    score = torch.zeros((batch, n), dtype=torch.float32, device=q.device)
    contexts = []
    for h in range(0, heads, block):
        part = slice(h, h + block)
        logits = q[:, part] @ k[:, part].transpose(-1, -2) * how.scale
        if added is not None:
            logits = logits + (added[:, part] if added.shape[1] > 1 else added)
        probabilities = logits.softmax(-1, dtype=torch.float32)
        if with_context:
            contexts.append(probabilities.to(v.dtype) @ v[:, part])
        score += (probabilities if seen is None else probabilities * seen[:, None, :, None]).sum((1, 2))
    return torch.cat(contexts, 1) if with_context else v, score
