"""Many plans over one batch: plans that begin alike share their beginning.

A generation of plans is a tree over the layers: plans part where they drop different counts or skip a layer. It is
walked depth first, so that one state a layer is held at a time. What a plan gives does not depend on the others: it is
the same products in the same order as `model.call(batch, plan)` alone.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.run import State, attention_block, begin, counts_of, feed_forward, leave, ranking, restore

Take = Callable[[Sequence[int], Any], None]


@torch.inference_mode()
def run_plans(model: AdaptiveModel, batch: dict[str, Tensor], plans: Sequence[Plan], take: Take) -> None:
    """Calls `take(numbers, output)` once for all plans that come to the same thing, until every plan had its turn."""
    for score in dict.fromkeys(plan.score for plan in plans):
        numbers = [p for p, plan in enumerate(plans) if plan.score == score]
        walk = Walk(model, batch, plans, score, take)
        walk.descend(walk.root, 0, numbers)


class Walk:
    """Plans of one kind of score over one batch; a member is the number of a plan."""

    def __init__(
        self, model: AdaptiveModel, batch: dict[str, Tensor], plans: Sequence[Plan], score: str, take: Take
    ) -> None:
        self.model, self.batch, self.plans, self.take = model, batch, plans, take
        extras = model.extras(batch, score)
        self.root = begin(model.backbone, model.checked(batch), model.reads, extras)
        self.counts = [counts_of(plan, self.root, extras) if plan.score == score else [] for plan in plans]

    def descend(self, state: State, i: int, members: Sequence[int]) -> None:
        """From the tokens before layer i to the outputs of the members."""
        if i == self.model.n_layers:
            states = restore(self.model.backbone, state, self.root.rows, self.model.reads)
            self.take(members, self.model.answer(self.batch, states))
            return
        skip = [p for p in members if i not in self.plans[p].running]
        if skip:
            self.descend(state, i + 1, skip)
        ways: dict[tuple[int, ...], list[int]] = {}
        for p in members:
            if i in self.plans[p].running:
                ways.setdefault(self.counts[p][i], []).append(p)
        stay = ways.pop(state.rows.lengths, None)
        if stay:
            x, _ = attention_block(self.model.backbone, i, state.x, state.rows, False)
            self.onward(replace(state, x=x), i, stay)
        if ways:
            self.drop(state, i, ways)

    def drop(self, state: State, i: int, ways: dict[tuple[int, ...], list[int]]) -> None:
        """One attention and one ranking for all that drop here."""
        model, plan = self.model, self.plans[next(iter(ways.values()))[0]]
        x, score = attention_block(model.backbone, i, state.x, state.rows, plan.score != "ramp")
        score = ranking(i, x, state.rows, score, plan, model.ramps)
        for wanted, members in ways.items():
            self.onward(leave(state, x, score, wanted, model.reads), i, members)

    def onward(self, state: State, i: int, members: Sequence[int]) -> None:
        self.descend(replace(state, x=feed_forward(self.model.backbone, i, state.x)), i + 1, members)
