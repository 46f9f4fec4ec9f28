"""search: a trained model and labelled examples in, its frontier out.

    halves of the examples -> a strategy judges plans on the first (evolve.py, race.py)
    -> the front of those, judged on the second, with intervals and bounds -> Frontier

What is reported and promised comes from examples that no plan was chosen by.
"""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from anyformer.data.records import Record
from anyformer.data.splits import halves, load_unseen
from anyformer.engine.latency import latency_cost, layer_table, measured, quantiles
from anyformer.errors import AnyformerError, DataError
from anyformer.folder import add_frontier, weights_digest
from anyformer.frontier import Frontier, Point
from anyformer.model import AdaptiveModel, load
from anyformer.pipeline import task_of
from anyformer.plan import Plan, Space
from anyformer.search.calibrate import FEWEST, bounds, paired
from anyformer.search.config import SearchSettings
from anyformer.search.evolve import Judged, Problem, Strategy, evolve
from anyformer.search.journal import Journal
from anyformer.search.race import PART, REST, Race
from anyformer.search.score import Jury
from anyformer.search.workers import Charge, Here, Judges, Processes, RayWorkers
from anyformer.tasks.base import Notes, TaskSettings
from anyformer.tasks.find import labels_of_model, task_for

JOURNAL, TABLE = ".search/journal.jsonl", ".search/latency.json"
FEWEST_TO_HALVE = 4
Say = Callable[[str], None]


@dataclass(frozen=True)
class Searched:
    """What a search gave."""

    frontier: Frontier
    evaluations: int
    n_searched: int
    seconds: float


def search(
    model: AdaptiveModel | str | Path,
    data: Any,
    settings: SearchSettings | None = None,
    *,
    resume: bool = False,
    workers: int | str = 1,
    strategy: Strategy = evolve,
    say: Say = lambda line: None,
    **options: Any,
) -> Frontier:
    """The frontier of a model; a folder gets it as its frontier.json. `data` are records, a file or a name; `options`
    may name its `columns`."""
    settings = settings or SearchSettings()
    folder = None if isinstance(model, AdaptiveModel) else Path(model)
    opened = model if isinstance(model, AdaptiveModel) else load(model)
    found = run_search(opened, data, settings, folder, strategy, Means(workers, resume, say), **options)
    opened.frontier = found.frontier
    return found.frontier


@dataclass(frozen=True)
class Means:
    """How a search is carried out; nothing of it changes what is found."""

    workers: int | str = 1
    resume: bool = False
    say: Say = lambda line: None


def run_search(
    model: AdaptiveModel,
    data: Any,
    settings: SearchSettings,
    folder: Path | None,
    strategy: Strategy = evolve,
    means: Means = Means(),
    columns: dict[str, str] | None = None,
) -> Searched:
    begun = time.monotonic()
    task_name = task_of(model)
    records, notes = load_unseen(data, task_name, model.about.get("data"), columns)
    for note in notes:
        means.say(note)
    searched, reported = _halved(records[: settings.examples or None], task_name)
    with TemporaryDirectory() as spare:
        bench = Bench(model, task_name, settings, folder, Path(spare))
        first, judge_on = bench.first_jury(searched, means), bench.cost(searched)
        problem = Problem(bench.space, bench.score, judge_on, settings, Random(settings.seed))
        journal = bench.journal(records, strategy, means)
        race = Race(bench.task, first, judge_on, journal, settings.racing > 0)
        try:
            candidates = _searched(strategy(problem), race, settings.iterations + 1, means.say)
        finally:
            first.close()
        if len(reported) < FEWEST:
            means.say(f"{len(reported)} examples to report on: fewer than {FEWEST}, so no loss can be promised")
        frontier = bench.reported(candidates, reported)
    if folder is not None:
        add_frontier(folder, frontier)
    return Searched(frontier, len(race.known), len(searched), time.monotonic() - begun)


def _halved(records: Sequence[Record], task: str) -> tuple[list[Record], list[Record]]:
    if len(records) < FEWEST_TO_HALVE:
        raise DataError(
            f"{len(records)} labelled examples: a search needs at least {FEWEST_TO_HALVE}, and hundreds to promise"
        )
    return halves(records, task)


def _searched(generation: Any, race: Race, n_turns: int, say: Say) -> list[Judged]:
    """Runs the strategy to its end; the front that it found, and the two ends of the space."""
    begun, turn = time.monotonic(), 0
    plans = next(generation)
    ends = plans[:2]
    while True:
        judged = race.judge(plans)
        turn += 1
        left = (time.monotonic() - begun) / turn * (n_turns - turn)
        found = f"{len(race.known)} plans, {len(race.front())} on the front"
        say(f"search {turn}/{n_turns}: {found}, {left // 60:.0f}:{left % 60:02.0f} left")
        try:
            plans = generation.send(judged)
        except StopIteration:
            break
    return [race.known[plan] for plan in dict.fromkeys([*race.front(), *ends])]


class Bench:
    """What the two halves of a search share: the model, its task, and how plans are priced."""

    def __init__(
        self, model: AdaptiveModel, task: str, settings: SearchSettings, folder: Path | None, spare: Path
    ) -> None:
        limit = model.about.get("settings", {}).get("run", {}).get("max_length") or None
        self.limits = TaskSettings(max_length=limit)
        self.model, self.settings, self.folder, self.spare = model, settings, folder, spare
        labels = labels_of_model(task, model.config)
        self.task = task_for(task, model.tokenizer, labels, model.config, self.limits)
        self.space = Space(model.n_layers, settings.space, settings.p, settings.floor)
        ranked = model.ramps is not None and model.kind in ("span", "tag")
        self.score = settings.score if settings.score != "auto" else "ramp" if ranked else "attention"
        model.resolve(Plan(self.space.smallest().keep, score=self.score))  # refuses a score that needs ramps

    def jury(self, records: Sequence[Record], notes: Notes | None = None) -> Jury:
        return Jury(self.model, self.task, records, self.settings.precision, notes)

    def first_jury(self, records: Sequence[Record], means: Means) -> Judges:
        """The judges of the half that is searched on, in two parts where plans race."""
        cut = round(len(records) * self.settings.racing)
        parts = {PART: list(records[:cut]), REST: list(records[cut:])} if cut else {REST: list(records)}
        if means.workers in (0, 1):
            notes = Notes()
            juries = Here({name: self.jury(own, notes) for name, own in parts.items()})
            for line in notes.lines():
                means.say(line)
            return juries
        charge = Charge(str(self._on_disk()), self.task.name, self.limits, self.settings.precision, parts)
        if means.workers == "ray":
            return RayWorkers(charge, 2, means.say)
        if not isinstance(means.workers, int) or means.workers < 1:
            raise AnyformerError(f"workers {means.workers!r}: give a number of processes, or ray")
        return Processes(charge, means.workers, means.say)

    def _on_disk(self) -> Path:
        return self.folder if self.folder is not None else self.model.save(self.spare / "model")

    def cost(self, records: Sequence[Record]) -> Callable[[Plan], float]:
        """Share of the full model's MACs on these examples, or milliseconds."""
        lengths = [feature.n_tokens for feature in self.task.features(records)]
        if self.settings.objective == "latency":
            kept = None if self.folder is None else self.folder / TABLE
            return latency_cost(layer_table(self.model, max(lengths), self.score, kept), lengths)
        return share_of_macs(self.model, lengths)

    def journal(self, records: Sequence[Record], strategy: Strategy, means: Means) -> Journal | None:
        if self.folder is None:
            return None
        about = {"settings": self.settings.to_dict(), "strategy": strategy.__name__}
        about |= {"model": weights_digest(self.folder), "data": _digest(records)}
        journal = Journal(self.folder / JOURNAL, about, means.resume)
        if journal.torn:
            means.say("the last line of the journal was cut off in writing: dropped, its plan is judged again")
        return journal

    def reported(self, candidates: Sequence[Judged], records: Sequence[Record]) -> Frontier:
        """The candidates on the other half, from the costliest to the cheapest, against the full model."""
        jury, full = self.jury(records), Plan.full(self.model.n_layers)
        ratio = share_of_macs(self.model, jury.lengths)
        others = [one.plan for one in sorted(candidates, key=lambda one: -one.cost) if one.plan.drops]
        tallies = jury.tallies([full, *others])
        pairs = [paired(tallies[0], tally, self.task.score_of) for tally in tallies]
        points = [Point(full, 1.0, pairs[0].score, loss_bound=0.0, lost=(0.0, 0.0))]
        points += [
            Point(plan, ratio(plan), pair.score, loss_bound=bound, lost=(pair.low, pair.high))
            for plan, pair, bound in zip(others, pairs[1:], bounds(pairs[1:]), strict=True)
        ]
        lengths = tuple(quantiles(jury.lengths))
        found = Frontier(tuple(points), self.task.metric, n_examples=len(records), lengths=lengths)
        return measured(self.model, found) if self.settings.objective == "latency" else found


def _digest(records: Sequence[Record]) -> str:
    found = sha256()
    for record in records:
        found.update(json.dumps(record, sort_keys=True, default=str).encode())
    return found.hexdigest()


def share_of_macs(model: AdaptiveModel, lengths: Sequence[int]) -> Callable[[Plan], float]:
    """Of the full model's on rows of these lengths; each plan is counted once."""
    times = {n: lengths.count(n) for n in sorted(set(lengths))}
    full = sum(k * model.full_macs(n) for n, k in times.items())
    known: dict[Plan, float] = {}

    def share(plan: Plan) -> float:
        if plan not in known:
            known[plan] = sum(k * model.plan_macs(plan, n) for n, k in times.items()) / full
        return known[plan]

    return share
