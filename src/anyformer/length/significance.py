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
LEARNING_CELLS = 1 << 21  # probabilities that attention with gradients holds at a time
SHORT = 48  # tokens up to which a CPU runs rows of any length together
ALIKE = 0.75  # rows that share a masked square are at least this long, as a share of the longest


@dataclass(frozen=True)
class Attention:
    """What a family says of layer i's attention beside q, k and v."""

    scale: float
    dropout: float = 0.0
    bias: Bias | None = None
    eager: bool = False


def attend(q: Tensor, k: Tensor, v: Tensor, rows: Rows, how: Attention, scored: bool) -> Scored:
    """q, k, v: (slots, heads, size). Gives the context, (slots, heads · size), and, if asked, the significance."""
    groups = _groups(rows, q)
    contexts, scores = [], []
    sizes = [group.total for group in groups]
    for group, *qkv in zip(groups, *(t[: rows.total].split(sizes) for t in (q, k, v)), strict=True):
        context, score = _in_a_square(tuple(qkv), group, how, scored)
        contexts.append(context)
        if score is not None:
            scores.append(score)
    return rows.join(contexts).flatten(1), rows.join(scores) if scores else None


def _groups(rows: Rows, q: Tensor) -> list[Rows]:
    """A GPU runs all rows in one square under a mask. A CPU runs rows of one length together, so that none pays for a
    longer one, and short ones, which cost more to call than to compute; where gradients are wanted, rows of about one
    length, as many as the cache holds the attention of."""
    if q.device.type != "cpu":
        return [rows]
    if torch.is_grad_enabled() and q.requires_grad:
        return rows.groups(ALIKE, 0, LEARNING_CELLS // q.shape[1])
    return rows.groups(1.0, SHORT, 1 << 40)


def _in_a_square(qkv: Triple, rows: Rows, how: Attention, scored: bool) -> Scored:
    """Rows side by side, the shorter ones under a mask."""
    square, slots = rows.square(), qkv[0].shape[0]
    whole = square.filled.numel() == slots
    seen = None if whole else square.filled
    if rows.guests is not None:
        seen = square.filled & ~square.spread(rows.guests.to(torch.uint8)).bool()
    if not whole:
        q, k, v = (square.spread(t) for t in qkv)
        context, score = _rectangle((q, k, v), square.spread(rows.columns), seen, how, scored)
        return square.gather(context, slots), None if score is None else square.gather(score, slots)
    shape = square.filled.shape
    q, k, v = (t.unflatten(0, shape) for t in qkv)
    context, score = _rectangle((q, k, v), rows.columns[:slots].unflatten(0, shape), seen, how, scored)
    return context.flatten(0, 1), None if score is None else score.flatten(0, 1)


def _rectangle(qkv: Triple, columns: Tensor, seen: Tensor | None, how: Attention, scored: bool) -> Scored:
    """qkv: (batch, n, heads, size) each; seen: (batch, n), the keys that count, or None for all."""
    q, k, v = (t.transpose(1, 2) for t in qkv)
    added = how.bias(q, k, columns) if how.bias else None
    if seen is not None:
        hidden = torch.zeros(seen.shape, dtype=q.dtype, device=q.device).masked_fill(~seen, torch.finfo(q.dtype).min)
        added = hidden[:, None, None] if added is None else added + hidden[:, None, None]
    learning = torch.is_grad_enabled() and q.requires_grad
    if how.eager or (learning and q.device.type == "cpu" and q.dtype != torch.float32):
        context, score = _eager((q, k, v), added, seen, how)
    elif scored and not learning:
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
    return F.dropout(probabilities, how.dropout) @ v, votes.sum((1, 2), dtype=torch.float32)


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
