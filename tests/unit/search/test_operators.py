"""First population, mutation and crossover stay in the space."""

from itertools import pairwise
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.cost.macs import Shape
from anyformer.plan import FEW_DROPS, Plan, Space
from anyformer.search.operators import (
    LEVELS,
    cross,
    first_population,
    genome_of,
    mutate,
    plan_of,
    within,
)

SHAPE = Shape(6, 384, 1536)
genomes = st.lists(st.integers(1, LEVELS), min_size=6, max_size=6).map(lambda found: tuple(sorted(found, reverse=True)))


def cost(plan):
    return SHAPE.ratio(plan, [20, 100, 300])


@given(genomes, st.integers(0, 2**32))
def test_a_mutant_is_a_plan_and_keeps_between_its_neighbours(genome, seed):
    found = mutate(genome, 0.5, Random(seed))
    assert all(after <= before for before, after in pairwise((LEVELS, *found)))
    assert all(level >= 1 for level in found)
    for i, level in enumerate(found):
        assert level >= min(genome[i], genome[i + 1] if i < 5 else 1, *found[:i] or (LEVELS,))


@given(genomes)
def test_without_a_chance_nothing_mutates(genome):
    assert mutate(genome, 0.0, Random(0)) == genome


def test_all_between_the_neighbours_is_drawn():
    drawn = {mutate((20, 10, 4), 1.0, Random(seed))[0] for seed in range(500)}
    assert drawn == set(range(10, 21))


@given(genomes, genomes)
def test_a_crossover_is_the_mean_rounded_up(one, other):
    found = cross(one, other)
    assert all(after <= before for before, after in pairwise(found))
    assert all(2 * c - 1 <= a + b <= 2 * c for a, b, c in zip(one, other, found, strict=True))


@given(genomes, st.integers(0, 2**32))
def test_few_leaves_at_most_three_drops_and_none_at_the_last_layer(genome, seed):
    plan = plan_of(within(genome, Space(6, "few"), Random(seed)), "attention")
    assert len(plan.drops) <= FEW_DROPS
    assert 5 not in plan.drops
    assert within(genome, Space(6, "every"), Random(seed)) == genome


@pytest.mark.parametrize("kind", ["every", "few"])
def test_the_first_population_is_spread_evenly_over_cost(kind):
    space = Space(6, kind)
    costs = [cost(plan_of(genome, "attention")) for genome in first_population(space, 20, "attention", cost)]
    lower = cost(plan_of(genome_of(space.smallest()), "attention"))
    assert costs == sorted(costs)
    assert all(lower <= one <= 1 for one in costs)
    gaps = [b - a for a, b in pairwise([lower, *costs, 1.0])]
    assert max(gaps) < 4 * (1 - lower) / 21


@given(genomes)
def test_a_genome_and_its_plan_are_one(genome):
    assert genome_of(plan_of(genome, "attention")) == genome


def test_a_ratio_off_the_grid_is_rounded_up():
    assert genome_of(Plan((0.64, 0.125))) == (13, 3)
