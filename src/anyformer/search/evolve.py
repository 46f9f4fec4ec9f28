"""The evolutionary search (Kim and Cho 2021, section 3.3), on one page.

    population <- the smallest plan, the full plan, and plans of one rate spread evenly over cost
    repeat:  population <- its Pareto front (smallest and full always stay)
             30 mutations and 30 crossovers of members join, if their cost lies between smallest and full
             and no one has seen them

A strategy is a generator: it yields plans that are to be judged and is sent what each costs and scores (None: it was
found worse than a cheaper one before it was judged in full). Another strategy is another generator.

# differs from Kim and Cho 2021: a draw that finds nothing new is given up after TRIES, so a small space ends; of equal
# cost the better score stays; a plan that was judged once is not judged again.
"""

from collections.abc import Callable, Generator
from dataclasses import dataclass
from random import Random

from anyformer.pareto import front_indices
from anyformer.plan import Plan, Space
from anyformer.search.config import SearchSettings
from anyformer.search.operators import (
    LEVELS,
    Cost,
    Genome,
    cross,
    first_population,
    genome_of,
    mutate,
    plan_of,
    within,
)

TRIES = 200  # draws for a child before a space counts as dry


@dataclass(frozen=True)
class Judged:
    """A plan with what it costs and scores; score is None where it was given up early."""

    plan: Plan
    cost: float
    score: float | None


@dataclass(frozen=True)
class Problem:
    """What a strategy knows: the plans there are, what each would cost, and how it is to go about it."""

    space: Space
    score: str
    cost: Cost
    settings: SearchSettings
    random: Random


Generation = Generator[list[Plan], list[Judged], None]
Strategy = Callable[[Problem], Generation]


def evolve(problem: Problem) -> Generation:
    settings, random = problem.settings, problem.random
    ends = [genome_of(problem.space.smallest()), (LEVELS,) * problem.space.n_layers]
    first = [*ends, *first_population(problem.space, settings.population, problem.score, problem.cost)]
    population: dict[Genome, Judged] = {}
    children = list(dict.fromkeys(first))
    seen = set(children)
    for _ in range(settings.iterations + 1):
        judged = yield [plan_of(child, problem.score) for child in children]
        population |= dict(zip(children, judged, strict=True))
        population = selected(population, ends)
        parents = list(population)
        mutants = breed(
            problem, settings.mutations, parents, seen, lambda p: mutate(random.choice(p), settings.p_mutate, random)
        )
        crossed = breed(problem, settings.crossovers, parents, seen, lambda p: cross(*random.sample(p, 2)))
        children = mutants + crossed
        if not children:
            return


def selected(population: dict[Genome, Judged], ends: list[Genome]) -> dict[Genome, Judged]:
    """The Pareto front and the two ends."""
    known = [genome for genome, one in population.items() if one.score is not None]
    pairs = [(population[genome].cost, population[genome].score or 0.0) for genome in known]
    stay = {known[i] for i in front_indices(pairs)} | set(ends)
    return {genome: one for genome, one in population.items() if genome in stay}


def breed(
    problem: Problem, n: int, parents: list[Genome], seen: set[Genome], draw: Callable[[list[Genome]], Genome]
) -> list[Genome]:
    """n new children that cost no less than the smallest plan and no more than the full one, or fewer where the space
    is dry. A child can be a parent at once."""
    least, most = (
        problem.cost(plan_of(genome_of(problem.space.smallest()), problem.score)),
        problem.cost(problem.space.full()),
    )
    found: list[Genome] = []
    for _ in range(n):
        for _ in range(TRIES):
            child = within(draw(parents), problem.space, problem.random)
            if child not in seen and least <= problem.cost(plan_of(child, problem.score)) <= most:
                seen.add(child)
                found.append(child)
                parents.append(child)
                break
        else:
            break
    return found


def at_random(problem: Problem) -> Generation:
    """As many plans, drawn from the space without looking at scores: what the evolution has to beat."""
    settings, seen = problem.settings, set()
    per_turn = settings.mutations + settings.crossovers
    children = [genome_of(problem.space.smallest()), (LEVELS,) * problem.space.n_layers]
    wanted = settings.population
    for _ in range(settings.iterations + 1):
        for _ in range(wanted * TRIES):
            if len(children) >= wanted:
                break
            child = within(genome_of(problem.space.sample(problem.random)), problem.space, problem.random)
            if child not in seen and child not in children:
                children.append(child)
        seen |= set(children)
        yield [plan_of(child, problem.score) for child in children]
        children, wanted = [], per_turn
