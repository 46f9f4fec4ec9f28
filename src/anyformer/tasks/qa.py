"""Extractive question answering: the span of the context that answers the question.

A long context is read in windows (windows.py); the best span over all of them is the answer (spans.py); answers are
scored by exact match and F1 (squad.py). Learning follows BERT: a window without the answer points at its first token.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from anyformer.data.records import Record
from anyformer.errors import DataError, InputError
from anyformer.tasks.base import Feature, Notes, Prediction, Task, TaskSettings, check_scored, to_numpy
from anyformer.tasks.batches import collate
from anyformer.tasks.spans import Span, best_spans, characters, merged, stripped
from anyformer.tasks.squad import answer_scores, best_values, f1
from anyformer.tasks.tallies import counted, mean_points
from anyformer.tasks.texts import inputs_of, pad_id, text_of
from anyformer.tasks.windows import Window, answer_tokens, room, short_questions, windows

USUAL_LENGTH = 384
LONG_QUESTION = "questions cut at MAX tokens: {n}"
NOT_THERE = "questions left out of training, as their answer is not in their context: {n}"
NOTHING: Prediction = {"answer": "", "score": 0.0, "start": 0, "end": 0}


@dataclass(frozen=True)
class Qa(Task):
    """Records have a `question`, a `context` and, where they are labelled, `answers` {text: […], answer_start: […]}."""

    tokenizer: Any
    max_length: int
    settings: TaskSettings = field(default_factory=TaskSettings)

    name: ClassVar[str] = "qa"
    auto_class: ClassVar[str] = "AutoModelForQuestionAnswering"
    metric: ClassVar[str] = "f1"

    @property
    def config(self) -> dict[str, Any]:
        return {"num_labels": 2}

    def record(self, value: Any) -> Record:
        """{"question", "context"}."""
        if not isinstance(value, Mapping):
            raise InputError(f"an input is {type(value).__name__}; {{question, context}} is expected")
        for part in ("question", "context"):
            if not isinstance(value.get(part), str):
                raise InputError(f"{part} is {type(value.get(part)).__name__}; a text is expected")
        return {"question": value["question"], "context": value["context"]}

    def features(self, records: Sequence[Record], notes: Notes | None = None, labelled: bool = False) -> list[Feature]:
        size = room(self.tokenizer, self.max_length, self.settings.max_question_tokens, self.settings.doc_stride)
        questions = [text_of(record, "question", i) for i, record in enumerate(records)]
        contexts = [text_of(record, "context", i) for i, record in enumerate(records)]
        answers = [answer_of(record, i) for i, record in enumerate(records)] if labelled else None
        questions, n_cut = short_questions(self.tokenizer, questions, size.question)
        if notes is not None:
            notes.add(LONG_QUESTION.replace("MAX", str(size.question)), n_cut)
            notes.add(NOT_THERE, sum(answer is None for answer in answers or ()))
        found = (self._feature(window, answers) for window in windows(self.tokenizer, questions, contexts, size))
        return [feature for feature in found if feature is not None]

    def _feature(self, window: Window, answers: Sequence[Span | None] | None) -> Feature | None:
        ids = window.encoding.ids
        inputs = inputs_of(self.tokenizer, window.encoding)
        context = {"first": window.first, "n_context": len(window.starts)}
        if answers is None:
            spans = {"starts": window.starts, "ends": window.ends, "owned": window.owned}
            return Feature(window.example, inputs, len(ids), None, context | spans)
        answer = answers[window.example]
        if answer is None:
            return None
        first_token = ids.index(self.tokenizer.cls_token_id) if self.tokenizer.cls_token_id in ids else 0
        start, end = answer_tokens(window, answer[1], answer[2], first_token)
        return Feature(window.example, inputs, len(ids), {"start_positions": start, "end_positions": end}, context)

    def collate(self, features: Sequence[Feature]) -> dict[str, Any]:
        return collate(features, pad_id(self.tokenizer))

    def decode(self, output: Any, features: Sequence[Feature]) -> list[list[Span]]:
        """The best spans of every window; tokens of the question and special ones are no answers."""
        start, end = to_numpy(output.start_logits), to_numpy(output.end_logits)
        return [self._spans(s, e, feature.info) for s, e, feature in zip(start, end, features, strict=True)]

    def _spans(self, start: np.ndarray, end: np.ndarray, info: Mapping[str, Any]) -> list[Span]:
        here = slice(info["first"], info["first"] + info["n_context"])
        longest, n_best = self.settings.max_answer_tokens, self.settings.n_best
        return characters(
            best_spans(start[here], end[here], info["owned"], longest, n_best), info["starts"], info["ends"]
        )

    def finish(self, raw: Sequence[Any], features: Sequence[Feature], records: Sequence[Record]) -> list[Prediction]:
        spans: dict[int, list[Span]] = defaultdict(list)
        for own, feature in zip(raw, features, strict=True):
            spans[feature.example] += own
        return [self._answer(record["context"], spans[i]) for i, record in enumerate(records)]

    def _answer(self, context: str, spans: Sequence[Span]) -> Prediction:
        ranked = merged(spans, self.settings.n_best)
        if not ranked:
            return dict(NOTHING)
        probability, *span = ranked[0]
        start, end = stripped(context, *span)
        return {"answer": context[start:end], "score": probability, "start": start, "end": end}

    def pipeline_output(self, prediction: Prediction) -> Any:
        return prediction

    def score(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> dict[str, float]:
        return answer_scores(*_answers(predictions, references))

    def tallies(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> np.ndarray:
        """[F1, 1]."""
        return counted(best_values(f1, *_answers(predictions, references)))

    def score_of(self, sums: np.ndarray) -> np.ndarray:
        return mean_points(sums)


def _answers(predictions: Sequence[Prediction], references: Sequence[Record]) -> tuple[list[str], list[list[str]]]:
    """What was answered, and the answers that are right."""
    check_scored(predictions, references)
    wanted = [[text for text, _ in answers_of(record, i)] for i, record in enumerate(references)]
    return [prediction["answer"] for prediction in predictions], wanted


def answers_of(record: Record, i: int) -> list[tuple[str, int | None]]:
    """(text, first character) of every answer, out of {text: […], answer_start: […]}, of such dicts, or of texts."""
    answers = record.get("answers")
    if isinstance(answers, Mapping) and isinstance(answers.get("text"), list | tuple):
        starts = answers.get("answer_start") or [None] * len(answers["text"])
        answers = [{"text": t, "answer_start": s} for t, s in zip(answers["text"], starts, strict=False)]
    listed = [answers] if isinstance(answers, str | Mapping) else answers
    if isinstance(listed, list | tuple):
        found: list[tuple[Any, Any]] = [
            (a.get("text"), a.get("answer_start")) if isinstance(a, Mapping) else (a, None) for a in listed
        ]
        if all(isinstance(text, str) for text, _ in found):
            return found
    raise DataError(f"record {i + 1} has answers {str(answers)[:60]}; {{text: […], answer_start: […]}} is expected")


def answer_of(record: Record, i: int) -> Span | None:
    """The first answer as characters of the context, at the place nearest to the one named; None if it is not there.
    A question without an answer has the empty span: all its windows point at their first token."""
    answers = answers_of(record, i)
    if not answers or not answers[0][0]:
        return 0.0, 0, 0
    text, named = answers[0]
    places, at = [], record["context"].find(text)
    while at >= 0:
        places.append(at)
        at = record["context"].find(text, at + 1)
    if not places:
        return None
    start = min(places, key=lambda place: abs(place - (named or 0)))
    return 0.0, start, start + len(text)
