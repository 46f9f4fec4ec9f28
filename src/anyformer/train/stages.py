"""train: a model and data in, a folder that runs at every budget out. Fine-tune, adapt, evaluate, save."""

import shutil
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch

from anyformer.data.splits import Splits, fingerprint, load_splits
from anyformer.embedded import resolve_model
from anyformer.errors import DataError
from anyformer.folder import ABOUT, read_processor
from anyformer.model import AdaptiveModel
from anyformer.pipeline import open_model
from anyformer.tasks.base import Notes, Task, TaskSettings
from anyformer.tasks.find import labels_for, task_for
from anyformer.tasks.predicting import prepare
from anyformer.train import checkpoint
from anyformer.train.config import TrainSettings
from anyformer.train.identity import identity, model_digest
from anyformer.train.loop import Trainee, reference_plans, run_stage, scores
from anyformer.train.process import Process

STATE = ".train"
PAYS = ("span", "tag")  # where ramps are trained along unless the settings say otherwise


@dataclass(frozen=True)
class Trained:
    """What a training gave: the model, its scores on the validation records, and how long it took."""

    model: AdaptiveModel
    metric: str
    scores: dict[str, float]
    history: list[dict[str, Any]] = field(repr=False)
    epochs: float = 0.0
    seconds: float = 0.0
    out: Path | None = None


def train(
    model: AdaptiveModel | str | Path,
    data: Splits | str | Path,
    settings: TrainSettings | None = None,
    out: str | Path | None = None,
    *,
    resume: bool = False,
    process: Process | None = None,
    **options: Any,
) -> Trained:
    """Fine-tune, then adapt. `options` name the data: task, validation, columns; see `load_splits`."""
    settings = settings or TrainSettings()
    process = process or Process(report_to=settings.run.report_to, out=None if out is None else str(out))
    begun = time.monotonic()
    splits = data if isinstance(data, Splits) else _splits(data, process, **options)
    out = None if out is None else Path(out)
    state = checkpoint.read_state(out / STATE) if resume and out is not None else None
    trainee = make_trainee(model, splits, settings, process, out)
    _begin(trainee, state)
    process.track(settings.to_dict())
    for name, stage in (("finetune", settings.finetune), ("adapt", settings.adapt)):
        if state is not None and state["progress"]["stage"] != name:
            if name == "finetune":
                continue  # it was finished before the checkpoint was written
            state = None
        if stage.epochs > 0:
            if state is not None:
                trainee.progress = checkpoint.progress_of(state)
            run_stage(trainee, stage, name, resumed=state is not None)
        state = None
    return _finished(trainee, settings, splits, out, time.monotonic() - begun)


def _splits(data: str | Path, process: Process, **options: Any) -> Splits:
    splits = load_splits(data, options.get("task"), options.get("validation"), options.get("columns"))
    for note in splits.notes:
        process.say(note)
    return splits


def make_trainee(
    model: AdaptiveModel | str | Path, splits: Splits, settings: TrainSettings, process: Process, out: Path | None
) -> Trainee:
    """Model, features and validation records, ready for a stage."""
    if not splits.train or not splits.validation:
        raise DataError("training needs records to learn from and records to judge by; one of the two is empty")
    torch.manual_seed(settings.run.seed)
    by_name = not isinstance(model, AdaptiveModel)
    model, task = _model_and_task(model, splits, settings)
    notes = Notes()
    features = task.features(splits.train, notes, labelled=True)
    judged = splits.validation[: settings.run.eval_rows or None]
    task.features(judged, labelled=True)  # a label that training does not know is found now, not after an epoch
    validation = prepare(task, judged, notes=notes)
    for line in notes.lines():
        process.say(line)
    if _wants_ramps(settings, model) and model.ramps is None:
        model.add_ramps(range(model.n_layers) if model.kind in PAYS else None)
    same = identity(settings.to_dict(), splits, model_digest(model, weights=by_name), process.world)
    model.to(process.device)
    model.recompute = settings.run.checkpointing
    folder = None if out is None else out / STATE
    return Trainee(model, task, features, validation, settings.run, process, same, folder)


def _model_and_task(
    model: AdaptiveModel | str | Path, splits: Splits, settings: TrainSettings
) -> tuple[AdaptiveModel, Task]:
    limits = TaskSettings(max_length=settings.run.max_length or None)
    if isinstance(model, AdaptiveModel):
        labels = labels_for(splits.task, splits.train, splits.label_names, model.config)
        return model, task_for(splits.task, model.tokenizer, labels, model.config, limits)
    if (Path(model) / ABOUT).is_file():
        return _model_and_task(open_model(model), splits, settings)
    source = resolve_model(str(model))
    processor = read_processor(source, splits.task)
    labels = labels_for(splits.task, splits.train, splits.label_names)
    head = task_for(splits.task, processor, labels, None, limits).config
    made = AdaptiveModel.from_pretrained(model, splits.task, ignore_mismatched_sizes=True, **head)
    made.tokenizer = processor
    return made, task_for(splits.task, processor, labels, made.config, limits)


def _wants_ramps(settings: TrainSettings, model: AdaptiveModel) -> bool:
    wanted = settings.finetune.ramps
    return wanted == "on" or (wanted == "auto" and model.kind in PAYS)


def _begin(trainee: Trainee, state: dict | None) -> None:
    """Where a run was cut off, if it is the same run; a new one clears what lies there, once it is sure to begin."""
    if state is not None:
        checkpoint.check_same(state["run"], trainee.identity)
        trainee.process.say(f"goes on after step {state['progress']['step']} of stage {state['progress']['stage']}")
    elif trainee.folder is not None and trainee.process.rank == 0:
        shutil.rmtree(trainee.folder, ignore_errors=True)


def _finished(trainee: Trainee, settings: TrainSettings, splits: Splits, out: Path | None, seconds: float) -> Trained:
    model, last = trainee.model, settings.adapt if settings.adapt.epochs else settings.finetune
    found = scores(trainee, reference_plans(last, model))
    model.eval()
    result = Trained(
        model, trainee.task.metric, found, trainee.progress.history,
        settings.finetune.epochs + settings.adapt.epochs, seconds, out,
    )  # fmt: skip
    model.frontier = None  # it was of the weights before
    model.about = {
        "task": splits.task,
        "data": fingerprint([*splits.train, *splits.validation], splits.task),
        "labels": list(labels_for(splits.task, splits.train, splits.label_names, model.config)),
        "settings": settings.to_dict(),
        "metric": result.metric,
        "scores": found,
        "history": result.history,
    }
    trainee.process.finish()
    if out is not None and trainee.process.rank == 0:
        with checkpoint.writing(str(out)):
            model.save(out)
        shutil.rmtree(out / STATE, ignore_errors=True)
    return result
