"""What ramps say of tokens, and what they cost."""

import pytest
import torch

from anyformer.cost.macs import Shape
from anyformer.depth.layerdrop import drop_layers
from anyformer.depth.ramps import Ramp, Ramps, ranks, worth
from anyformer.errors import PlanError
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.rows import Rows
from tests.contract.families import FAMILIES, batch_of

ROWS = Rows.of(torch.tensor([[1, 1, 1], [1, 1, 0]]))


def test_a_token_that_may_start_or_end_the_answer_is_worth_most():
    logits = torch.tensor([[9.0, 0.0], [0.0, 9.0], [0.0, 0.0], [1.0, 0.0], [0.0, 0.0]])
    value = worth(logits, ROWS, "span")
    assert value[:2].min() > value[2]
    assert value[3] > value[4]


def test_the_worth_of_a_row_does_not_hang_on_its_neighbours():
    logits = torch.randn(5, 2)
    alone = worth(logits[3:], Rows.of(torch.ones(1, 2)), "span")
    torch.testing.assert_close(worth(logits, ROWS, "span")[3:], alone)


def test_a_token_whose_tag_is_unsure_is_worth_most():
    value = worth(torch.tensor([[9.0, 0.0], [0.1, 0.0], [4.0, 0.0], [0.0, 0.0], [5.0, 0.0]]), ROWS, "tag")
    assert value[1] > value[2] > value[0]


def test_ranks_count_within_each_row():
    assert ranks(torch.tensor([0.5, 0.1, 0.9, -3.0, 7.0]), ROWS).tolist() == [1, 0, 2, 0, 1]


@pytest.mark.parametrize("hidden", [384, 768, 1024])
@pytest.mark.parametrize("n", [16, 128, 384])
def test_a_ramp_costs_less_than_two_percent_of_its_layer(hidden, n):
    layer = Shape(1, hidden, 4 * hidden).plan(Plan.full(1), n)
    for per_token, labels in ((True, 2), (True, 13), (False, 3)):
        assert Ramp(hidden, labels, per_token, 0.0).macs(n) < 0.02 * layer


def test_a_missing_ramp_is_named_with_those_that_are_there():
    model = AdaptiveModel.wrap(FAMILIES[0].build("QuestionAnswering")).add_ramps([0, 2])
    with pytest.raises(PlanError, match="ramp at layer 1; this model has ramps at layers 0, 2"):
        model(**batch_of(FAMILIES[0]), plan=Plan((1.0, 0.5, 0.5, 0.5), score="ramp"))
    with pytest.raises(PlanError, match="layers of this model are 0 to 3"):
        model.add_ramps([4])


def test_the_ramps_of_a_pooled_head_rank_no_tokens():
    model = AdaptiveModel.wrap(FAMILIES[0].build("SequenceClassification")).add_ramps()
    assert model.ramps.layers == (0, 1, 2)
    with pytest.raises(PlanError, match="rank no tokens"):
        model(**batch_of(FAMILIES[0]), plan=Plan((1.0, 0.5, 0.5, 0.5), score="ramp"))


def test_the_question_is_kept_where_ramps_look_for_its_answer():
    model = AdaptiveModel.wrap(FAMILIES[0].build("QuestionAnswering")).add_ramps(range(4)).eval()
    batch = batch_of(FAMILIES[0])
    types = torch.zeros_like(batch["input_ids"])
    types[:, 5:] = 1
    out = model(**batch, token_type_ids=types, plan=Plan((1.0, 0.3, 0.3, 0.3), score="ramp"))
    kept = out.trace.kept_positions()[-1][2]
    assert kept[:5].tolist() == [0, 1, 2, 3, 4]
    assert int(out.kept[-1][2]) == 8


def test_every_layer_stays_where_none_is_to_be_dropped():
    import random

    assert drop_layers(Plan.full(4), 0.0, random.Random(0)) == Plan.full(4)


def test_ramps_know_their_layers():
    ramps = Ramps([3, 1], 16, 2, "class")
    assert ramps.layers == (1, 3)
    assert isinstance(ramps.at(3), Ramp)
