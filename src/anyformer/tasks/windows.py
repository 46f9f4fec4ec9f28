"""A question with a long context -> overlapping windows; an answer -> its tokens in each window.

Two windows of a context share `stride` tokens. A token that lies in several belongs to the one in which it has the most
context on its scarcer side (Devlin et al. 2018), and only there may an answer begin.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

import numpy as np

from anyformer.tasks.texts import encode

SHARE_OF_LENGTH = 0.01  # of the window's length in the comparison of contexts: the longer of two equals wins


@dataclass(frozen=True, eq=False)
class Window:
    """`first` is the place of its first context token, `starts` and `ends` are characters of the context, one pair a
    context token, and `owned` says of which of them no other window knows more."""

    example: int
    encoding: Any
    first: int
    starts: np.ndarray
    ends: np.ndarray
    owned: np.ndarray


@dataclass(frozen=True)
class Room:
    """What fits into max_length: a question of at most `question` tokens beside a context, and what windows share."""

    max_length: int
    question: int
    stride: int


def room(tokenizer: Any, max_length: int, question: int, stride: int) -> Room:
    """At least half of the room is the context's, and windows move on by half of that or more."""
    free = max_length - tokenizer.num_special_tokens_to_add(pair=True)
    question = max(1, min(question, free // 2))
    return Room(max_length, question, max(0, min(stride, (free - question) // 2)))


def short_questions(tokenizer: Any, questions: Sequence[str], most: int) -> tuple[list[str], int]:
    """Questions of at most `most` tokens, and how many had to be cut. Space before a question says nothing."""
    found, n_cut = [question.lstrip() for question in questions], 0
    for i, encoding in encode(tokenizer, found, truncation=True, max_length=most, add_special_tokens=False):
        if encoding.overflowing:
            n_cut += 1
            found[i] = found[i][: encoding.offsets[-1][1]]
    return found, n_cut


def windows(tokenizer: Any, questions: Sequence[str], contexts: Sequence[str], size: Room) -> Iterator[Window]:
    """Streamed: an encoding holds far more than a feature does, so none is kept."""
    rows = encode(
        tokenizer,
        questions,
        contexts,
        truncation="only_second",
        max_length=size.max_length,
        stride=size.stride,
        return_overflowing_tokens=True,
    )
    for example, group in groupby(rows, key=lambda row: row[0]):
        spans = [(encoding, *_context(encoding)) for _, encoding in group]
        owners = _owners([len(starts) for _, _, starts, _ in spans], size.stride)
        for own, (encoding, first, starts, ends) in zip(owners, spans, strict=True):
            yield Window(example, encoding, first, starts, ends, own)


def _context(encoding: Any) -> tuple[int, np.ndarray, np.ndarray]:
    """Where the context begins in a row, and the characters at which its tokens start and end."""
    of = encoding.sequence_ids
    n = of.count(1)  # side by side, as no template puts anything inside a context
    first = of.index(1) if n else 0
    offsets = np.array(encoding.offsets[first : first + n], dtype=np.int32).reshape(-1, 2)
    return first, offsets[:, 0], offsets[:, 1]


def _owners(sizes: Sequence[int], stride: int) -> list[np.ndarray]:
    """For each window, which of its tokens are its own."""
    begins = [w * (sizes[0] - stride) for w in range(len(sizes))]
    context = np.full((len(sizes), begins[-1] + sizes[-1]), -np.inf)
    for row, begin, n in zip(context, begins, sizes, strict=True):
        scarcer = np.minimum(np.arange(n), np.arange(n)[::-1])
        row[begin : begin + n] = scarcer + SHARE_OF_LENGTH * n
    best = context.argmax(axis=0)
    return [best[begin : begin + n] == w for w, (begin, n) in enumerate(zip(begins, sizes, strict=True))]


def answer_tokens(window: Window, start: int, end: int, nowhere: int) -> tuple[int, int]:
    """The first and the last token of the answer's characters [start, end); `nowhere` twice where the window does not
    hold all of it."""
    starts, ends = window.starts, window.ends
    if not len(starts) or start < starts[0] or end > ends[-1] or start >= end:
        return nowhere, nowhere
    first = int(np.searchsorted(starts, start, side="right")) - 1
    last = int(np.searchsorted(ends, end, side="left"))
    return window.first + first, window.first + max(first, last)
