"""A packed twin gives what the model gives, in every family, on every thread."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch

from anyformer.engine.packed import packed
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from tests.contract.families import CASES, IDS, batch_of, outputs

PLANS = (Plan.full(4), Plan((0.8, 0.6, 0.5, 0.4)))


def made():
    return AdaptiveModel.wrap(CASES[0][0].build("SequenceClassification")), batch_of(CASES[0][0])


@pytest.mark.parametrize(("family", "head"), CASES, ids=IDS)
def test_every_family_gives_the_same_and_costs_the_same(family, head):
    model, batch = AdaptiveModel.wrap(family.build(head)), batch_of(family)
    twin = packed(model)
    with torch.inference_mode():
        for plan in PLANS:
            found, wanted = twin(**batch, plan=plan), model(**batch, plan=plan)
            for ours, plain in zip(outputs(found), outputs(wanted), strict=True):
                torch.testing.assert_close(ours, plain, atol=1e-5, rtol=1e-5)
            assert torch.equal(found.macs, wanted.macs)


def test_the_model_is_left_alone_and_its_weights_are_shared():
    model, _ = made()
    before = [type(module) for module in model.modules()]
    twin = packed(model)
    assert [type(module) for module in model.modules()] == before
    for (name, own), (other, shared) in zip(model.named_parameters(), twin.named_parameters(), strict=True):
        assert name == other
        assert own is shared


def test_bf16_stays_near_float32():
    model, batch = made()
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        found, wanted = packed(model)(**batch).logits, model(**batch).logits
    assert found.dtype == wanted.dtype
    torch.testing.assert_close(found, wanted, atol=3e-2, rtol=3e-2)


def test_with_gradients_nothing_is_packed():
    model, batch = made()
    packed(model)(**batch).logits.sum().backward()
    assert all(parameter.grad is not None for name, parameter in model.named_parameters() if "classifier" in name)


def test_weights_that_changed_are_packed_again():
    model, batch = made()
    twin = packed(model)
    with torch.inference_mode():
        before = twin(**batch).logits
    with torch.no_grad():
        for parameter in model.hf.bert.encoder.layer[0].parameters():
            parameter.mul_(1.5)
    with torch.inference_mode():
        assert not torch.allclose(twin(**batch).logits, before)
        torch.testing.assert_close(twin(**batch).logits, model(**batch).logits, atol=1e-5, rtol=1e-5)


def test_threads_share_a_twin():
    model, batch = made()
    twin = packed(model)

    def call(plan):
        with torch.inference_mode():
            return [twin(**batch, plan=plan).logits for _ in range(20)]

    alone = [call(plan)[0] for plan in PLANS]
    with ThreadPoolExecutor(2) as pool:
        for found, wanted in zip(pool.map(call, PLANS), alone, strict=True):
            assert all(torch.equal(one, wanted) for one in found)
