"""Exact match and F1 of answers, as the evaluation of SQuAD 1.1 defines them (Rajpurkar et al. 2016)."""

import re
import string
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np

from anyformer.tasks.tallies import counted, mean_points

Measure = Callable[[str, str], float]
ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)


def normalised(text: str) -> str:
    """Lower case, without punctuation and articles, single spaces."""
    return " ".join(ARTICLES.sub(" ", text.lower().translate(PUNCTUATION)).split())


def exact(found: str, wanted: str) -> float:
    return float(normalised(found) == normalised(wanted))


def f1(found: str, wanted: str) -> float:
    """Over words, each counted as often as it occurs."""
    own, gold = normalised(found).split(), normalised(wanted).split()
    shared = sum((Counter(own) & Counter(gold)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(own), shared / len(gold)
    return 2 * precision * recall / (precision + recall)


def answer_scores(found: Sequence[str], wanted: Sequence[Sequence[str]]) -> dict[str, float]:
    """The means over the questions, in points."""
    measures = {"f1": f1, "exact_match": exact}
    tallies = {name: counted(best_values(measure, found, wanted)) for name, measure in measures.items()}
    return {name: float(mean_points(own.sum(axis=0))) for name, own in tallies.items()}


def best_values(measure: Measure, found: Sequence[str], wanted: Sequence[Sequence[str]]) -> np.ndarray:
    """The best over the answers of each question; no answer given counts as the empty one."""
    pairs = zip(found, wanted, strict=True)
    return np.array([max(measure(mine, one) for one in list(theirs) or [""]) for mine, theirs in pairs])
