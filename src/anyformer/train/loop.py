"""The loop of a stage: batches, steps, evaluations, checkpoints. Devices, processes and trackers are Accelerate's.

Gradients are summed over processes once a step, after the last of its passes: a step has several backward passes of
different sub-models, and no wrapper has to be told which of them uses which weights.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
import torch.distributed
from torch import Tensor

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan, Space
from anyformer.tasks.base import Feature, Task
from anyformer.tasks.predicting import Prepared, evaluate
from anyformer.train import checkpoint
from anyformer.train.config import Adapt, FineTune, Run
from anyformer.train.draws import Draws, draw
from anyformer.train.losses import n_units
from anyformer.train.process import Process
from anyformer.train.sandwich import Step, sandwich_step
from anyformer.train.schedule import Schedule, derived, evaluation_steps, learning_rate, make_schedule


@dataclass
class Trainee:
    """All that a stage needs: the model and its data, how it is run, and where its state lies."""

    model: AdaptiveModel
    task: Task
    features: Sequence[Feature]
    validation: Prepared
    run: Run
    process: Process
    identity: dict[str, Any]
    folder: Path | None = None
    best: dict[str, Tensor] | None = None
    progress: checkpoint.Progress = field(default_factory=lambda: checkpoint.Progress("finetune"))


def run_stage(trainee: Trainee, stage: FineTune | Adapt, name: str, resumed: bool) -> None:
    """From where the progress stands to the end of the stage; the best weights are in the model afterwards."""
    run, process, model = trainee.run, trainee.process, trainee.model
    schedule = make_schedule([f.n_tokens for f in trainee.features], stage.epochs, run, name, process.world)
    optimizer = make_optimizer(model, stage)
    if resumed and trainee.folder is not None:
        trainee.best = checkpoint.read_into(trainee.folder, model, optimizer)
    else:
        trainee.best, trainee.progress = None, checkpoint.Progress(name, history=trainee.progress.history)
    how = step_settings(stage, process, run)
    n_steps, evaluate_at = len(schedule.steps), evaluation_steps(schedule, run.evals_per_epoch)
    meter = process.meter(name, n_steps, trainee.progress.step)
    for s in range(trainee.progress.step, n_steps):
        set_rate(optimizer, learning_rate(s, n_steps, stage.learning_rate, stage.warmup))
        losses = optimiser_step(trainee, stage, how, schedule, s, name)
        norm = _update(optimizer, model, run.clip)
        meter.step(s + 1, losses, norm, rows=sum(map(len, schedule.steps[s])))
        trainee.progress.step = s + 1
        if s + 1 in evaluate_at:
            meter.check()
            _evaluate(trainee, stage, s + 1, meter)
        if run.save_every and ((s + 1) % run.save_every == 0 or s + 1 in schedule.epoch_ends):
            meter.check()
            save(trainee, optimizer)
    meter.check()
    if trainee.best is not None:
        checkpoint.load_weights(model, trainee.best)


def optimiser_step(
    trainee: Trainee, stage: FineTune | Adapt, how: Step, schedule: Schedule, s: int, name: str
) -> Tensor:
    """Gradients of the mean loss over all units of the step, on every process; the losses a unit, (full, students)."""
    process, model, run = trainee.process, trainee.model, trainee.run
    model.train()
    model.hf.train(run.dropout == "on")
    mine = list(enumerate(schedule.steps[s]))[process.rank :: process.world]
    batches = [(k, trainee.task.collate([trainee.features[i] for i in micro])) for k, micro in mine]
    units = process.sum(sum(n_units(model.kind, batch) for _, batch in batches))
    losses = torch.zeros(2, device=process.device)
    for k, batch in batches:
        torch.manual_seed(derived(run.seed, name, "dropout", s, k))
        draws = draws_of(stage, model, (run.seed, s, k))
        moved = {key: tensor.to(process.device, non_blocking=True) for key, tensor in batch.items()}
        losses += torch.stack(sandwich_step(model, moved, draws, how, 1 / max(1, units)))
    process.sum_gradients(model)
    return losses / max(1, units)


def draws_of(stage: FineTune | Adapt, model: AdaptiveModel, key: tuple[int, ...]) -> Draws:
    if isinstance(stage, FineTune):
        return Draws(Plan.full(model.n_layers), ())
    score = score_of(stage, model)
    return draw(spaces_of(stage, model.n_layers), stage.n_random, stage.layerdrop, stage.layerdrop_p, score, key)


def spaces_of(stage: Adapt, n_layers: int) -> list[Space]:
    kinds = ("every", "few") if stage.space == "both" else (stage.space,)
    return [Space(n_layers, kind, stage.p, stage.floor) for kind in kinds]


def score_of(stage: FineTune | Adapt, model: AdaptiveModel) -> str:
    """What ranks tokens where the settings leave it open: the ramps, where there are ramps of tokens."""
    wanted = stage.score if isinstance(stage, Adapt) else "auto"
    if wanted != "auto":
        return wanted
    return "ramp" if model.ramps is not None and model.kind in ("span", "tag") else "attention"


def step_settings(stage: FineTune | Adapt, process: Process, run: Run) -> Step:
    autocast = process.autocast(run.precision)
    if isinstance(stage, FineTune):
        return Step(ramp_weight=stage.ramp_weight, ramps_learn_from_labels=True, autocast=autocast)
    return Step(stage.kl, stage.temperature, stage.ramp_weight, False, autocast)


def make_optimizer(model: AdaptiveModel, stage: FineTune | Adapt) -> torch.optim.AdamW:
    """Decay is for matrices only."""
    matrices = [p for p in model.parameters() if p.requires_grad and p.ndim > 1]
    others = [p for p in model.parameters() if p.requires_grad and p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": stage.weight_decay}, {"params": others, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=stage.learning_rate, eps=1e-8, fused=True)


def set_rate(optimizer: torch.optim.Optimizer, rate: float) -> None:
    for group in optimizer.param_groups:
        group["lr"] = rate


def _update(optimizer: torch.optim.Optimizer, model: AdaptiveModel, clip: float) -> Tensor:
    """The norm of the gradient before it was clipped."""
    norm = torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return norm


def reference_plans(stage: FineTune | Adapt, model: AdaptiveModel) -> dict[str, Plan]:
    """Full, middle and smallest, which every evaluation reports."""
    adapt = stage if isinstance(stage, Adapt) else Adapt()
    n, score = model.n_layers, score_of(stage, model)
    few = adapt.space == "few"
    middle = Plan.at({n // 3: 0.4}, n) if few else Plan.constant(adapt.p / 2, n)
    smallest = spaces_of(adapt, n)[0].smallest()
    return {name: Plan(plan.keep, score=score) for name, plan in (("middle", middle), ("smallest", smallest))} | {
        "full": Plan.full(n)
    }


def scores(trainee: Trainee, plans: dict[str, Plan]) -> dict[str, float]:
    """The task's main score under each plan on the validation records."""
    model, task, found = trainee.model, trainee.task, {}
    model.eval()
    autocast = trainee.process.autocast(trainee.run.precision)
    for name, plan in plans.items():

        def forward(batch: dict, plan: Plan = plan) -> Any:
            moved = {k: v.to(trainee.process.device) for k, v in batch.items()}
            with autocast():
                return model.call(moved, plan)[0]

        found[name] = evaluate(task, forward, trainee.validation)[task.metric]
    return found


def _evaluate(trainee: Trainee, stage: FineTune | Adapt, step: int, meter: Any) -> None:
    """The best weights are those with the best mean of the three scores; while fine-tuning, of the full model's."""
    found = scores(trainee, reference_plans(stage, trainee.model))
    judged = found["full"] if isinstance(stage, FineTune) else sum(found.values()) / len(found)
    trainee.progress.history.append({"stage": trainee.progress.stage, "step": step, **found})
    meter.evaluated(step, found)
    if trainee.progress.best is None or judged > trainee.progress.best:
        trainee.progress.best = judged
        trainee.best = checkpoint.weights(trainee.model)


def save(trainee: Trainee, optimizer: torch.optim.Optimizer) -> None:
    if trainee.folder is not None and trainee.process.rank == 0:
        state = checkpoint.state_of(trainee.progress, trainee.identity)
        with checkpoint.writing("the checkpoint"):
            checkpoint.write(trainee.folder, trainee.model, optimizer, trainee.best, state)
