"""Fronts of (cost, score) pairs, cost to be small and score to be large: which pairs stay, and how good a front is.

The search selects by `front_indices` and reports `area` (Kim and Cho 2021) and `hypervolume`; `Frontier` stands on
the same functions. Plain Python on finite numbers; no order is expected of the pairs.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise

Pair = tuple[float, float]


def front_indices(pairs: Sequence[Pair]) -> list[int]:
    """Where the pairs that no other dominates stand, by rising cost; of equal pairs the first."""
    found: list[int] = []
    for i in sorted(range(len(pairs)), key=lambda i: (pairs[i][0], -pairs[i][1])):
        if not found or pairs[i][1] > pairs[found[-1]][1]:
            found.append(i)
    return found


def front(pairs: Iterable[Pair]) -> list[Pair]:
    """The pairs that no other dominates, by rising cost and rising score."""
    known = list(pairs)
    return [known[i] for i in front_indices(known)]


def hypervolume(pairs: Iterable[Pair], reference: Pair) -> float:
    """The area that the front dominates, up to a reference (highest cost, lowest score); beyond it nothing counts."""
    cost_limit, floor = reference
    volume = 0.0
    for cost, score in front(pairs):
        if cost < cost_limit and score > floor:
            volume += (cost_limit - cost) * (score - floor)
            floor = score
    return volume


def area(pairs: Iterable[Pair]) -> float:
    """The mean score over the costs between the front's lower and upper end, each cost with the best score it affords:
    sum (c_{i+1} - c_i) * s_i / (c_last - c_first). A front of one pair has that pair's score."""
    known = front(pairs)
    if not known:
        raise ValueError("an area needs at least one (cost, score) pair")
    lower, upper = known[0][0], known[-1][0]
    if lower == upper:
        return known[0][1]
    return sum((after[0] - before[0]) * before[1] for before, after in pairwise(known)) / (upper - lower)
