"""pipeline: a model and a budget -> a callable that takes and gives what the `transformers` pipeline of its task does.

Above the tasks, below the commands: `predict` and `evaluate` run the same `Pipeline` over files, record by record.
"""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from anyformer.budget import Budget
from anyformer.data.records import Record
from anyformer.embedded import resolve_model
from anyformer.engine.latency import Held, device_name, keep_latencies, pick, read_latencies
from anyformer.engine.packed import packed
from anyformer.errors import AnyformerError, FolderError, InputError
from anyformer.folder import ABOUT, HEADS, MANIFEST, read_processor
from anyformer.model import AdaptiveModel, load
from anyformer.plan import Plan
from anyformer.tasks import Notes, Predicted, Task, TaskSettings, labels_of_model, predict, task_for
from anyformer.tasks.predicting import CHUNK, MAX_TOKENS, Forward

SUFFIXES = {task: head.removeprefix("AutoModel") for task, head in HEADS.items()}


@dataclass(frozen=True)
class Pipeline:
    """One text in, one answer out; a list in, a list out; an iterator in, an iterator out, a chunk at a time.
    `quick`: the twin that calls run; `held`: for a budget in milliseconds, what was promised and what was measured."""

    model: AdaptiveModel
    quick: AdaptiveModel
    task: Task
    plan: Plan
    held: Held | None = None

    def __call__(self, inputs: Any, budget: Budget | str | None = None) -> Any:
        own = self if budget is None else self.under(Budget.parse(budget))
        if isinstance(inputs, Iterator):
            return own._stream_outputs(inputs)
        if isinstance(inputs, Sequence) and not isinstance(inputs, str | bytes):
            return own._outputs(inputs)
        return _single(inputs, own._outputs([inputs])[0])

    def stream(
        self, records: Iterable[Record], notes: Notes | None = None, max_tokens: int = MAX_TOKENS
    ) -> Iterator[Predicted]:
        """Predictions with what they cost, in the order of the records; a chunk of them is held at a time."""
        return predict(self.task, self.forward(), records, CHUNK, max_tokens, notes)

    def forward(self) -> Forward:
        """A call of the model under the plan, with the batch brought to the model's device."""
        device = self.model.device

        def call(batch: dict[str, Any]) -> Any:
            moved = {name: tensor.to(device) for name, tensor in batch.items()}
            return self.quick(**moved, plan=self.plan, return_dict=True)

        return call

    def under(self, budget: Budget | None, folder: Path | None = None) -> "Pipeline":
        """The same at another budget; milliseconds are measured on this device once, and kept in the folder."""
        model = self.model
        if budget is None or budget.kind != "latency" or model.frontier is None:
            return replace(self, plan=model.resolve(budget=budget), held=None)
        known = model.frontier
        if folder is not None:
            known = read_latencies(folder, known, device_name(model))
        held, measured_here = pick(model, known, budget)
        if folder is not None and measured_here != known:
            keep_latencies(folder, measured_here)
        model.frontier = measured_here
        return replace(self, plan=held.point.plan, held=held)

    def full_macs(self, predicted: Predicted) -> int:
        """What the full plan costs on the same input, in closed form."""
        return sum(self.model.full_macs(n) for n in predicted.n_tokens)

    def _outputs(self, inputs: Sequence[Any]) -> list[Any]:
        notes = Notes()
        found = [self.task.pipeline_output(one.prediction) for one in self.stream(self.records(inputs), notes)]
        for line in notes.lines():
            warnings.warn(line, stacklevel=3)
        return found

    def _stream_outputs(self, inputs: Iterator[Any]) -> Iterator[Any]:
        while some := list(islice(inputs, CHUNK)):
            yield from self._outputs(some)

    def records(self, inputs: Iterable[Any]) -> list[Record]:
        """Inputs as the `transformers` pipeline takes them -> records of the task."""
        return [self._record(i, value) for i, value in enumerate(inputs)]

    def _record(self, i: int, value: Any) -> Record:
        try:
            return self.task.record(value)
        except InputError as error:
            raise InputError(f"input {i + 1}: {error}") from None


def pipeline(
    model: str | Path | AdaptiveModel,
    budget: Budget | str | None = None,
    task: str | None = None,
    device: str | torch.device | None = None,
    settings: TaskSettings | None = None,
) -> Pipeline:
    """`model`: a folder that anyformer saved, a Hugging Face folder, a hub id, or a model. The task is the one that
    its head is for, unless it is named; `settings` say how long texts may be, and whether every label is wanted."""
    wanted = Budget.parse(budget) if budget is not None else None
    opened = model if isinstance(model, AdaptiveModel) else open_model(model, task)
    opened.eval()
    if device is not None:
        opened.to(device)
    name = task_of(opened, task)
    labels = labels_of_model(name, opened.config)
    of_task = task_for(name, opened.tokenizer, labels, opened.config, settings)
    found = Pipeline(opened, packed(opened), of_task, Plan.full(opened.n_layers))
    folder = None if isinstance(model, AdaptiveModel) or not (Path(model) / ABOUT).is_file() else Path(model)
    return found.under(wanted, folder)


def open_model(source: str | Path, task: str | None = None) -> AdaptiveModel:
    """A folder of ours is verified and loaded; anything else is read with the head of the task."""
    folder = Path(source).expanduser()
    if (folder / ABOUT).is_file() or (folder / MANIFEST).is_file():
        return _with_processor(load(folder), folder)
    if not folder.exists() and str(source).startswith((".", "~", "/")):
        raise FolderError(f"{source}: there is no such folder; give one that anyformer or transformers saved")
    if folder.is_dir() and not (folder / "config.json").is_file():
        raise FolderError(f"{source} holds no model: it has no {ABOUT} and no config.json")
    where = str(folder) if folder.is_dir() else str(source)
    return _with_processor(AdaptiveModel.from_pretrained(where, task or _own_task(where)), where)


def task_of(model: AdaptiveModel, wanted: str | None = None) -> str:
    """The task that the model's head is for; one that was asked for must be the same."""
    kind = type(model.hf).__name__
    found = _task_of_class(kind)
    if found is None:
        raise AnyformerError(
            f"{kind} has no head of a task; names of those that have one end in {', '.join(SUFFIXES.values())}"
        )
    if wanted not in (None, found):
        raise AnyformerError(f"the model is a {kind}, which is for {found}, not for {wanted}")
    return found


def _task_of_class(name: str) -> str | None:
    return next((task for task, suffix in SUFFIXES.items() if name.endswith(suffix)), None)


def _own_task(source: str) -> str:
    """By the class that a plain checkpoint says it is of."""
    from transformers import PretrainedConfig

    try:
        config, _ = PretrainedConfig.get_config_dict(resolve_model(source))
    except (OSError, ValueError):
        return next(iter(HEADS))  # reading the model with any head says what is wrong
    classes = config.get("architectures") or []
    found = next((task for name in classes if (task := _task_of_class(str(name)))), None)
    if found is None:
        kind = f" ({classes[0]})" if classes else ""
        raise AnyformerError(f"{source}{kind} has no head of a task: name the task, one of {', '.join(HEADS)}")
    return found


def _with_processor(model: AdaptiveModel, source: str | Path) -> AdaptiveModel:
    """An image model with the image processor beside its checkpoint, where there is one."""
    if model.tokenizer is None and _task_of_class(type(model.hf).__name__) == "image":
        model.tokenizer = read_processor(source, "image")
    return model


def _single(given: Any, output: Any) -> Any:
    """A bare text to classify gives a list of one, as in `transformers`."""
    return [output] if isinstance(given, str) and isinstance(output, Mapping) and "label" in output else output
