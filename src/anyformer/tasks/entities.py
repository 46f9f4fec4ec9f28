"""Entities out of tags, as conlleval reads them: a lenient BIO, in which I- after O or after another type begins one.

E- and S- (ends and singles) are understood too. An entity is (type, first word, last word).
"""

from collections.abc import Sequence

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
    n_found = n_wanted = n_right = n_tags = n_right_tags = 0
    for mine, theirs in zip(found, wanted, strict=True):
        own, gold = set(entities(mine)), set(entities(theirs))
        n_found, n_wanted, n_right = n_found + len(own), n_wanted + len(gold), n_right + len(own & gold)
        n_tags += len(theirs)
        n_right_tags += sum(a == b for a, b in zip(mine, theirs, strict=True))
    precision, recall = _share(n_right, n_found), _share(n_right, n_wanted)
    f1 = 2 * precision * recall / (precision + recall) if n_right else 0.0
    return {"f1": f1, "precision": precision, "recall": recall, "accuracy": _share(n_right_tags, n_tags)}


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0
