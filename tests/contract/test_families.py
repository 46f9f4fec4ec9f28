"""What every family must do, head by head."""

import pytest
import torch

from anyformer.length import significance
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from tests.contract.families import CASES, FAMILIES, IDS, LENGTHS, alone, batch_of, outputs, select_rows

CUT = Plan((0.9, 0.6, 0.6, 0.3))


@pytest.fixture(params=CASES, ids=IDS, scope="module")
def case(request):
    family, head = request.param
    hf = family.build(head)
    return family, head, hf, AdaptiveModel.wrap(hf)


def _real(case, batch, tensor):
    """Scores of real tokens; a pooled head has none but those."""
    if tensor.ndim == 1 or "attention_mask" not in batch or case[1] == "SequenceClassification":
        return tensor
    return tensor[batch["attention_mask"].bool()]


def _assert_equal(case, batch, ours, plain, tolerance):
    for a, b in zip(outputs(ours), outputs(plain), strict=True):
        torch.testing.assert_close(_real(case, batch, a), _real(case, batch, b), atol=tolerance, rtol=tolerance)


@torch.inference_mode()
@pytest.mark.parametrize("side", ["right", "left"])
def test_the_full_plan_equals_the_plain_model(case, side):
    family, head, hf, model = case
    if side == "left" and head == "SequenceClassification" and family.prefix == "DebertaV2":
        return  # the stock model reads a padded token that sees all padding; the next test says what ours reads
    near = side == "left" and family.prefix == "ModernBert"  # within reach of the sliding window, or stock sees padding
    batch = batch_of(family, (24, 22, 21, 20) if near else LENGTHS, side=side)
    _assert_equal(case, batch, model(**batch), hf(**batch), 1e-5)


@torch.inference_mode()
def test_deberta_reads_the_first_real_token_under_left_padding():
    family = next(f for f in FAMILIES if f.name == "deberta-v3")
    model = AdaptiveModel.wrap(family.build("SequenceClassification"))
    left, right = (model(**batch_of(family, side=side)).logits for side in ("left", "right"))
    torch.testing.assert_close(left, right, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_a_cut_plan_gives_in_a_batch_what_it_gives_alone(case):
    family, _, _, model = case
    batch = batch_of(family)
    order = [3, 0, 5, 1, 4, 2]
    together = model(**batch, plan=CUT)
    shuffled = model(**select_rows(batch, order), plan=CUT)
    for b in range(len(order)):
        single = outputs(model(**alone(batch, b), plan=CUT))
        for one, many, moved in zip(single, outputs(together), outputs(shuffled), strict=True):
            n = one.shape[1]
            torch.testing.assert_close(many[b : b + 1, :n], one, atol=1e-4, rtol=1e-4)
            torch.testing.assert_close(moved[order.index(b)][None, :n], one, atol=1e-4, rtol=1e-4)


@torch.inference_mode()
def test_inputs_embeds_do_what_the_tokens_do(case):
    family, _, hf, model = case
    batch = batch_of(family)
    if "input_ids" not in batch:
        return  # images come as pixels only
    embeds = hf.get_input_embeddings()(batch["input_ids"])
    given = {"inputs_embeds": embeds, "attention_mask": batch["attention_mask"]}
    _assert_equal(case, batch, model(**given), hf(**given), 1e-5)


def test_gradients_of_the_full_plan_equal_those_of_the_plain_model(case):
    family, _, hf, model = case
    batch = batch_of(family)
    found = []
    for net in (model, hf):
        hf.zero_grad()
        loss = sum(_real(case, batch, t).square().mean() for t in outputs(net(**batch)))
        loss.backward()
        found.append({name: p.grad.clone() for name, p in hf.named_parameters() if p.grad is not None})
    hf.zero_grad()
    ours, plain = found
    assert set(plain) == set(ours)
    for name, gradient in plain.items():
        torch.testing.assert_close(ours[name], gradient, atol=1e-4, rtol=1e-4, msg=lambda m, n=name: f"{n}: {m}")


def test_a_cut_plan_trains_alike_with_and_without_recomputation():
    for family in FAMILIES:
        if family.name == "albert" or not family.build(family.heads[0]).supports_gradient_checkpointing:
            continue
        found = []
        for recompute in (False, True):
            hf = family.build(family.heads[-1]).train()
            if recompute:
                getattr(hf, "activation_checkpointing_enable", hf.gradient_checkpointing_enable)()
            torch.manual_seed(5)
            loss = sum(t.square().mean() for t in outputs(AdaptiveModel.wrap(hf).train()(**batch_of(family), plan=CUT)))
            loss.backward()
            found.append([p.grad for p in hf.parameters()])
        for one, two in zip(*found, strict=True):
            assert (one is None) == (two is None)
            if one is not None:
                torch.testing.assert_close(one, two)


@torch.inference_mode()
def test_a_call_leaves_nothing_on_the_wrapped_model(case):
    family, head, hf, model = case
    before = _state(hf)
    labels = {} if head != "SequenceClassification" else {"labels": torch.zeros(len(LENGTHS), dtype=torch.long)}
    model(**batch_of(family), **labels, plan=CUT)
    assert _state(hf) == before


def _state(hf):
    seen = []
    for name, module in hf.named_modules():
        plain = {
            k: repr(v) for k, v in vars(module).items() if k not in ("_parameters", "_buffers", "_modules", "config")
        }
        seen.append((name, plain, sorted(module._parameters), sorted(module._buffers), sorted(module._modules)))
    return seen, hf.config.to_dict()


@torch.inference_mode()
def test_losses_are_the_models_own(case):
    family, head, hf, model = case
    batch = batch_of(family, lengths=(9, 9, 9))
    width = 9 if head == "TokenClassification" else None
    label = torch.tensor([0, 2, 1]) if width is None else torch.arange(27).reshape(3, 9) % 3
    labels = {"labels": label}
    if head == "QuestionAnswering":
        labels = {"start_positions": torch.tensor([1, 2, 3]), "end_positions": torch.tensor([4, 5, 6])}
    torch.testing.assert_close(model(**batch, **labels).loss, hf(**batch, **labels).loss, atol=1e-5, rtol=1e-5)


@torch.inference_mode()
def test_the_square_that_a_gpu_runs_gives_what_rows_of_one_length_give(case, monkeypatch):
    family, _, _, model = case
    wanted = [model(**batch_of(family, side=side), plan=CUT) for side in ("right", "left")]
    monkeypatch.setattr(significance, "_groups", lambda rows, q: [rows])
    for side, by_row in zip(("right", "left"), wanted, strict=True):
        out = model(**batch_of(family, side=side), plan=CUT)
        for ours, other in zip(outputs(out), outputs(by_row), strict=True):
            torch.testing.assert_close(ours, other, atol=1e-5, rtol=1e-5)
        for ours, other in zip(out.trace.kept_positions(), by_row.trace.kept_positions(), strict=True):
            assert torch.equal(ours, other)


@torch.inference_mode()
def test_bf16_autocast_stays_near_float32(case):
    family, _, hf, model = case
    batch = batch_of(family)
    with torch.autocast("cpu", torch.bfloat16):
        half = model(**batch)
    for ours, wanted in zip(outputs(half), outputs(hf(**batch)), strict=True):
        real = _real(case, batch, ours.float()), _real(case, batch, wanted)
        assert float((real[0] - real[1]).abs().max()) <= 3e-2 * max(1.0, float(real[1].abs().max()))


@torch.inference_mode()
@pytest.mark.parametrize("score", ["ramp", "both"])
def test_tokens_ranked_by_ramps_leave_in_a_batch_as_alone(case, score):
    family, head, hf, _ = case
    if head not in ("TokenClassification", "QuestionAnswering"):
        return  # a pooled head's ramps rank no tokens
    torch.manual_seed(0)
    model = AdaptiveModel.wrap(hf).add_ramps(range(4)).eval()
    batch, plan = batch_of(family), Plan(CUT.keep, score=score)
    together, by_attention = model(**batch, plan=plan), model(**batch, plan=CUT)
    kept = together.trace.kept_positions()[-1]
    assert not torch.equal(kept, by_attention.trace.kept_positions()[-1])
    for b in range(len(LENGTHS)):
        out = model(**alone(batch, b), plan=plan)
        for one, many in zip(outputs(out), outputs(together), strict=True):
            torch.testing.assert_close(many[b : b + 1, : one.shape[1]], one, atol=1e-4, rtol=1e-4)
    assert (together.macs > by_attention.macs).all()
