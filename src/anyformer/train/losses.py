"""Losses of the full model and of its students, one reduction for all: a sum over units, to be divided by their number.

A unit is a row (class, measure, span) or a labelled token (tag). With z_t, z_s the teacher's and the student's logits,
P = softmax(z / T):
    forward   KL(P_t ‖ P_s)         the student covers all that the teacher holds possible
    reverse   KL(P_s ‖ P_t)         the direction of the code of Kim and Cho 2021
    measures  (z_s - z_t)²          a softmax over one logit has nothing to say
The span of an answer is two distributions over the row's own tokens, averaged; padding is in neither.
"""

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

from anyformer.errors import InputError
from anyformer.tasks.batches import IGNORED

NOWHERE = -1e4  # a logit that no softmax sees, small enough for every precision
LABELS = ("labels", "start_positions", "end_positions")


def n_units(kind: str, batch: dict[str, Tensor]) -> int:
    """How many units a batch's losses are sums over."""
    if kind == "tag":
        return int((batch["labels"] != IGNORED).sum())
    return len(batch["start_positions"] if kind == "span" else batch["labels"])


def distributions(kind: str, out: Any, batch: dict[str, Tensor]) -> list[Tensor]:
    """The logits that losses compare, in float32: (units, classes) each."""
    if kind == "span":
        mask = batch["attention_mask"].bool()
        return [logits.float().masked_fill(~mask, NOWHERE) for logits in (out.start_logits, out.end_logits)]
    logits = out.logits.float()
    return [logits[batch["labels"] != IGNORED] if kind == "tag" else logits]


def targets(kind: str, batch: dict[str, Tensor]) -> list[Tensor]:
    if kind == "span":
        return [batch["start_positions"], batch["end_positions"]]
    return [batch["labels"][batch["labels"] != IGNORED] if kind == "tag" else batch["labels"]]


def label_loss(kind: str, logits: list[Tensor], wanted: list[Tensor]) -> Tensor:
    """Cross entropy, or squared error of measures, summed over units."""
    if kind == "measure":
        return (logits[0].squeeze(-1) - wanted[0].float()).square().sum()
    losses = [F.cross_entropy(own, target, reduction="sum") for own, target in zip(logits, wanted, strict=True)]
    return torch.stack(losses).mean()


def distillation_loss(
    kind: str, student: list[Tensor], teacher: list[Tensor], direction: str = "forward", temperature: float = 1.0
) -> Tensor:
    """How far the student is from the teacher, summed over units; the teacher gets no gradient."""
    if kind == "measure":
        return (student[0] - teacher[0].detach()).square().sum()
    losses = [divergence(s, t.detach(), direction, temperature) for s, t in zip(student, teacher, strict=True)]
    return torch.stack(losses).mean()


def divergence(student: Tensor, teacher: Tensor, direction: str, temperature: float = 1.0) -> Tensor:
    log_s, log_t = ((z / temperature).log_softmax(-1) for z in (student, teacher))
    if direction == "forward":
        return F.kl_div(log_s, log_t, log_target=True, reduction="sum") * temperature**2
    if direction == "reverse":
        return F.kl_div(log_t, log_s, log_target=True, reduction="sum") * temperature**2
    raise InputError(f"direction {direction!r} is not known; choose forward or reverse")
