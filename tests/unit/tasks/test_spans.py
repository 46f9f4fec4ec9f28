"""The best spans, against trying all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.tasks.spans import best_spans, merged, stripped


@given(st.integers(0, 2**32 - 1), st.integers(1, 9), st.integers(1, 4), st.integers(1, 8))
def test_the_best_spans_are_those_that_trying_all_finds(seed, n, longest, n_best):
    random = np.random.default_rng(seed)
    start, end = random.normal(size=(2, n)).astype(np.float32)
    may = random.random(n) < 0.7
    every = [(float(start[i] + end[j]), i, j) for i in range(n) for j in range(i, min(n, i + longest)) if may[i]]
    wanted = sorted(every, reverse=True)[:n_best]
    found = best_spans(start, end, may, longest, n_best)
    assert [(i, j) for _, i, j in found] == [(i, j) for _, i, j in wanted]
    assert [score for score, _, _ in found] == pytest.approx([score for score, _, _ in wanted])


def test_of_nothing_there_is_no_span():
    nothing = np.zeros(0, dtype=np.float32)
    assert best_spans(nothing, nothing, nothing.astype(bool), 30, 20) == []
    assert merged([], 20) == []


def test_numbers_that_are_none_make_no_span():
    nan = np.full(4, np.nan, dtype=np.float32)
    assert best_spans(nan, nan, np.ones(4, dtype=bool), 2, 3) == []


def test_windows_are_merged_and_a_span_counts_once():
    found = merged([(2.0, 0, 4), (3.0, 0, 4), (3.0, 7, 9)], n_best=5)
    assert found == [(0.5, 0, 4), (0.5, 7, 9)]
    assert merged([(2.0, 0, 4), (3.0, 7, 9)], n_best=1) == [(1.0, 7, 9)]


def test_white_space_at_the_ends_is_left_out():
    assert stripped("a  cat \n", 1, 8) == (3, 6)
    start, end = stripped("a   b", 1, 3)
    assert "a   b"[start:end] == ""
