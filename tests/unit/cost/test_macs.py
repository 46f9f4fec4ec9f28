"""The closed form against a count of the products that really run."""

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from anyformer.cost.macs import Shape
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from tests.contract.families import FAMILIES, batch_of

PLANS = [None, Plan((0.9, 0.5, 0.5, 0.2)), Plan.at({1: 0.4}, 4), Plan((0.9, 0.5, 0.5, 0.2), layers=(0, 2, 3))]
COUNTED = [
    f
    for f in FAMILIES
    if f.name in ("bert", "distilbert", "roberta", "mpnet", "deberta", "modernbert-mean", "xlm-roberta")
]


def test_the_formula_of_the_paper_by_hand():
    shape = Shape(n_layers=2, hidden=8, intermediate=16)
    plan = Plan.from_counts((6, 3), 10)
    layer_1 = 4 * 10 * 64 + 2 * 100 * 8 + 2 * 6 * 8 * 16
    layer_2 = 4 * 6 * 64 + 2 * 36 * 8 + 2 * 3 * 8 * 16
    assert shape.plan(plan, 10) == layer_1 + layer_2
    assert shape.ratio(Plan.full(2), [10, 3]) == 1


def test_bert_base_at_384_tokens_costs_what_the_paper_counted():
    assert abs(Shape(12, 768, 3072).plan(Plan.full(12), 384) / 35340779904 - 1) < 1e-3


@torch.inference_mode()
@pytest.mark.parametrize("plan", PLANS)
@pytest.mark.parametrize("family", COUNTED, ids=[f.name for f in COUNTED])
def test_out_macs_equals_the_flop_counter_exactly(family, plan, monkeypatch):
    """Without what fills row counts up to the grid, which is computed and not counted."""
    monkeypatch.setattr("anyformer.run.STEP", 1)
    for head in family.heads:
        hf = family.build(head, attn_implementation="eager")
        model = AdaptiveModel.wrap(hf)
        batch = batch_of(family, lengths=(12, 12, 12))
        with FlopCounterMode(display=False) as counter:
            out = model(**batch, plan=plan)
        assert counter.get_total_flops() == 2 * int(out.macs.sum())
