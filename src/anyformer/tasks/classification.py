"""Classification of a text or of a pair of texts; regression where the labels are measures.

First file of the main path: records -> features; logits -> labels with probabilities.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from anyformer.data.records import Record
from anyformer.errors import InputError
from anyformer.tasks.base import Feature, Notes, Prediction, Task, TaskSettings, check_scored, softmax, to_numpy
from anyformer.tasks.batches import collate
from anyformer.tasks.correlation import moments, pearson_of, spearman
from anyformer.tasks.labels import checked_class_id, checked_measure, class_id, head_config
from anyformer.tasks.tallies import counted, mean_points
from anyformer.tasks.texts import encode, inputs_of, note_cut, pad_id, text_of


@dataclass(frozen=True)
class Classification(Task):
    """`labels` are the names of the classes in the order of their ids; `max_length` is in tokens."""

    tokenizer: Any
    labels: tuple[str, ...]
    max_length: int
    settings: TaskSettings = field(default_factory=TaskSettings)

    name: ClassVar[str] = "classification"
    auto_class: ClassVar[str] = "AutoModelForSequenceClassification"
    metric: ClassVar[str] = "accuracy"

    @property
    def config(self) -> dict[str, Any]:
        return head_config(self.labels, "single_label_classification")

    def record(self, value: Any) -> Record:
        return text_record(value)

    def features(self, records: Sequence[Record], notes: Notes | None = None, labelled: bool = False) -> list[Feature]:
        labels = [checked_class_id(r, i, self.labels) for i, r in enumerate(records)] if labelled else None
        return text_features(self.tokenizer, records, self.max_length, labels, notes)

    def collate(self, features: Sequence[Feature]) -> dict[str, Any]:
        return collate(features, pad_id(self.tokenizer))

    def decode(self, output: Any, features: Sequence[Feature]) -> list[np.ndarray]:
        """The probabilities of the classes, a row each."""
        return list(softmax(to_numpy(output.logits)))

    def finish(self, raw: Sequence[Any], features: Sequence[Feature], records: Sequence[Record]) -> list[Prediction]:
        return [best_label(probabilities, self.labels, self.settings.every_label) for probabilities in raw]

    def pipeline_output(self, prediction: Prediction) -> Any:
        return prediction.get("labels", prediction)

    def score(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> dict[str, float]:
        return {self.metric: float(self.score_of(self.tallies(predictions, references).sum(axis=0)))}

    def tallies(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> np.ndarray:
        """[right, 1]."""
        return right_tallies(predictions, references, self.labels)

    def score_of(self, sums: np.ndarray) -> np.ndarray:
        return mean_points(sums)


@dataclass(frozen=True)
class Regression(Task):
    """The same head with one output, a measure; the main score is Pearson's correlation."""

    tokenizer: Any
    max_length: int
    settings: TaskSettings = field(default_factory=TaskSettings)

    name: ClassVar[str] = "classification"
    auto_class: ClassVar[str] = "AutoModelForSequenceClassification"
    metric: ClassVar[str] = "pearson"

    @property
    def config(self) -> dict[str, Any]:
        return {"num_labels": 1, "problem_type": "regression"}

    def record(self, value: Any) -> Record:
        return text_record(value)

    def features(self, records: Sequence[Record], notes: Notes | None = None, labelled: bool = False) -> list[Feature]:
        labels = [checked_measure(r, i) for i, r in enumerate(records)] if labelled else None
        return text_features(self.tokenizer, records, self.max_length, labels, notes)

    def collate(self, features: Sequence[Feature]) -> dict[str, Any]:
        return collate(features, pad_id(self.tokenizer))

    def decode(self, output: Any, features: Sequence[Feature]) -> list[float]:
        return [float(value) for value in to_numpy(output.logits)[:, 0]]

    def finish(self, raw: Sequence[Any], features: Sequence[Feature], records: Sequence[Record]) -> list[Prediction]:
        return [{"score": value} for value in raw]

    def pipeline_output(self, prediction: Prediction) -> Any:
        return {"label": "LABEL_0", **prediction}

    def score(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> dict[str, float]:
        found, wanted = _measures(predictions, references)
        main = float(self.score_of(moments(found, wanted).sum(axis=0)))
        return {self.metric: main, "spearman": 100 * spearman(found, wanted)}

    def tallies(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> np.ndarray:
        """[x, y, x², y², xy, 1, size], x predicted and y right."""
        return moments(*_measures(predictions, references))

    def score_of(self, sums: np.ndarray) -> np.ndarray:
        return 100 * pearson_of(sums)


def text_record(value: Any) -> Record:
    """A text, a pair of texts, or {"text", "text_pair"}."""
    if isinstance(value, str):
        return {"text": value}
    if isinstance(value, list | tuple) and len(value) == 2:
        value = {"text": value[0], "text_pair": value[1]}
    if not isinstance(value, Mapping):
        raise InputError(
            f"an input is {type(value).__name__}; a text, a pair of texts or {{text, text_pair}} is expected"
        )
    for part in ("text", "text_pair") if value.get("text_pair") is not None else ("text",):
        if not isinstance(value.get(part), str):
            raise InputError(f"{part} is {type(value.get(part)).__name__}; a text is expected")
    return {part: value[part] for part in ("text", "text_pair") if value.get(part) is not None}


def text_features(
    tokenizer: Any, records: Sequence[Record], max_length: int, labels: Sequence[Any] | None, notes: Notes | None
) -> list[Feature]:
    """One feature a record; records with and without a second text may be mixed."""
    found: list[Feature | None] = [None] * len(records)
    n_cut = 0
    paired = [i for i, record in enumerate(records) if record.get("text_pair") is not None]
    single = sorted(set(range(len(records))) - set(paired))
    for indices, second in ((single, False), (paired, True)):
        texts = [text_of(records[i], "text", i) for i in indices]
        pairs = [text_of(records[i], "text_pair", i) for i in indices] if second else None
        for at, encoding in encode(tokenizer, texts, pairs, truncation=True, max_length=max_length):
            i = indices[at]
            n_cut += bool(encoding.overflowing)
            inputs = inputs_of(tokenizer, encoding)
            found[i] = Feature(i, inputs, len(encoding.ids), None if labels is None else labels[i])
    note_cut(notes, n_cut, max_length)
    return [feature for feature in found if feature is not None]


def best_label(probabilities: np.ndarray, names: Sequence[str], every: bool) -> Prediction:
    order = np.argsort(-probabilities, kind="stable")
    ranked = [{"label": names[i], "score": float(probabilities[i])} for i in order]
    return {**ranked[0], "labels": ranked} if every else ranked[0]


def right_tallies(predictions: Sequence[Prediction], references: Sequence[Record], names: Sequence[str]) -> np.ndarray:
    """[right, 1] of every record: accuracy is their mean."""
    check_scored(predictions, references)
    wanted = [checked_class_id(record, i, names) for i, record in enumerate(references)]
    return counted(np.array([class_id(p["label"], names) == w for p, w in zip(predictions, wanted, strict=True)]))


def _measures(predictions: Sequence[Prediction], references: Sequence[Record]) -> tuple[np.ndarray, np.ndarray]:
    """What was predicted, and what is right."""
    check_scored(predictions, references)
    found = np.array([prediction["score"] for prediction in predictions], dtype=np.float64)
    return found, np.array([checked_measure(record, i) for i, record in enumerate(references)])
