"""Stock and padded against unpadded: the same embeddings, and what each side computed."""

import pytest
import torch

from anyformer.bench.padding import compare, mean_of_tokens, nearest, random_batches
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.tasks import Feature
from tests.contract.families import FAMILIES

LENGTHS = (5, 2, 9, 3, 3, 7, 4)


@pytest.fixture(scope="module")
def features():
    generator = torch.Generator().manual_seed(0)
    ids = [torch.randint(5, 100, (n,), generator=generator).numpy() for n in LENGTHS]
    return [Feature(i, {"input_ids": own}, len(own)) for i, own in enumerate(ids)]


@pytest.fixture(scope="module")
def model():
    return AdaptiveModel.wrap(FAMILIES[0].build("SequenceClassification").bert).eval()


def test_both_sides_give_the_same_and_padding_is_counted(model, features):
    found = compare(model, random_batches(features, 3, seed=1), pad_id=0)
    assert found.n_texts == len(LENGTHS)
    assert sorted(n for batch in found.lengths for n in batch) == sorted(LENGTHS)
    assert found.largest_difference < 1e-5
    assert found.same_neighbour == len(LENGTHS)
    assert found.unpadded.n_tokens == sum(LENGTHS)
    assert found.stock.n_tokens == sum(max(batch) * len(batch) for batch in found.lengths)
    full = Plan.full(model.n_layers)
    assert found.unpadded.macs == sum(model.shape.plan(full, n) for n in LENGTHS)
    assert len(found.stock.seconds) == len(found.unpadded.seconds) == len(found.lengths)
    assert 0 < found.padding < 1


def test_batches_hold_every_text_once_and_a_seed_is_an_order(features):
    one, again, other = (random_batches(features, 3, seed) for seed in (0, 0, 1))
    assert one == again != other
    assert sorted(f.example for batch in one for f in batch) == list(range(len(LENGTHS)))


def test_the_mean_leaves_padding_out():
    states = torch.tensor([[[1.0], [3.0], [100.0]]])
    assert mean_of_tokens(states, torch.tensor([[1, 1, 0]])).tolist() == [[2.0]]


def test_a_text_is_not_its_own_neighbour():
    embeddings = torch.tensor([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0]]).numpy()
    assert nearest(embeddings).tolist() == [1, 0, 1]
