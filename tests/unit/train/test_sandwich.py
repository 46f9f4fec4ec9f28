"""The step against one written out naively."""

import copy

import pytest
import torch

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan, Space
from anyformer.train.draws import Draws, draw
from anyformer.train.sandwich import Step, sandwich_step
from tests.contract.families import FAMILIES, batch_of
from tests.unit.train.naive import naive_step

STUDENTS = (Plan((0.8, 0.6, 0.5, 0.4)), Plan((1.0, 0.7, 0.7, 0.3), layers=(0, 1, 3)), Plan.at({1: 0.25}, 4))


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("full", [Plan.full(4), Plan((1.0,) * 4, layers=(0, 2, 3))], ids=["full", "layerdrop"])
def test_a_step_equals_the_naive_one_in_loss_and_every_gradient(direction, full):
    hf = FAMILIES[0].build("SequenceClassification", attn_implementation="eager")
    naive = copy.deepcopy(hf)
    model, draws = AdaptiveModel.wrap(hf), Draws(full, STUDENTS)
    batch = batch_of(FAMILIES[0]) | {"labels": torch.tensor([0, 2, 1, 1, 0, 2])}
    rows = [ids[mask.bool()] for ids, mask in zip(batch["input_ids"], batch["attention_mask"], strict=True)]
    wanted = naive_step(naive, rows, batch["labels"], draws, direction)
    label, distance = sandwich_step(model, batch, draws, Step(kl=direction), scale=1 / 6)
    torch.testing.assert_close((label + distance) / 6 / 4, wanted, atol=1e-5, rtol=1e-5)
    plain = dict(naive.named_parameters())
    for name, parameter in hf.named_parameters():
        torch.testing.assert_close(parameter.grad, plain[name].grad, atol=1e-5, rtol=1e-5, msg=name)


@pytest.mark.parametrize("head", ["TokenClassification", "QuestionAnswering", "SequenceClassification"])
def test_ramps_learn_on_the_full_pass_and_rank_tokens_on_the_others(head):
    model = AdaptiveModel.wrap(FAMILIES[0].build(head)).add_ramps(range(4))
    batch = batch_of(FAMILIES[0])
    labels = {
        "TokenClassification": {"labels": torch.where(batch["attention_mask"].bool(), batch["input_ids"] % 3, -100)},
        "QuestionAnswering": {"start_positions": torch.zeros(6).long(), "end_positions": torch.zeros(6).long()},
        "SequenceClassification": {"labels": torch.arange(6) % 3},
    }[head]
    score = "attention" if head == "SequenceClassification" else "ramp"
    for from_labels in (True, False):
        model.zero_grad()
        draws = Draws(Plan.full(4), (Plan((0.8, 0.6, 0.5, 0.4), score=score),))
        sandwich_step(model, batch | labels, draws, Step(ramps_learn_from_labels=from_labels), scale=1 / 6)
        assert all(p.grad is not None and p.grad.abs().sum() > 0 for p in model.ramps.parameters())


def test_without_students_the_step_is_ordinary_fine_tuning():
    hf = FAMILIES[0].build("SequenceClassification")
    plain = copy.deepcopy(hf)
    batch = batch_of(FAMILIES[0]) | {"labels": torch.arange(6) % 3}
    sandwich_step(AdaptiveModel.wrap(hf), batch, Draws(Plan.full(4), ()), Step(), scale=1 / 6)
    plain(**batch).loss.backward()
    wanted = dict(plain.named_parameters())
    for name, parameter in hf.named_parameters():
        torch.testing.assert_close(parameter.grad, wanted[name].grad, atol=1e-5, rtol=1e-5, msg=name)


def test_draws_are_a_pure_function_of_their_key():
    spaces = [Space(6, "every"), Space(6, "few")]
    one, two = (draw(spaces, 2, "students", 0.2, "attention", (3, 17, 1)) for _ in range(2))
    other = draw(spaces, 2, "students", 0.2, "attention", (3, 17, 2))
    assert one == two != other
    assert len(one.students) == 3
    assert one.full == Plan.full(6)


def test_layerdrop_never_leaves_a_model_empty_and_spares_whom_it_should():
    spaces = [Space(2, "every")]
    for step in range(200):
        everyone = draw(spaces, 2, "all", 0.9, "attention", (0, step))
        assert all(plan.running for plan in (everyone.full, *everyone.students))
        nobody = draw(spaces, 2, "none", 0.9, "attention", (0, step))
        assert all(plan.layers is None for plan in (nobody.full, *nobody.students))
