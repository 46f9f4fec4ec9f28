"""What a resumed run must have in common with the run before it."""

import copy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

from anyformer.data.splits import Splits
from anyformer.model import AdaptiveModel
from anyformer.train.checkpoint import check_same
from anyformer.train.config import SettingsError
from anyformer.train.identity import identity, model_digest, records_digest
from tests.unit.train.made import checkpoint


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = checkpoint(tmp_path_factory.mktemp("toy"))
    return AdaptiveModel.wrap(BertForSequenceClassification.from_pretrained(folder))


def test_more_processes_and_labels_in_another_order_are_another_run():
    splits = Splits("classification", [{"text": "a", "label": 0}], [], ("neg", "pos"))
    one = identity({"run": {"seed": 0}}, splits, "a model", processes=1)
    check_same(one, identity({"run": {"seed": 0}}, splits, "a model", processes=1))
    other = replace(splits, label_names=("pos", "neg"))
    with pytest.raises(SettingsError, match=r"data\.labels was .*; processes was 1, is 2"):
        check_same(one, identity({"run": {"seed": 0}}, other, "a model", processes=2))


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_another_weight_is_another_model(model, dtype):
    one = copy.deepcopy(model).to(dtype)
    before, shapes = model_digest(one, weights=True), model_digest(one, weights=False)
    assert before == model_digest(copy.deepcopy(one), weights=True)
    one.hf.classifier.bias.data[0] += 1
    assert model_digest(one, weights=True) != before
    assert model_digest(one, weights=False) == shapes
    assert model_digest(one.add_ramps(), weights=False) != shapes


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"text": "a", "label": 0}, {"text": "a", "label": 1}),
        ({"image": Path("a.png")}, {"image": Path("b.png")}),
        ({"image": b"one"}, {"image": b"other"}),
        ({"image": np.zeros((2, 2))}, {"image": np.ones((2, 2))}),
    ],
)
def test_another_record_is_other_data(one, other):
    assert records_digest([one]) == records_digest([dict(one)])
    assert len({records_digest([one]), records_digest([other]), records_digest([one, one])}) == 3
