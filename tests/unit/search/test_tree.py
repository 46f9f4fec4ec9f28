"""Many plans at once give what each gives alone."""

import pytest
import torch

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.search.tree import run_plans
from tests.contract.families import CASES, IDS, batch_of, outputs

PLANS = [
    Plan.full(4),
    Plan((0.8, 0.6, 0.5, 0.4)),
    Plan((0.8, 0.6, 0.5, 0.3)),
    Plan((0.8, 0.6, 0.4, 0.3), layers=(0, 1, 3)),
    Plan.at({2: 0.3}, 4),
    Plan.full(4),
    Plan((1.0,) * 4, layers=(0, 3)),
]


def given(model, batch, plans):
    found = {}
    run_plans(model, batch, plans, lambda numbers, out: found.update(dict.fromkeys(numbers, out)))
    return [found[p] for p in range(len(plans))]


@pytest.mark.parametrize(("family", "head"), CASES, ids=IDS)
def test_every_plan_gives_what_it_gives_alone_to_the_last_bit(family, head):
    model, batch = AdaptiveModel.wrap(family.build(head)), batch_of(family)
    with torch.inference_mode():
        for plan, out in zip(PLANS, given(model, batch, PLANS), strict=True):
            for ours, alone in zip(outputs(out), outputs(model(**batch, plan=plan)), strict=True):
                assert torch.equal(ours, alone)


@pytest.mark.parametrize("score", ["ramp", "both"])
@pytest.mark.parametrize("head", ["TokenClassification", "QuestionAnswering"])
def test_ramps_rank_as_they_do_alone(head, score):
    family = CASES[0][0]
    torch.manual_seed(0)
    model = AdaptiveModel.wrap(family.build(head)).add_ramps(range(4)).eval()
    plans = [Plan(plan.keep, plan.layers, score=score) for plan in PLANS] + PLANS
    batch = batch_of(family)
    batch["token_type_ids"] = (torch.arange(batch["input_ids"].shape[1]) > 3).long().expand_as(batch["input_ids"])
    with torch.inference_mode():
        for plan, out in zip(plans, given(model, batch, plans), strict=True):
            for ours, alone in zip(outputs(out), outputs(model(**batch, plan=plan)), strict=True):
                assert torch.equal(ours, alone)


def test_a_plan_that_comes_to_the_same_is_run_once():
    model, calls = AdaptiveModel.wrap(CASES[0][0].build("SequenceClassification")), []
    batch = batch_of(CASES[0][0])
    run_plans(model, batch, [Plan.full(4), Plan.at({1: 0.99}, 4)], lambda numbers, out: calls.append(list(numbers)))
    assert calls == [[0, 1]]
