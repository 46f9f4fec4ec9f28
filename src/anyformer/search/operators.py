"""What the evolutionary search does with plans: a first population, mutation, crossover (Kim and Cho 2021, 3.3).

A genome is the plan's ratios in steps of 1/LEVELS, l_1 ≥ l_2 ≥ …; the coarse grid makes plans share beginnings, which
are then computed once (tree.py), and readable. In the space `few` at most three layers drop.
"""

import math
from collections.abc import Callable, Sequence
from random import Random

from anyformer.plan import DUST, FEW_DROPS, Plan, Space

LEVELS = 20
Genome = tuple[int, ...]
Cost = Callable[[Plan], float]


def plan_of(genome: Genome, score: str) -> Plan:
    return Plan(tuple(level / LEVELS for level in genome), score=score)


def genome_of(plan: Plan) -> Genome:
    """Rounded up, so that never less is kept than the plan says."""
    return tuple(math.ceil(round(keep * LEVELS, DUST)) for keep in plan.keep)


def first_population(space: Space, size: int, score: str, cost: Cost) -> list[Genome]:
    """Plans of one rate each, evenly spread over the cost between the smallest plan and the full one."""
    lower, upper = cost(plan_of(genome_of(space.smallest()), score)), cost(space.full())
    targets = [lower + (upper - lower) * (k + 1) / (size + 1) for k in range(size)]
    return list(dict.fromkeys(_of_cost(space, target, score, cost) for target in targets))


def _of_cost(space: Space, target: float, score: str, cost: Cost) -> Genome:
    """By bisection over how far from the full plan (0) to the smallest (1)."""
    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if cost(_between(space, middle, score)) > target else (low, middle)
    return genome_of(_between(space, high, score))


def _between(space: Space, share: float, score: str) -> Plan:
    """every: the same rate at each layer, up to p. few: at the smallest plan's layers, a share of what it drops."""
    if space.kind == "every":
        return Plan(Plan.constant(space.p * share, space.n_layers).keep, score=score)
    return Plan(tuple(1 - share * (1 - keep) for keep in space.smallest().keep), score=score)


def mutate(genome: Genome, p: float, random: Random) -> Genome:
    """From the first layer on, with chance p: l'_i ~ U{l_{i+1}, …, l'_{i-1}}; below the last layer stands 1."""
    found: list[int] = []
    for i, level in enumerate(genome):
        below = genome[i + 1] if i + 1 < len(genome) else 1
        above = found[-1] if found else LEVELS
        found.append(random.randint(below, above) if random.random() < p else min(level, above))
    return tuple(found)


def cross(one: Genome, other: Genome) -> Genome:
    """The mean of both, layer by layer, rounded up."""
    return tuple((a + b + 1) // 2 for a, b in zip(one, other, strict=True))


def within(genome: Genome, space: Space, random: Random) -> Genome:
    """few: of the layers that drop, three at random do; the others keep what reaches them. Not before the first layer
    at which the space's smallest plan drops, nor at the last."""
    if space.kind == "every":
        return genome
    dropping = [i for i in _drops(genome) if space.n_layers // 12 <= i < max(space.n_layers - 1, 1)]
    chosen = set(random.sample(dropping, min(FEW_DROPS, len(dropping))))
    found, now = [], LEVELS
    for i, level in enumerate(genome):
        now = min(now, level) if i in chosen else now
        found.append(now)
    return tuple(found)


def _drops(genome: Sequence[int]) -> list[int]:
    return [i for i, (before, now) in enumerate(zip((LEVELS, *genome), genome, strict=False)) if now < before]
