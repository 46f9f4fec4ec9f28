"""Selecting, dropping, restoring."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from anyformer.length.drop import Left, select
from anyformer.length.significance import Attention, attend
from anyformer.rows import Rows


def _rows(*lengths):
    width = max(lengths)
    return Rows.of(torch.arange(width) < torch.tensor(lengths)[:, None])


def test_the_highest_scores_stay_in_their_order():
    rows = _rows(4, 3)
    keep = select(torch.tensor([0.1, 0.9, 0.2, 0.8, 0.3, 0.1, 0.2]), rows, (2, 2))
    assert keep.tolist() == [False, True, False, True, True, False, True]


def test_protected_tokens_stay_whatever_their_score():
    rows = _rows(4)
    keep = select(torch.tensor([0.0, 0.9, 0.8, 0.7]), rows, (2,), torch.tensor([True, False, False, False]))
    assert keep.tolist() == [True, True, False, False]


def test_equal_scores_keep_the_earlier_token():
    assert select(torch.ones(5), _rows(5), (3,)).tolist() == [True, True, True, False, False]


@given(st.lists(st.integers(1, 8), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
def test_restoring_gives_every_token_its_last_state(lengths, seed):
    torch.manual_seed(seed)
    rows, left = _rows(*lengths), Left()
    start = rows
    x = torch.zeros(rows.total)
    for layer in range(1, 4):
        wanted = tuple(max(1, n - layer) for n in lengths)
        before = x
        x = x + 1
        keep = select(torch.rand(rows.total), rows, wanted)
        left = left.joined(before, rows, keep, sum(wanted))
        rows, pick = rows.take(keep, wanted)
        x = x[pick]
    states, cells = left.restore(x, rows)
    assert sorted(cells.tolist()) == sorted(start.cells.tolist())
    n_full = sum(max(1, n - 3) for n in lengths)
    assert int((states == 3).sum()) == n_full


def _naive(q, k, v, scale):
    probabilities = (q.transpose(0, 1) @ k.permute(1, 2, 0) * scale).softmax(-1)
    return (probabilities @ v.transpose(0, 1)).transpose(0, 1).flatten(1), probabilities.sum((0, 1))


def test_context_and_score_equal_the_naive_ones_with_and_without_gradients():
    rows = _rows(5, 1, 7)
    torch.manual_seed(0)
    q, k, v = (torch.randn(rows.total, 4, 8) for _ in range(3))
    for eager in (False, True):
        with torch.set_grad_enabled(eager):
            context, score = attend(q, k, v, rows, Attention(0.3, eager=eager), scored=True)
        pieces = zip(*(rows.split(t) for t in (q, k, v, context, score)), strict=True)
        for q1, k1, v1, context1, score1 in pieces:
            wanted, significance = _naive(q1, k1, v1, 0.3)
            torch.testing.assert_close(context1, wanted)
            torch.testing.assert_close(score1, significance)


def test_the_significance_of_a_row_sums_to_heads_times_tokens():
    rows = _rows(6, 3)
    torch.manual_seed(0)
    q, k, v = (torch.randn(rows.total, 4, 8) for _ in range(3))
    _, score = attend(q, k, v, rows, Attention(1.0), scored=True)
    assert [round(float(s.sum()), 3) for s in rows.split(score)] == [24.0, 12.0]


def test_guests_neither_vote_nor_are_seen():
    torch.manual_seed(0)
    q, k, v = (torch.randn(4, 2, 8) for _ in range(3))
    mask = torch.tensor([[False, True, True, True]])
    rows = Rows.of(mask, guests=~mask)
    context, score = attend(q, k, v, rows, Attention(1.0), scored=True)
    wanted, significance = attend(q[1:], k[1:], v[1:], Rows.of(torch.ones(1, 3)), Attention(1.0), scored=True)
    torch.testing.assert_close(context[1:], wanted)
    torch.testing.assert_close(score, torch.cat([torch.zeros(1), significance]))
