"""task_for: the task of a name, with its tokenizer, labels and limits. labels_for: the labels that a data set has."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from anyformer.data.columns import TARGETS
from anyformer.data.records import Record
from anyformer.errors import DataError, InputError
from anyformer.tasks.base import Task, TaskSettings
from anyformer.tasks.classification import Classification, Regression
from anyformer.tasks.image import Image
from anyformer.tasks.labels import class_names, config_names, own_names
from anyformer.tasks.qa import USUAL_LENGTH, Qa
from anyformer.tasks.tagging import Tagging, tag_names
from anyformer.tasks.texts import check_fast, position_limit

TASKS = ("classification", "tagging", "qa", "image")
FEWEST_TOKENS = 8  # of a text that is to be read: special tokens, and something between them


def task_for(
    name: str,
    processor: Any,
    labels: Sequence[str] = (),
    config: Any = None,
    settings: TaskSettings | None = None,
) -> Task:
    """`processor` is a fast tokenizer, or an image processor or None for images; `labels` are in the order of their
    ids, none for a measure (and for qa); `config` is the model's, whose positions limit the length."""
    check_task(name)
    settings = settings or TaskSettings()
    if name == "image":
        size, patch = getattr(config, "image_size", 224), getattr(config, "patch_size", 16)
        return Image(processor, tuple(labels), size, patch, settings)
    tokenizer = check_fast(processor)
    max_length = _length(name, position_limit(tokenizer, config), settings)
    settings = replace(settings, max_length=max_length)
    if name == "qa":
        return Qa(tokenizer, max_length, settings)
    if name == "tagging":
        return Tagging(tokenizer, tuple(labels), max_length, settings)
    if labels:
        return Classification(tokenizer, tuple(labels), max_length, settings)
    return Regression(tokenizer, max_length, settings)


def labels_for(name: str, records: Sequence[Record], names: Sequence[str] = (), config: Any = None) -> tuple[str, ...]:
    """The labels of a data set: by the source's own names, by those of a model that already knows them, or as they
    occur. () where there are none to name: qa, and measures."""
    check_task(name)
    if name == "qa":
        return ()
    values = [record.get(TARGETS[name]) for record in records]
    find = tag_names if name == "tagging" else class_names
    return find(values, names or (own_names(config) if config is not None else ()))


def labels_of_model(name: str, config: Any) -> tuple[str, ...]:
    """The labels that a trained model's configuration names."""
    check_task(name)
    return () if name == "qa" else config_names(config)


def check_task(name: str) -> None:
    if name not in TASKS:
        raise InputError(f"task {name!r} is not there; choose one of {', '.join(TASKS)}")


def _length(name: str, limit: int, settings: TaskSettings) -> int:
    wanted = settings.max_length or (USUAL_LENGTH if name == "qa" else limit)
    if wanted < FEWEST_TOKENS:
        raise DataError(f"max_length {wanted} leaves no room for a text; at least {FEWEST_TOKENS} is needed")
    return min(wanted, limit)
