"""The wrapper: its arguments, its threads, its folder."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from transformers import (
    AutoModelForSequenceClassification,
    BertConfig,
    BertForSequenceClassification,
    GPT2Config,
    GPT2LMHeadModel,
)

from anyformer import AnyformerError, load
from anyformer.errors import FolderError, InputError, PlanError, UnsupportedModel
from anyformer.model import AdaptiveModel
from anyformer.plan import Exit, Plan
from tests.contract.families import FAMILIES, batch_of

BERT = FAMILIES[0]


@pytest.fixture(scope="module")
def model():
    return AdaptiveModel.wrap(BERT.build("SequenceClassification"))


@torch.inference_mode()
def test_two_threads_with_two_plans_get_what_each_gets_alone(model):
    jobs = [(Plan.at({1: 0.4}, 4), batch_of(BERT, seed=3)), (Plan.constant(0.3, 4), batch_of(BERT, seed=4))]
    wanted = [model(**batch, plan=plan).logits for plan, batch in jobs]

    def work(job):
        plan, batch = jobs[job]
        with torch.inference_mode():
            return [model(**batch, plan=plan).logits for _ in range(200)]

    with ThreadPoolExecutor(2) as pool:
        for job, results in enumerate(pool.map(work, range(2))):
            for logits in results:
                torch.testing.assert_close(logits, wanted[job])


@torch.inference_mode()
def test_the_output_says_what_was_kept_and_what_it_cost(model):
    out = model(**batch_of(BERT), plan=Plan((1.0, 0.5, 0.5, 0.25)))
    assert [k.tolist() for k in out.kept][1:] == [[7, 1, 12, 2, 4, 9], [7, 1, 12, 2, 4, 9], [4, 1, 6, 2, 2, 5]]
    assert out.exit_layer.tolist() == [3] * 6
    full = model(**batch_of(BERT))
    assert (out.macs <= full.macs).all()
    assert out.macs.shape == (6,)
    assert out.macs[2] < full.macs[2]


@torch.inference_mode()
def test_skipped_layers_do_not_run(model):
    batch = batch_of(BERT)
    skipped = model(**batch, plan=Plan((1.0,) * 4, layers=(0, 1, 3)))
    hf = BERT.build("SequenceClassification")
    del hf.bert.encoder.layer[2]
    torch.testing.assert_close(skipped.logits, hf(**batch).logits, atol=1e-5, rtol=1e-5)
    assert skipped.exit_layer.tolist() == [3] * 6


@torch.inference_mode()
def test_protected_tokens_never_leave(model):
    batch = batch_of(BERT)
    protect = torch.zeros_like(batch["attention_mask"], dtype=torch.bool)
    protect[2, [5, 11, 20]] = True
    last = model(**batch, plan=Plan.at({0: 0.1}, 4), protect=protect).trace.kept_positions()[-1][2]
    assert last[last >= 0].tolist() == [0, 5, 11, 20]


@torch.inference_mode()
def test_autocast_stays_near_float32(model):
    batch = batch_of(BERT)
    with torch.autocast("cpu", torch.bfloat16):
        half = model(**batch)
    torch.testing.assert_close(half.logits.float(), model(**batch).logits, atol=3e-2, rtol=3e-2)


@torch.inference_mode()
def test_a_bare_encoder_gives_its_states_restored_and_its_pooled_output():
    hf = BERT.build("SequenceClassification").bert
    batch = batch_of(BERT)
    out, plain = AdaptiveModel.wrap(hf)(**batch), hf(**batch)
    seen = batch["attention_mask"].bool()
    torch.testing.assert_close(out.last_hidden_state[seen], plain.last_hidden_state[seen], atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(out.pooler_output, plain.pooler_output, atol=1e-5, rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ({"plan": Plan.full(5)}, "5 layers, the model 4"),
        ({"plan": (1, 1, 1, 1)}, "must be a Plan"),
        ({"plan": Plan.full(4), "budget": "full"}, "not both"),
        ({"plan": Plan((1.0,) * 4, exit=Exit("entropy", 0.3))}, "exit heads"),
        ({"plan": Plan((1.0,) * 4, score="ramp")}, "exit heads"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(model, call, words):
    with pytest.raises(PlanError, match=words):
        model(**batch_of(BERT), **call)


def test_a_budget_without_a_frontier_names_the_command(model):
    with pytest.raises(AnyformerError, match="anyformer search"):
        model(**batch_of(BERT), budget="40%")


@torch.inference_mode()
def test_the_full_budget_needs_no_frontier(model):
    batch = batch_of(BERT)
    assert torch.equal(model(**batch, budget="full").logits, model(**batch).logits)


def test_a_batch_that_cannot_be_run_is_refused(model):
    batch = batch_of(BERT)
    zeros = batch["attention_mask"].clone()
    zeros[3] = 0
    cases = [
        (batch | {"attention_mask": zeros}, "row 3 is all zeros"),
        (batch | {"attention_mask": zeros[:, :4]}, "expected"),
        (batch | {"output_attentions": True}, "output_attentions is not supported"),
        ({"attention_mask": zeros}, "found none"),
        ({"input_ids": torch.zeros(1, 600, dtype=torch.long)}, "512 positions"),
        ({"input_ids": torch.zeros(1, 0, dtype=torch.long)}, "no tokens"),
    ]
    for given, words in cases:
        with pytest.raises(InputError, match=words):
            model(**given)


def test_an_unsupported_architecture_is_named_with_what_is_supported():
    gpt = GPT2LMHeadModel(GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=10))
    with pytest.raises(UnsupportedModel, match=r"gpt2.*supported: albert.*add-a-family"):
        AdaptiveModel.wrap(gpt)


def test_nan_weights_are_refused_and_named():
    hf = BERT.build("SequenceClassification")
    with torch.no_grad():
        hf.classifier.bias[0] = torch.nan
    with pytest.raises(AnyformerError, match=r"classifier\.bias holds NaN"):
        AdaptiveModel.wrap(hf)


@torch.inference_mode()
def test_a_saved_folder_loads_as_the_plain_model_and_as_ours(model, tmp_path):
    model.save(tmp_path / "out")
    batch = batch_of(BERT)
    plain = AutoModelForSequenceClassification.from_pretrained(tmp_path / "out")
    assert torch.equal(plain(**batch).logits, model.hf(**batch).logits)
    assert torch.equal(load(tmp_path / "out")(**batch).logits, model(**batch).logits)


def test_a_flipped_byte_in_any_file_is_refused_and_named(model, tmp_path):
    model.save(tmp_path / "out")
    for file in sorted((tmp_path / "out").iterdir()):
        good = file.read_bytes()
        file.write_bytes(bytes([good[0] ^ 1]) + good[1:])
        with pytest.raises(FolderError, match=file.name):
            load(tmp_path / "out")
        file.write_bytes(good[: len(good) // 2])
        with pytest.raises(FolderError, match=file.name):
            load(tmp_path / "out")
        file.write_bytes(good)
    load(tmp_path / "out")


def test_a_folder_without_a_manifest_is_refused(tmp_path):
    with pytest.raises(FolderError, match=r"manifest\.json"):
        load(tmp_path)
    with pytest.raises(FolderError, match="not a folder"):
        load(tmp_path / "nowhere")


def test_saving_over_a_folder_replaces_it_whole(model, tmp_path):
    model.save(tmp_path / "out")
    other = AdaptiveModel.wrap(BertForSequenceClassification(BertConfig(**BERT.config, num_labels=5)))
    other.save(tmp_path / "out")
    assert load(tmp_path / "out").config.num_labels == 5
