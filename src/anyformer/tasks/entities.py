"""Entities out of tags, as conlleval reads them: a lenient BIO, in which I- after O or after another type begins one.

E- and S- (ends and singles) are understood too. An entity is (type, first word, last word).
"""

from collections.abc import Sequence

import numpy as np

from anyformer.tasks.tallies import points

Entity = tuple[str, int, int]
OUTSIDE = "O"


def entities(tags: Sequence[str]) -> list[Entity]:
    found: list[Entity] = []
    previous, previous_type = OUTSIDE, ""
    for at, tag in enumerate(tags):
        prefix, kind = parse(tag)
        if prefix != OUTSIDE:
            begins = prefix in "BS" or previous in "OES" or kind != previous_type
            found.append((kind, at, at) if begins else (kind, found.pop()[1], at))
        previous, previous_type = prefix, kind
    return found


def parse(tag: str) -> tuple[str, str]:
    """(B, PER) for B-PER; a tag without a prefix is inside of an entity of that name."""
    prefix, dash, kind = tag.partition("-")
    if prefix in ("B", "I", "E", "S", OUTSIDE) and (dash or len(tag) == 1):
        return prefix, "" if prefix == OUTSIDE else kind or "_"
    return "I", tag


def entity_scores(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> dict[str, float]:
    """Precision, recall and F1 over all entities of all texts, and the share of right tags; in points."""
    sums = entity_tallies(found, wanted).sum(axis=0)
    hits, n_found, n_wanted = sums
    right = [a == b for mine, theirs in zip(found, wanted, strict=True) for a, b in zip(mine, theirs, strict=True)]
    shares = {
        "precision": points(hits, n_found),
        "recall": points(hits, n_wanted),
        "accuracy": points(sum(right), len(right)),
    }
    return {"f1": float(entity_f1(sums))} | {name: float(share) for name, share in shares.items()}


def entity_tallies(found: Sequence[Sequence[str]], wanted: Sequence[Sequence[str]]) -> np.ndarray:
    """[hits, entities found, entities wanted] of every text."""
    pairs = [(set(entities(mine)), set(entities(theirs))) for mine, theirs in zip(found, wanted, strict=True)]
    rows = [(len(own & gold), len(own), len(gold)) for own, gold in pairs]
    return np.array(rows, dtype=np.float64).reshape(-1, 3)


def entity_f1(sums: np.ndarray) -> np.ndarray:
    """2 · hits / (found + wanted), which is the harmonic mean of precision and recall."""
    return points(2 * sums[..., 0], sums[..., 1] + sums[..., 2])
