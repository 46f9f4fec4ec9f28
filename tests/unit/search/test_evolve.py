"""The strategies against a made-up score, where the front is known."""

from random import Random

import pytest

from anyformer.cost.macs import Shape
from anyformer.pareto import hypervolume
from anyformer.plan import Plan, Space
from anyformer.search.config import SearchSettings
from anyformer.search.evolve import Judged, Problem, at_random, evolve

SHAPE = Shape(6, 384, 1536)


def cost(plan):
    return SHAPE.ratio(plan, [100])


def score(plan):
    """Early tokens are worth more; what the last layers see hardly counts."""
    return sum(keep**0.5 * weight for keep, weight in zip(plan.keep, (40, 25, 15, 10, 6, 4), strict=True))


def run(strategy, kind="every", **changes):
    settings = SearchSettings(space=kind, **changes)
    problem = Problem(Space(6, kind), "attention", cost, settings, Random(settings.seed))
    generation, seen = strategy(problem), []
    plans = next(generation)
    while True:
        judged = [Judged(plan, cost(plan), score(plan)) for plan in plans]
        seen.append(judged)
        try:
            plans = generation.send(judged)
        except StopIteration:
            return seen


def volume(seen):
    return hypervolume([(one.cost, one.score) for turn in seen for one in turn], (1.0, 0.0))


def test_the_papers_budget_is_22_plans_and_60_in_each_of_30_generations_each_judged_once():
    seen = run(evolve)
    first, *turns = (len(turn) for turn in seen)
    assert 18 <= first <= 22  # plans of one rate may fall together on the grid
    assert turns == [60] * 30
    plans = [one.plan for turn in seen for one in turn]
    assert len(set(plans)) == len(plans)


@pytest.mark.parametrize("kind", ["every", "few"])
def test_the_smallest_and_the_full_plan_are_in_and_bound_the_cost(kind):
    seen = run(evolve, kind, iterations=4)
    first = [one.plan for one in seen[0]]
    assert first[1] == Plan.full(6)
    least = cost(first[0])
    assert all(least <= one.cost <= 1 for turn in seen for one in turn)


def test_evolution_beats_as_many_draws_at_random():
    for seed in range(3):
        assert volume(run(evolve, seed=seed)) > volume(run(at_random, seed=seed))


def test_the_same_seed_searches_the_same_plans():
    one, two = run(evolve, iterations=5), run(evolve, iterations=5)
    assert one == two != run(evolve, iterations=5, seed=1)


def test_a_space_that_is_dry_ends_the_search():
    settings = SearchSettings(space="few", floor=0.9)
    problem = Problem(Space(1, "few", floor=0.9), "attention", lambda plan: plan.keep[0], settings, Random(0))
    generation = evolve(problem)
    plans, turns = next(generation), 0
    while plans and turns < 10:
        turns += 1
        try:
            plans = generation.send([Judged(plan, plan.keep[0], 1.0) for plan in plans])
        except StopIteration:
            plans = []
    assert turns < 5


def test_plans_that_were_given_up_are_no_parents_but_do_no_harm():
    settings = SearchSettings(iterations=3)
    problem = Problem(Space(6, "every"), "attention", cost, settings, Random(0))
    generation = evolve(problem)
    plans = next(generation)
    for _ in range(3):
        plans = generation.send(
            [Judged(p, cost(p), None if i % 2 and i > 2 else score(p)) for i, p in enumerate(plans)]
        )
        assert plans
