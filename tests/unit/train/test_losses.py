"""Losses by hand."""

import math
from types import SimpleNamespace

import pytest
import torch

from anyformer.errors import InputError
from anyformer.train.losses import distillation_loss, distributions, divergence, label_loss, n_units, targets

STUDENT = torch.tensor([[0.9, 0.1]]).log()
TEACHER = torch.tensor([[0.5, 0.5]]).log()


def test_forward_weighs_by_the_teacher_and_reverse_by_the_student():
    forward = 0.5 * math.log(0.5 / 0.9) + 0.5 * math.log(0.5 / 0.1)
    reverse = 0.9 * math.log(0.9 / 0.5) + 0.1 * math.log(0.1 / 0.5)
    assert float(divergence(STUDENT, TEACHER, "forward")) == pytest.approx(forward, abs=1e-6)
    assert float(divergence(STUDENT, TEACHER, "reverse")) == pytest.approx(reverse, abs=1e-6)
    assert forward != pytest.approx(reverse, abs=1e-2)


def test_temperature_softens_and_keeps_the_size_of_gradients():
    t = 2.0
    soft = [(p / p.sum()) for p in (torch.tensor([0.9, 0.1]) ** (1 / t), torch.tensor([0.5, 0.5]) ** (1 / t))]
    wanted = t * t * float((soft[1] * (soft[1] / soft[0]).log()).sum())
    assert float(divergence(STUDENT, TEACHER, "forward", t)) == pytest.approx(wanted, abs=1e-6)


def test_a_direction_that_is_not_known_is_refused():
    with pytest.raises(InputError, match="forward or reverse"):
        divergence(STUDENT, TEACHER, "sideways")


def test_the_student_is_pulled_towards_the_teacher_and_the_teacher_gets_no_gradient():
    for direction in ("forward", "reverse"):
        student, teacher = STUDENT.clone().requires_grad_(), TEACHER.clone().requires_grad_()
        distillation_loss("class", [student], [teacher], direction).backward()
        assert student.grad[0, 0] > 0 > student.grad[0, 1]
        assert teacher.grad is None


def test_measures_are_compared_by_their_squared_distance():
    assert float(distillation_loss("measure", [torch.tensor([[1.0], [4.0]])], [torch.tensor([[2.0], [1.0]])])) == 10
    assert float(label_loss("measure", [torch.tensor([[1.0], [4.0]])], [torch.tensor([2.0, 1.0])])) == 10


def test_a_span_is_two_distributions_over_the_rows_own_tokens():
    mask = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0]])
    start = torch.tensor([[1.0, 2.0, 3.0, 50.0], [1.0, 1.0, 50.0, 50.0]])
    out = SimpleNamespace(start_logits=start, end_logits=start * 0)
    batch = {"attention_mask": mask, "start_positions": torch.tensor([2, 0]), "end_positions": torch.tensor([1, 1])}
    found = distributions("span", out, batch)
    of_row_0 = -math.log(math.exp(3) / sum(map(math.exp, (1, 2, 3))))
    wanted = (of_row_0 + math.log(2) + math.log(3) + math.log(2)) / 2
    assert float(label_loss("span", found, targets("span", batch))) == pytest.approx(wanted, abs=1e-5)
    assert n_units("span", batch) == 2
    other = SimpleNamespace(start_logits=start.masked_fill(mask == 0, -7), end_logits=start * 0)
    assert float(distillation_loss("span", distributions("span", other, batch), found)) == pytest.approx(0, abs=1e-6)


def test_only_labelled_tokens_of_a_tagging_batch_count():
    logits = torch.zeros(1, 3, 2)
    logits[0, 1] = torch.tensor([9.0, -9.0])
    batch = {"labels": torch.tensor([[0, -100, 1]])}
    found = distributions("tag", SimpleNamespace(logits=logits), batch)
    assert float(label_loss("tag", found, targets("tag", batch))) == pytest.approx(2 * math.log(2), abs=1e-6)
    assert n_units("tag", batch) == 2
