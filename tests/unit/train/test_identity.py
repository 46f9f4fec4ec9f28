"""What a resumed run must have in common with the run before it."""

import copy
from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertForSequenceClassification

from anyformer.model import AdaptiveModel
from anyformer.train.identity import model_digest, records_digest
from tests.unit.train.made import checkpoint


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = checkpoint(tmp_path_factory.mktemp("toy"))
    return AdaptiveModel.wrap(BertForSequenceClassification.from_pretrained(folder))


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
