"""Batches by a budget of tokens, and their tensors."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from anyformer.errors import InputError
from anyformer.tasks.base import Feature
from anyformer.tasks.batches import collate, make_batches

LENGTHS = st.lists(st.integers(0, 50), max_size=60)
SEEDS = st.none() | st.integers(0, 100)


@given(LENGTHS, st.integers(1, 200), SEEDS, st.integers(1, 20), st.none() | st.integers(1, 5))
def test_every_index_comes_once_and_the_budget_is_kept(lengths, max_tokens, seed, bucket, max_rows):
    batches = make_batches(lengths, max_tokens, seed, bucket, max_rows)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) == 1 or max(lengths[i] for i in batch) * len(batch) <= max_tokens
        assert len(batch) <= (max_rows or len(batch))


@given(LENGTHS, SEEDS)
def test_the_same_call_makes_the_same_batches(lengths, seed):
    assert make_batches(lengths, 64, seed) == make_batches(lengths, 64, seed)


def test_another_seed_makes_other_batches():
    lengths = [i % 17 + 1 for i in range(200)]
    assert make_batches(lengths, 64, 1) != make_batches(lengths, 64, 2)


def test_without_a_seed_the_longest_come_first():
    assert make_batches([1, 9, 3, 9], 18) == [[1, 3], [2, 0]]


def test_shuffled_rows_of_a_bucket_are_about_as_long():
    lengths = [i % 100 + 1 for i in range(2000)]
    batches = make_batches(lengths, 1000, shuffle_seed=3, bucket=1000)
    padded = sum(max(lengths[i] for i in batch) * len(batch) for batch in batches)
    assert padded < 1.1 * sum(lengths)


@pytest.mark.parametrize("wrong", [{"max_tokens": 0}, {"bucket": 0}, {"max_rows": 0}])
def test_a_budget_of_nothing_is_refused(wrong):
    with pytest.raises(InputError, match="must be at least 1"):
        make_batches([1], **({"max_tokens": 1} | wrong))


def feature(ids, labels=None):
    return Feature(0, {"input_ids": ids, "token_type_ids": [1] * len(ids)}, len(ids), labels)


@given(st.lists(st.lists(st.integers(1, 9), min_size=1, max_size=6), min_size=1, max_size=4), st.booleans())
def test_a_batch_holds_its_rows_and_masks_the_rest(rows, left):
    batch = collate([feature(ids) for ids in rows], pad_id=77, side="left" if left else "right")
    mask = batch["attention_mask"].bool()
    assert [ids[own].tolist() for ids, own in zip(batch["input_ids"], mask, strict=True)] == rows
    assert set(batch["input_ids"][~mask].tolist()) <= {77}
    assert not batch["token_type_ids"][~mask].any()
    assert mask[:, -1 if left else 0].all()


@pytest.mark.parametrize(
    ("labels", "key", "wanted"),
    [
        ((1, 0), "labels", torch.tensor([1, 0])),
        ((1.5, 0.0), "labels", torch.tensor([1.5, 0.0])),
        ((np.array([3, -100]), np.array([4])), "labels", torch.tensor([[3, -100], [4, -100]])),
        (({"start_positions": 0}, {"start_positions": 1}), "start_positions", torch.tensor([0, 1])),
    ],
)
def test_labels_are_numbers_of_rows_of_tokens_or_positions(labels, key, wanted):
    found = collate([feature([5, 6], labels[0]), feature([7], labels[1])], pad_id=0)[key]
    assert found.dtype == wanted.dtype
    assert torch.equal(found, wanted)


def test_labels_of_tokens_are_padded_on_the_same_side():
    batch = collate([feature([5, 6], np.array([1, 2])), feature([7], np.array([3]))], 0, "left")
    assert batch["labels"].tolist() == [[1, 2], [-100, 3]]


def test_positions_count_from_the_left_only():
    with pytest.raises(InputError, match="side='right'"):
        collate([feature([5], {"start_positions": 0})], 0, "left")
    with pytest.raises(InputError, match="choose right or left"):
        collate([feature([5])], 0, "middle")
