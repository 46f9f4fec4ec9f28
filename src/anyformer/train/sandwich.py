"""One step: the full model learns from labels, its sub-models from the full model, all with the same weights.

The sandwich rule with in-place distillation (Yu and Huang 2019) under LengthDrop (Kim and Cho 2021): with f the full
model, f_0 the smallest sub-model and f_1 … f_n random ones,

    L = 1/(n + 2) · [ CE(f(x), y) + Σ_{i=0..n} D(f(x), f_i(x)) ],     D = KL either way, or a squared error

and only the first term sees labels. Each pass runs forward and backward before the next, so that one graph is held at a
time; the embedding, which all passes share, learns once from the sum of what they say. Ramps, where there are any,
learn on the full pass: from the labels while fine-tuning, from f while adapting.
Without students this is an ordinary fine-tuning step.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from types import SimpleNamespace

import torch
from torch import Tensor

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.rows import Rows
from anyformer.run import Trace
from anyformer.train.draws import Draws
from anyformer.train.dropout import QuickDropout
from anyformer.train.losses import LABELS, distillation_loss, distributions, label_loss, targets


@dataclass(frozen=True)
class Step:
    """How the passes of a step are run and weighed."""

    kl: str = "forward"
    temperature: float = 1.0
    ramp_weight: float = 0.5
    ramps_learn_from_labels: bool = False
    autocast: Callable[[], AbstractContextManager] = torch.enable_grad


def sandwich_step(
    model: AdaptiveModel, batch: dict[str, Tensor], draws: Draws, how: Step, scale: float
) -> tuple[Tensor, Tensor]:
    """Gradients of `scale` times the loss, added up in the parameters; the sums of the full model's and of the
    students' losses, for the record."""
    kind = model.kind
    share = scale / (1 + len(draws.students))
    inputs = {name: tensor for name, tensor in batch.items() if name not in LABELS}
    labels = targets(kind, batch)

    with how.autocast(), QuickDropout():
        tokens, rows = model.embed(inputs)
    shared = tokens.detach().requires_grad_()

    def run(plan: Plan, probe: bool = False) -> tuple[list[Tensor], Trace]:
        with how.autocast(), QuickDropout():
            out, trace = model.call(inputs, plan, probe=probe, embedded=(shared, rows))
        return distributions(kind, out, batch), trace

    full, trace = run(draws.full, probe=model.ramps is not None)
    teacher = [logits.detach() for logits in full]
    loss = label_loss(kind, full, labels)
    (share * (loss + how.ramp_weight * _ramp_loss(model, trace, batch, labels, teacher, how))).backward()
    del full, trace

    distance = loss.new_zeros(())
    for plan in draws.students:
        student, _ = run(plan)
        apart = distillation_loss(kind, student, teacher, how.kl, how.temperature)
        (share * apart).backward()
        distance += apart.detach()
    tokens.backward(shared.grad)
    return loss.detach(), distance


def _ramp_loss(
    model: AdaptiveModel, trace: Trace, batch: dict, labels: list[Tensor], teacher: list[Tensor], how: Step
) -> Tensor:
    """The mean over the ramps that ran."""
    losses = []
    for logits, rows in trace.ramps.values():
        own = distributions(model.kind, _as_output(model.kind, logits, rows), batch)
        if how.ramps_learn_from_labels:
            losses.append(label_loss(model.kind, own, labels))
        else:
            losses.append(distillation_loss(model.kind, own, teacher, how.kl, how.temperature))
    return torch.stack(losses).mean() if losses else torch.zeros((), device=teacher[0].device)


def _as_output(kind: str, logits: Tensor, rows: Rows) -> SimpleNamespace:
    """A ramp's logits in the form of the head's."""
    if kind == "span":
        start, end = rows.unpack(logits).unbind(-1)
        return SimpleNamespace(start_logits=start, end_logits=end)
    return SimpleNamespace(logits=rows.unpack(logits) if kind == "tag" else logits)
