"""Which search finds the better front? Evolution, draws at random, plans of one rate, and NSGA-II of Optuna.

Each judges the same number of plans on one half of the examples; the fronts are compared on the other half.

    pip install optuna
    python runs/strategies.py out/sst2/model --data dev.jsonl.xz --iterations 10 --seeds 0,1,2

Hypervolume is of the front found on the first half with its scores on the second, up to the full model's MACs and down
to the smallest plan's score. A budget is won by the strategy whose best plan within it (by the first half) scores most
on the second.
"""

import argparse
import json
from collections.abc import Sequence
from random import Random

import anyformer
from anyformer.data.splits import halves, load_unseen
from anyformer.pareto import front_indices, hypervolume
from anyformer.pipeline import task_of
from anyformer.plan import Plan, Space
from anyformer.search.config import SearchSettings
from anyformer.search.evolve import Generation, Judged, Problem, at_random, evolve
from anyformer.search.operators import LEVELS, first_population, genome_of, plan_of, within
from anyformer.search.score import Jury
from anyformer.search.stages import share_of_macs
from anyformer.tasks import TaskSettings, labels_of_model, task_for

BUDGETS = [k / 100 for k in range(30, 101)]


def nsga2(problem: Problem) -> Generation:
    """Optuna's, on the same genomes: a level a layer, made non-increasing."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    settings, n = problem.settings, problem.space.n_layers
    per_turn = settings.mutations + settings.crossovers
    sampler = optuna.samplers.NSGAIISampler(population_size=per_turn, seed=settings.seed)
    study = optuna.create_study(directions=["minimize", "maximize"], sampler=sampler)
    yield [plan_of(genome_of(problem.space.smallest()), problem.score), Plan.full(n)]
    wanted = settings.population + settings.iterations * per_turn
    for at in range(0, wanted, per_turn):
        trials = [study.ask() for _ in range(min(per_turn, wanted - at))]
        plans = []
        for trial in trials:
            levels, now = [], LEVELS
            for i in range(n):
                now = min(now, trial.suggest_int(f"l{i}", 1, LEVELS))
                levels.append(now)
            plans.append(plan_of(within(tuple(levels), problem.space, problem.random), problem.score))
        for trial, one in zip(trials, (yield plans), strict=True):
            study.tell(trial, [one.cost, one.score])


def one_rate(problem: Problem) -> Generation:
    """As many rates as the others judge plans; on the grid many fall together."""
    settings = problem.settings
    size = settings.population + settings.iterations * (settings.mutations + settings.crossovers)
    genomes = first_population(problem.space, size, problem.score, problem.cost)
    ends = [plan_of(genome_of(problem.space.smallest()), problem.score), Plan.full(problem.space.n_layers)]
    yield [*ends, *(plan_of(genome, problem.score) for genome in genomes)]


STRATEGIES = {"evolve": evolve, "random": at_random, "one rate": one_rate, "nsga2": nsga2}


class Scores:
    """Scores on one half, each plan judged once for all strategies and seeds."""

    def __init__(self, jury: Jury) -> None:
        self.jury, self.known = jury, {}

    def of(self, plans: Sequence[Plan]) -> list[float]:
        fresh = [plan for plan in dict.fromkeys(plans) if plan not in self.known]
        for plan, tally in zip(fresh, self.jury.tallies(fresh) if fresh else (), strict=True):
            self.known[plan] = float(self.jury.task.score_of(tally.sum(0)))
        return [self.known[plan] for plan in plans]


def front_of(strategy, problem: Problem, scores: Scores) -> tuple[list[Judged], int]:
    generation, seen = strategy(problem), {}
    plans = next(generation)
    while True:
        judged = [Judged(p, problem.cost(p), s) for p, s in zip(plans, scores.of(plans), strict=True)]
        seen |= {one.plan: one for one in judged}
        try:
            plans = generation.send(judged)
        except StopIteration:
            break
    known = list(seen.values())
    return [known[i] for i in front_indices([(one.cost, one.score) for one in known])], len(known)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data", required=True)
    parser.add_argument("--space", default="few", choices=("few", "every"))
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--examples", type=int, default=0)
    parser.add_argument("--strategies", default=",".join(STRATEGIES))
    args = parser.parse_args()
    model = anyformer.load(args.model).eval()
    name = task_of(model)
    limit = model.about.get("settings", {}).get("run", {}).get("max_length") or None
    labels = labels_of_model(name, model.config)
    task = task_for(name, model.tokenizer, labels, model.config, TaskSettings(max_length=limit))
    records = load_unseen(args.data, name, None)[0][: args.examples or None]
    first, second = (Jury(model, task, half, "fp32") for half in halves(records, name))
    on_first, on_second, cost = Scores(first), Scores(second), share_of_macs(model, first.lengths)
    ramped = model.ramps is not None and model.kind in ("span", "tag")
    space = Space(model.n_layers, args.space)
    least = on_second.of([plan_of(genome_of(space.smallest()), "ramp" if ramped else "attention")])[0]
    for seed in map(int, args.seeds.split(",")):
        fronts = {}
        for label in args.strategies.split(","):
            settings = SearchSettings(space=args.space, iterations=args.iterations, seed=seed)
            problem = Problem(space, "ramp" if ramped else "attention", cost, settings, Random(seed))
            front, n_plans = front_of(STRATEGIES[label], problem, on_first)
            held = on_second.of([one.plan for one in front])
            fronts[label] = front, held
            volume = hypervolume([(one.cost, score) for one, score in zip(front, held, strict=True)], (1.0, least))
            print(
                json.dumps({"seed": seed, "strategy": label, "plans": n_plans, "hypervolume": round(volume, 4)}),
                flush=True,
            )
        won = dict.fromkeys(fronts, 0)
        for budget in BUDGETS:
            found = {}
            for label, (front, held) in fronts.items():
                within_it = [i for i, one in enumerate(front) if one.cost <= budget]
                if within_it:
                    found[label] = held[max(within_it, key=lambda i: front[i].score)]
            for label, score in found.items():
                won[label] += score == max(found.values())
        print(
            json.dumps(
                {
                    "seed": seed,
                    "share of budgets won or shared": {k: round(v / len(BUDGETS), 3) for k, v in won.items()},
                }
            )
        )


if __name__ == "__main__":
    main()
