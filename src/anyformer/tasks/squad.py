"""Exact match and F1 of answers, as the evaluation of SQuAD 1.1 defines them (Rajpurkar et al. 2016)."""

import re
import string
from collections import Counter
from collections.abc import Sequence

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
    """The best over the answers of each question, averaged, in points; no answer given counts as the empty one."""
    pairs = [(mine, list(theirs) or [""]) for mine, theirs in zip(found, wanted, strict=True)]
    total_f1 = sum(max(f1(mine, one) for one in theirs) for mine, theirs in pairs)
    total_exact = sum(max(exact(mine, one) for one in theirs) for mine, theirs in pairs)
    return {"f1": 100 * total_f1 / len(pairs), "exact_match": 100 * total_exact / len(pairs)}
