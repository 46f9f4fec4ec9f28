"""Task: what lies between records and a model. One abstract class, one final class a task.

    records -> features -> (batches.py) -> collate -> the model -> decode -> finish -> predictions -> tallies -> score

The same path serves training (features with labels), evaluation and prediction.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar

import numpy as np

from anyformer.data.records import Record
from anyformer.errors import InputError

Prediction = dict[str, Any]


@dataclass(frozen=True)
class TaskSettings:
    """How texts become features and logits become answers."""

    max_length: int | None = field(
        default=None,
        metadata={"help": "tokens a text may have; unset: all that the model has positions for, 384 for qa"},
    )
    doc_stride: int = field(default=128, metadata={"help": "tokens that two windows of a long context share (qa)"})
    max_question_tokens: int = field(default=64, metadata={"help": "tokens of a question that are read (qa)"})
    max_answer_tokens: int = field(default=30, metadata={"help": "tokens an answer may have (qa)"})
    n_best: int = field(default=20, metadata={"help": "spans that are compared across windows (qa)"})
    every_label: bool = field(
        default=False, metadata={"help": "give the probability of every label (classification, image)"}
    )

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.name != "every_label" and value is not None and (not isinstance(value, int) or value < 1):
                raise InputError(f"{one.name} is {value!r}: it must be a whole number of at least 1")


@dataclass(frozen=True, eq=False)
class Feature:
    """One row of a batch. `example` is the record it was made from; `inputs` holds sequences of n_tokens integers;
    `labels` is a number, a sequence of n_tokens, or a dict of named positions; `info` is for decode and finish."""

    example: int
    inputs: Mapping[str, Any]
    n_tokens: int
    labels: Any = None
    info: Mapping[str, Any] = field(default_factory=dict)


class Notes:
    """What happened to the data on the way, counted, to be said once: `texts cut at 512 tokens: {n}`."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def add(self, message: str, n: int = 1) -> None:
        if n:
            self.counts[message] += n

    def lines(self) -> list[str]:
        return [message.replace("{n}", str(n)) for message, n in self.counts.items()]


class Task(ABC):
    """`metric` is the key of the main score; scores are in points, 0 to 100, and higher is better."""

    name: ClassVar[str]
    auto_class: ClassVar[str]
    metric: ClassVar[str]

    @property
    @abstractmethod
    def config(self) -> dict[str, Any]:
        """What the head's configuration must say: num_labels, id2label, label2id, problem_type."""

    @abstractmethod
    def record(self, value: Any) -> Record:
        """The record of one input as `transformers` pipelines take it; InputError names the field that is wrong."""

    @abstractmethod
    def features(self, records: Sequence[Record], notes: Notes | None = None, labelled: bool = False) -> list[Feature]:
        """Rows for the model, in the order of the records; `labelled`: with labels, which then must be there."""

    @abstractmethod
    def collate(self, features: Sequence[Feature]) -> dict[str, Any]:
        """A batch of tensors for the model's call."""

    @abstractmethod
    def decode(self, output: Any, features: Sequence[Feature]) -> list[Any]:
        """What the model's output says, one raw result a feature; the output's arrays are torch's or numpy's."""

    @abstractmethod
    def finish(self, raw: Sequence[Any], features: Sequence[Feature], records: Sequence[Record]) -> list[Prediction]:
        """One JSON-able prediction a record, out of the raw results of all its features."""

    @abstractmethod
    def pipeline_output(self, prediction: Prediction) -> Any:
        """The prediction in the form that the `transformers` pipeline of this task returns."""

    @abstractmethod
    def score(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> dict[str, float]:
        """Scores in points; references are labelled records."""

    @abstractmethod
    def tallies(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> np.ndarray:
        """(n_records, k), float64: what each record adds to the main score. The last column is how large the record is:
        1, or its part of what is wanted. Tallies of several parts of the data may be joined."""

    @abstractmethod
    def score_of(self, sums: np.ndarray) -> np.ndarray:
        """(..., k) sums of tallies -> (...) main scores in points; never NaN, whatever part of the records is summed:
        where a score is not defined, it is 0."""


def to_numpy(values: Any) -> np.ndarray:
    """float32, from torch on any device or from numpy."""
    if not isinstance(values, np.ndarray):
        values = values.detach().float().cpu().numpy()
    return values.astype(np.float32, copy=False)


def softmax(logits: np.ndarray) -> np.ndarray:
    """Over the last axis."""
    shifted = np.exp(logits - logits.max(axis=-1, keepdims=True))
    return shifted / shifted.sum(axis=-1, keepdims=True)


def check_scored(predictions: Sequence[Prediction], references: Sequence[Record]) -> None:
    if len(predictions) != len(references) or not references:
        raise InputError(f"{len(predictions)} predictions for {len(references)} references: one a reference is needed")
