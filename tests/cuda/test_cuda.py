"""The loop on a GPU: the same answers as the plain model and as on a CPU."""

import copy

import pytest
import torch

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from tests.contract.families import CASES, IDS, alone, batch_of, outputs

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device here")
CUT = Plan((0.9, 0.6, 0.6, 0.3))


@pytest.fixture(params=CASES, ids=IDS)
def case(request):
    family, head = request.param
    hf = family.build(head)
    return family, head, hf, AdaptiveModel.wrap(copy.deepcopy(hf).cuda())


def _moved(batch):
    return {name: tensor.cuda() for name, tensor in batch.items()}


def _real(head, batch, tensor):
    if "attention_mask" not in batch or "Sequence" in head or "Image" in head:
        return tensor
    return tensor[batch["attention_mask"].bool()]


@torch.inference_mode()
def test_float32_equals_the_plain_model_and_the_loop_on_a_cpu(case):
    family, head, hf, model = case
    batch = batch_of(family)
    on_cpu = AdaptiveModel.wrap(hf)
    for plan, plain in ((None, hf(**batch)), (CUT, on_cpu(**batch, plan=CUT))):
        for ours, wanted in zip(outputs(model(**_moved(batch), plan=plan)), outputs(plain), strict=True):
            real = _real(head, batch, ours.cpu()), _real(head, batch, wanted)
            torch.testing.assert_close(*real, atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_bf16_stays_near_float32(case):
    family, head, hf, model = case
    batch = batch_of(family)
    with torch.autocast("cuda", torch.bfloat16):
        half = outputs(model(**_moved(batch)))
    for ours, wanted in zip(half, outputs(hf(**batch)), strict=True):
        real = _real(head, batch, ours.float().cpu()), _real(head, batch, wanted)
        spread = max(1.0, float(real[1].abs().max()))
        assert float((real[0] - real[1]).abs().max()) <= 3e-2 * spread


@torch.inference_mode()
def test_a_cut_plan_gives_in_a_batch_what_it_gives_alone(case):
    family, _, _, model = case
    batch = batch_of(family)
    together = outputs(model(**_moved(batch), plan=CUT))
    for b in range(len(together[0])):
        single = outputs(model(**_moved(alone(batch, b)), plan=CUT))
        for one, many in zip(single, together, strict=True):
            torch.testing.assert_close(many[b : b + 1, : one.shape[1]], one, atol=1e-4, rtol=1e-4)


def test_gradients_equal_those_of_the_plain_model(case):
    family, head, hf, model = case
    batch = batch_of(family)
    plain = copy.deepcopy(hf).cuda()
    for net in (model, plain):
        sum(_real(head, _moved(batch), t).square().mean() for t in outputs(net(**_moved(batch)))).backward()
    wanted = dict(plain.named_parameters())
    for name, parameter in model.hf.named_parameters():
        if wanted[name].grad is not None:
            torch.testing.assert_close(parameter.grad, wanted[name].grad, atol=1e-4, rtol=1e-3)
