"""From plans to judgements: what is known is taken from the journal, the rest is judged, and losers are given up early.

Racing: every plan is judged on a part of the examples first; one that is surely worse there than a plan which costs no
more (95% paired interval) is not judged on the rest. Off unless it is asked for.
"""

from collections.abc import Sequence

import numpy as np

from anyformer.pareto import front_indices
from anyformer.plan import Plan
from anyformer.search.calibrate import paired
from anyformer.search.evolve import Judged
from anyformer.search.journal import Journal
from anyformer.search.operators import Cost
from anyformer.search.workers import Judges
from anyformer.tasks.base import Task

PART, REST = "part", "rest"


class Race:
    """The judgements of one search."""

    def __init__(self, task: Task, judges: Judges, cost: Cost, journal: Journal | None, racing: bool) -> None:
        self.task, self.judges, self.cost, self.journal, self.racing = task, judges, cost, journal, racing
        self.known: dict[Plan, Judged] = {}
        self.on_part: dict[Plan, np.ndarray] = {}
        for line in journal.lines if journal else ():
            plan = Plan.from_dict(line["plan"])
            self.known[plan] = Judged(plan, line["cost"], line["score"])

    def judge(self, plans: Sequence[Plan]) -> list[Judged]:
        fresh = [plan for plan in dict.fromkeys(plans) if plan not in self.known]
        if fresh:
            scores = self._raced(fresh) if self.racing else self._scored(fresh)
            found = [Judged(plan, self.cost(plan), score) for plan, score in zip(fresh, scores, strict=True)]
            if self.journal:
                self.journal.add({"plan": j.plan.to_dict(), "cost": j.cost, "score": j.score} for j in found)
            self.known |= {one.plan: one for one in found}
        return [self.known[plan] for plan in plans]

    def _scored(self, plans: Sequence[Plan]) -> list[float | None]:
        return [self._score(tally) for tally in self.judges.tallies(REST, plans)]

    def _raced(self, plans: Sequence[Plan]) -> list[float | None]:
        rivals = self.front()
        unseen = [plan for plan in (*rivals, *plans) if plan not in self.on_part]
        self.on_part |= dict(zip(unseen, self.judges.tallies(PART, unseen), strict=True))
        going = [plan for plan in plans if not self._beaten(plan, rivals)]
        rest = dict(zip(going, self.judges.tallies(REST, going), strict=True)) if going else {}
        whole = {plan: np.concatenate([self.on_part[plan], tally]) for plan, tally in rest.items()}
        self.on_part = {plan: self.on_part[plan] for plan in (*rivals, *going)}
        return [self._score(whole[plan]) if plan in whole else None for plan in plans]

    def front(self) -> list[Plan]:
        judged = [one for one in self.known.values() if one.score is not None]
        return [judged[i].plan for i in front_indices([(one.cost, one.score or 0.0) for one in judged])]

    def _beaten(self, plan: Plan, rivals: Sequence[Plan]) -> bool:
        cost = self.cost(plan)
        return any(
            self.cost(rival) <= cost and paired(self.on_part[rival], self.on_part[plan], self.task.score_of).low > 0
            for rival in rivals
        )

    def _score(self, tally: np.ndarray) -> float:
        return float(self.task.score_of(tally.sum(0)))
