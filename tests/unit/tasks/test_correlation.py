"""Correlations, against numpy and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.tasks.correlation import pearson, ranks, spearman

VALUES = st.lists(st.integers(-50, 50), min_size=3, max_size=20)


@given(VALUES, st.integers(0, 1000))
def test_pearson_is_numpys(values, seed):
    a = np.array(values, dtype=float)
    b = np.random.default_rng(seed).normal(size=len(a))
    if a.std() > 0:
        assert pearson(a, b) == pytest.approx(np.corrcoef(a, b)[0, 1])


def test_equal_values_share_the_mean_of_their_ranks():
    assert ranks(np.array([3.0, 1.0, 3.0, 2.0])).tolist() == [3.5, 1, 3.5, 2]


@given(VALUES)
def test_spearman_sees_the_order_only(values):
    a = np.array(values, dtype=float)
    assert spearman(a, np.exp(a / 10)) == pytest.approx(1 if a.std() > 0 else 0)
    assert spearman(a, -a) == pytest.approx(-1 if a.std() > 0 else 0)


def test_a_constant_correlates_with_nothing():
    assert pearson(np.ones(4), np.arange(4.0)) == 0
