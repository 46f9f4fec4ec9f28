"""Outputs of the paper's own implementation, where they are at hand."""

import json
import os
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertForQuestionAnswering, BertForSequenceClassification

from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.train.losses import distillation_loss

FOLDER = Path(os.environ.get("ANYFORMER_SHARED", Path(__file__).parents[3] / "shared")) / "golden"
pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the original implementation's outputs are not here")
HEADS = {"classification": BertForSequenceClassification, "qa": BertForQuestionAnswering}


@pytest.fixture(scope="module")
def golden():
    about = json.loads((FOLDER / "length_adaptive_bert.json").read_text())
    return about, load_file(FOLDER / "length_adaptive_bert.safetensors")


def _model(task, about, tensors):
    config = BertConfig(
        vocab_size=about["vocab"],
        hidden_size=about["hidden"],
        num_hidden_layers=about["layers"],
        num_attention_heads=about["heads"],
        intermediate_size=about["ffn"],
        max_position_embeddings=about["max_positions"],
        num_labels=about["labels"] if task == "classification" else 2,
    )
    hf = HEADS[task](config).eval()
    prefix = f"{task}/weights/"
    hf.load_state_dict(
        {k[len(prefix) :]: v for k, v in tensors.items() if k.startswith(prefix) and not k.endswith("position_ids")}
    )
    return AdaptiveModel.wrap(hf)


@torch.inference_mode()
@pytest.mark.parametrize("task", HEADS)
@pytest.mark.parametrize("plan", ["full", "p20", "mixed", "tiny", "last"])
def test_outputs_and_kept_tokens_equal_the_original(golden, task, plan):
    about, tensors = golden
    model = _model(task, about, tensors)
    out = model(input_ids=tensors["input_ids"], plan=Plan.from_counts(about["plans"][plan], about["tokens"]))
    names = ["logits"] if task == "classification" else ["start_logits", "end_logits"]
    for name in names:
        torch.testing.assert_close(out[name], tensors[f"{task}/{plan}/{name}"], atol=1e-5, rtol=1e-5)
    kept = torch.stack(out.trace.kept_positions())
    assert torch.equal(kept, tensors[f"{task}/{plan}/kept"].long())
    assert torch.equal(torch.stack(out.kept)[:, 0], torch.tensor(about["plans"][plan]))


@torch.inference_mode()
def test_restored_states_equal_the_original(golden):
    about, tensors = golden
    for task in HEADS:
        base = _model(task, about, tensors).hf.bert
        base.pooler = None if task == "qa" else base.pooler  # with a pooler the first token is protected
        encoder = AdaptiveModel.wrap(base)
        for plan, counts in about["plans"].items():
            out = encoder(input_ids=tensors["input_ids"], plan=Plan.from_counts(counts, about["tokens"]))
            wanted = tensors[f"{task}/{plan}/last_hidden_state"]
            torch.testing.assert_close(out.last_hidden_state, wanted, atol=1e-5, rtol=1e-5)


def test_distillation_losses_equal_the_originals(golden):
    _, tensors = golden
    student, teacher = tensors["distil/student_logits"], tensors["distil/teacher_logits"]
    for direction, name in (("reverse", "reference_direction"), ("forward", "forward_direction")):
        found = distillation_loss("class", [student], [teacher], direction) / len(student)
        torch.testing.assert_close(found, tensors[f"distil/{name}"][0], atol=1e-5, rtol=1e-5)
