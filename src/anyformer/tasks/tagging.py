"""Tagging: a tag for every word. Words become tokens; the first token of a word carries its tag and its answer.

Words are found back by where they stand in the text, which every fast tokenizer tells, so no tokenizer needs to be told
of words beforehand. The main score is the F1 of whole entities.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from anyformer.data.records import Record
from anyformer.errors import DataError, InputError
from anyformer.tasks.base import Feature, Notes, Prediction, Task, TaskSettings, check_scored, softmax, to_numpy
from anyformer.tasks.batches import IGNORED, collate
from anyformer.tasks.entities import OUTSIDE, entities, entity_f1, entity_scores, entity_tallies, parse
from anyformer.tasks.labels import class_id, head_config
from anyformer.tasks.texts import clean, encode, inputs_of, note_cut, pad_id

WORD = re.compile(r"[@#]?\w+(?:[.'’&@/-]\w+)*|[^\w\s]")
Span = tuple[int, int]
Tags = list[list[str]]


@dataclass(frozen=True)
class Tagging(Task):
    """`labels` are the names of the tags in the order of their ids; records have `tokens` (words), or a `text`."""

    tokenizer: Any
    labels: tuple[str, ...]
    max_length: int
    settings: TaskSettings = field(default_factory=TaskSettings)

    name: ClassVar[str] = "tagging"
    auto_class: ClassVar[str] = "AutoModelForTokenClassification"
    metric: ClassVar[str] = "f1"

    @property
    def config(self) -> dict[str, Any]:
        return head_config(self.labels)

    def record(self, value: Any) -> Record:
        """A text, a list of words, or {"tokens"} or {"text"}."""
        if isinstance(value, str):
            return {"text": value}
        if isinstance(value, Mapping):
            value = value.get("tokens", value.get("text"))
        if isinstance(value, str):
            return {"text": value}
        if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
            raise InputError("tokens must be a list of texts, or text a text")
        return {"tokens": list(value)}

    def features(self, records: Sequence[Record], notes: Notes | None = None, labelled: bool = False) -> list[Feature]:
        words = [words_of(record, i) for i, record in enumerate(records)]
        tags = [tag_ids(record, i, self.labels) for i, record in enumerate(records)] if labelled else None
        found, n_cut = [], 0
        texts = [text for text, _ in words]
        for i, encoding in encode(self.tokenizer, texts, truncation=True, max_length=self.max_length):
            n_cut += bool(encoding.overflowing)
            firsts = first_tokens(encoding, words[i][1])
            labels = None if tags is None else _at_first_tokens(tags[i], firsts, len(encoding.ids))
            inputs = inputs_of(self.tokenizer, encoding)
            found.append(Feature(i, inputs, len(encoding.ids), labels, {"firsts": firsts}))
        note_cut(notes, n_cut, self.max_length)
        return found

    def collate(self, features: Sequence[Feature]) -> dict[str, Any]:
        return collate(features, pad_id(self.tokenizer))

    def decode(self, output: Any, features: Sequence[Feature]) -> list[Any]:
        """The (tag, probability) of every word; a word that no token stands for is outside."""
        logits = to_numpy(output.logits)
        return [self._tags(own, feature.info["firsts"]) for own, feature in zip(logits, features, strict=True)]

    def _tags(self, logits: np.ndarray, firsts: np.ndarray) -> list[tuple[str, float]]:
        probabilities = softmax(logits)
        best = probabilities.argmax(axis=-1)
        return [(self.labels[best[t]], float(probabilities[t, best[t]])) if t >= 0 else (OUTSIDE, 0.0) for t in firsts]

    def finish(self, raw: Sequence[Any], features: Sequence[Feature], records: Sequence[Record]) -> list[Prediction]:
        return [tagged(words_of(record, i), raw[i]) for i, record in enumerate(records)]

    def pipeline_output(self, prediction: Prediction) -> Any:
        return prediction["entities"]

    def score(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> dict[str, float]:
        return entity_scores(*self._both_tags(predictions, references))

    def tallies(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> np.ndarray:
        """[hits, entities found, entities wanted]."""
        return entity_tallies(*self._both_tags(predictions, references))

    def score_of(self, sums: np.ndarray) -> np.ndarray:
        return entity_f1(sums)

    def _both_tags(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> tuple[Tags, Tags]:
        """The tags that were found and those that are right, for every record."""
        check_scored(predictions, references)
        wanted = [[self.labels[t] for t in tag_ids(record, i, self.labels)] for i, record in enumerate(references)]
        found = [prediction["tags"] for prediction in predictions]
        for i, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
            if len(mine) != len(theirs):
                raise InputError(f"prediction {i + 1} has {len(mine)} tags for {len(theirs)} words")
        return found, wanted


def tag_names(values: Sequence[Any], names: Sequence[str] = ()) -> tuple[str, ...]:
    """The tags that occur, O first, then by type; the source's own names and their order where it has them."""
    found = {tag for tags in values for tag in (tags if isinstance(tags, list | tuple) else [])}
    if names and all(class_id(tag, names) is not None for tag in found):
        return tuple(names)
    if found and all(isinstance(tag, int) for tag in found):
        return tuple(f"LABEL_{i}" for i in range(max(found) + 1))
    if not found or not all(isinstance(tag, str) for tag in found):
        raise DataError("tags must be lists of names, one a word, all texts or all whole numbers")
    return tuple(sorted(found, key=lambda tag: (tag != OUTSIDE, parse(tag)[1], tag)))


def tag_ids(record: Record, i: int, names: Sequence[str]) -> list[int]:
    tags, n_words = record.get("tags"), len(words_of(record, i)[1])
    if not isinstance(tags, list | tuple) or len(tags) != n_words:
        found = len(tags) if isinstance(tags, list | tuple) else "no"
        raise DataError(f"record {i + 1} has {found} tags for {n_words} words; one a word is needed")
    ids = [class_id(tag, names) for tag in tags]
    if None in ids:
        raise DataError(f"record {i + 1} has tag {tags[ids.index(None)]!r}; tags are {', '.join(names[:20])}")
    return [one for one in ids if one is not None]


def words_of(record: Record, i: int) -> tuple[str, list[Span]]:
    """The text of a record and where its words stand in it."""
    words = record.get("tokens")
    if words is None and isinstance(record.get("text"), str):
        text = clean(record["text"])
        return text, [match.span() for match in WORD.finditer(text)]
    if not isinstance(words, list | tuple) or not all(isinstance(word, str) for word in words):
        raise DataError(f"record {i + 1}: tokens is {type(words).__name__}; a list of words is expected")
    spans, at = [], 0
    for word in words:
        spans.append((at, at + len(word)))
        at += len(word) + 1
    return clean(" ".join(words)), spans


def first_tokens(encoding: Any, spans: Sequence[Span]) -> np.ndarray:
    """The place of the first token of every word; -1 for a word that has none (cut off, or nothing but marks)."""
    found = np.full(len(spans), -1)
    starts = [start for start, _ in spans]
    for t, (start, end) in reversed(list(enumerate(encoding.offsets))):
        word = bisect_right(starts, end - 1) - 1  # by its last character: the first may be the space before the word
        if start < end and word >= 0 and end <= spans[word][1]:
            found[word] = t
    return found


def _at_first_tokens(tags: Sequence[int], firsts: np.ndarray, n_tokens: int) -> np.ndarray:
    labels = np.full(n_tokens, IGNORED)
    there = firsts >= 0
    labels[firsts[there]] = np.array(tags, dtype=np.int64)[there]
    return labels


def tagged(words: tuple[str, list[Span]], tags: Sequence[tuple[str, float]]) -> Prediction:
    """Entities as pipelines group them (a score is the mean over its words), and the tag of every word."""
    text, spans = words
    names, scores = [name for name, _ in tags], [score for _, score in tags]
    found = []
    for kind, first, last in entities(names):
        start, end = spans[first][0], spans[last][1]
        mean = sum(scores[first : last + 1]) / (last + 1 - first)
        found.append({"entity_group": kind, "score": mean, "word": text[start:end], "start": start, "end": end})
    return {"entities": found, "tokens": [text[start:end] for start, end in spans], "tags": names}
