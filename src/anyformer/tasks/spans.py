"""Start and end logits -> the best spans of a window, and of an example's windows together."""

from collections.abc import Iterable, Sequence

import numpy as np

Span = tuple[float, int, int]  # logit of start + logit of end, first character, character after the last


def best_spans(
    start: np.ndarray, end: np.ndarray, may_start: np.ndarray, longest: int, n_best: int
) -> list[tuple[float, int, int]]:
    """(score, first token, last token) of the n_best spans of at most `longest` tokens, best first: all are compared.

    differs from Devlin et al. 2018: not the n_best starts with the n_best ends, but the n_best spans.
    """
    n = len(start)
    if not n:
        return []
    padded = np.concatenate([end, np.full(longest - 1, -np.inf, dtype=end.dtype)])
    scores = np.where(may_start, start, -np.inf)[:, None] + np.lib.stride_tricks.sliding_window_view(padded, longest)
    flat = scores.ravel()
    most = min(n_best, flat.size)
    top = np.argpartition(-flat, most - 1)[:most]
    top = top[np.lexsort((top, -flat[top]))]
    return [(float(flat[i]), int(i // longest), int(i // longest + i % longest)) for i in top if np.isfinite(flat[i])]


def merged(spans: Iterable[Span], n_best: int) -> list[tuple[float, int, int]]:
    """(probability, start, end): the best spans of all windows, each once; probabilities are among these alone."""
    best: dict[tuple[int, int], float] = {}
    for score, start, end in spans:
        best[start, end] = max(score, best.get((start, end), -np.inf))
    ranked = sorted(best.items(), key=lambda item: (-item[1], item[0]))[:n_best]
    if not ranked:
        return []
    weights = np.exp(np.array([score for _, score in ranked]) - ranked[0][1])
    return [(float(w / weights.sum()), *span) for w, (span, _) in zip(weights, ranked, strict=True)]


def stripped(text: str, start: int, end: int) -> tuple[int, int]:
    """The span without white space at its ends."""
    inner = text[start:end]
    return start + len(inner) - len(inner.lstrip()), end - len(inner) + len(inner.rstrip())


def characters(found: Sequence[tuple[float, int, int]], starts: np.ndarray, ends: np.ndarray) -> list[Span]:
    return [(score, int(starts[first]), int(ends[last])) for score, first, last in found]
