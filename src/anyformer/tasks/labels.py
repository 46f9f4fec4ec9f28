"""Label names and ids: from the data, from the source's own names, or from a model's configuration.

() stands for regression: what is predicted is a number.
"""

import math
from collections.abc import Sequence
from typing import Any

from anyformer.errors import DataError

UNNAMED = "LABEL_"


def class_names(values: Sequence[Any], names: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of the classes that label values stand for, in the order of their ids; () when they are measures."""
    kinds = _kinds(values)
    if kinds == {"text"} and all(_number(value) is not None for value in values):  # out of a table of texts
        return class_names([_number(value) for value in values], names)
    if "float" in kinds and "text" not in kinds:
        return ()
    if len(kinds) > 1:
        raise DataError(
            f"labels are of mixed type ({', '.join(sorted(kinds))}); all texts, all whole numbers or all decimals"
        )
    found = set(values)
    if names and all(class_id(value, names) is not None for value in found):
        return tuple(names)
    return _checked(_text_names(found) if kinds == {"text"} else _number_names(found))


def class_id(value: Any, names: Sequence[str]) -> int | None:
    """The id of a label given by name or by number; None where there is no such label."""
    if str(value) in names:
        return names.index(str(value))
    number = _number(value)
    return int(number) if isinstance(number, int) and 0 <= number < len(names) else None


def checked_class_id(record: dict[str, Any], i: int, names: Sequence[str]) -> int:
    value = record.get("label")
    found = None if value is None else class_id(value, names)
    if found is None:
        raise DataError(f"record {i + 1} has label {value!r}; labels are {', '.join(names[:20])}")
    return found


def checked_measure(record: dict[str, Any], i: int) -> float:
    number = _number(record.get("label"))
    if number is None or not math.isfinite(number):
        raise DataError(f"record {i + 1} has label {record.get('label')!r}; a number is expected")
    return float(number)


def config_names(config: Any) -> tuple[str, ...]:
    """The labels of a model's configuration; () where its head predicts a number."""
    if config.problem_type == "regression" or config.num_labels == 1:
        return ()
    return tuple(str(config.id2label[i]) for i in range(config.num_labels))


def own_names(config: Any) -> tuple[str, ...]:
    """The labels that a model's author has named: () where they are LABEL_0, LABEL_1, …"""
    names = config_names(config)
    return () if any(name.startswith(UNNAMED) for name in names) else names


def named_by(own: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """A model's labels; where nobody named them (LABEL_0, LABEL_1, …), as many names of a data set, in its order."""
    unnamed = all(name.startswith(UNNAMED) for name in own)
    return tuple(names if unnamed and len(names) == len(own) else own)


def head_config(names: Sequence[str], problem_type: str | None = None) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "id2label": dict(enumerate(names)),
        "label2id": {name: i for i, name in enumerate(names)},
    }
    return settings | ({"problem_type": problem_type} if problem_type else {})


def _kinds(values: Sequence[Any]) -> set[str]:
    kinds = set()
    for i, value in enumerate(values):
        if value is None or value == "" or value != value:
            raise DataError(f"record {i + 1} has no label; leave records without one out")
        if not isinstance(value, str | int | float):
            raise DataError(f"record {i + 1} has label {value!r}; a name or a number is expected")
        kinds.add("text" if isinstance(value, str) else "float" if isinstance(value, float) else "whole number")
    return kinds


def _number(value: Any) -> int | float | None:
    if not isinstance(value, str):
        return value if isinstance(value, int | float) else None
    for kind in (int, float):
        try:
            return kind(value)
        except ValueError:
            continue
    return None


def _text_names(found: set[str]) -> tuple[str, ...]:
    return tuple(sorted(found))


def _number_names(found: set[int]) -> tuple[str, ...]:
    """0 … k-1 are ids; other numbers (ratings from 1 to 5) are names."""
    ordered = sorted(int(value) for value in found)
    if ordered == list(range(len(ordered))):
        return tuple(f"{UNNAMED}{i}" for i in ordered)
    if ordered[0] == -1:
        raise DataError("labels hold -1, which marks records without a label; leave them out")
    return tuple(str(value) for value in ordered)


def _checked(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(names) < 2:
        raise DataError(f"all labels are {names[0]}; at least two different ones are needed to learn from")
    return names
