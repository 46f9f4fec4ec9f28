"""Packed linear layers give what the plain ones give, in every family, on every thread."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch import nn

from anyformer.engine.packed import packed
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from tests.contract.families import CASES, IDS, batch_of, outputs

PLANS = (Plan.full(4), Plan((0.8, 0.6, 0.5, 0.4)))


@pytest.mark.parametrize(("family", "head"), CASES, ids=IDS)
def test_every_family_gives_the_same(family, head):
    model, batch = AdaptiveModel.wrap(family.build(head)), batch_of(family)
    scope = packed(model)
    with torch.inference_mode():
        for plan in PLANS:
            wanted = model(**batch, plan=plan)
            with scope:
                found = model(**batch, plan=plan)
            for ours, plain in zip(outputs(found), outputs(wanted), strict=True):
                torch.testing.assert_close(ours, plain, atol=1e-5, rtol=1e-5)


def test_bf16_autocast_and_bf16_weights_stay_bf16():
    linear, x = nn.Linear(32, 64), torch.randn(5, 32)
    with torch.inference_mode():
        with torch.autocast("cpu", torch.bfloat16):
            wanted = linear(x)
            with packed(linear):
                found = linear(x)
        assert found.dtype == wanted.dtype == torch.bfloat16
        torch.testing.assert_close(found, wanted, atol=2e-2, rtol=2e-2)
        half = nn.Linear(32, 64, dtype=torch.bfloat16)
        with packed(half):
            assert half(x.bfloat16()).dtype == torch.bfloat16


def test_outside_of_the_scope_and_with_gradients_nothing_changes():
    linear, x = nn.Linear(8, 8), torch.randn(3, 8)
    scope = packed(linear)
    with scope:
        linear(x).sum().backward()
    assert linear.weight.grad is not None
    assert not scope.packed
    with torch.inference_mode():
        linear(x)
    assert not scope.packed


def test_weights_that_changed_are_packed_again():
    linear, x = nn.Linear(8, 8), torch.randn(3, 8)
    scope = packed(linear)
    with torch.inference_mode(), scope:
        linear(x)
    with torch.no_grad():
        linear.weight.mul_(2)
    with torch.inference_mode():
        with scope:
            found = linear(x)
        torch.testing.assert_close(found, linear(x))


def test_weights_of_other_models_are_left_alone():
    one, other, x = nn.Linear(8, 8), nn.Linear(8, 8), torch.randn(3, 8)
    scope = packed(one)
    with torch.inference_mode(), scope:
        torch.testing.assert_close(other(x), x @ other.weight.T + other.bias)
    assert not scope.packed


def test_threads_share_a_scope():
    model, batch = AdaptiveModel.wrap(CASES[0][0].build("SequenceClassification")), batch_of(CASES[0][0])
    scope = packed(model)

    def call(plan):
        with torch.inference_mode(), scope:
            return [model(**batch, plan=plan).logits for _ in range(20)]

    alone = [call(plan)[0] for plan in PLANS]
    with ThreadPoolExecutor(2) as pool:
        for found, wanted in zip(pool.map(call, PLANS), alone, strict=True):
            assert all(torch.equal(one, wanted) for one in found)
