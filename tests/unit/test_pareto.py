"""Fronts, hypervolume and area of (cost, score) pairs."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.pareto import area, front, front_indices, hypervolume

WHOLE = st.integers(0, 12)
PAIRS = st.lists(st.tuples(WHOLE, WHOLE), max_size=25)
SOME_PAIRS = st.lists(st.tuples(WHOLE, WHOLE), min_size=1, max_size=25)
REFERENCE = (12, 0)


def dominates(one, other):
    return one != other and one[0] <= other[0] and one[1] >= other[1]


def cells_dominated(pairs, reference):
    """The hypervolume of whole numbers, counted cell by cell."""
    costs, scores = range(reference[0]), range(reference[1], 12)
    return sum(any(cost <= x and score > y for cost, score in pairs) for x in costs for y in scores)


@given(PAIRS)
def test_the_front_is_exactly_what_no_pair_dominates(pairs):
    assert set(front(pairs)) == {one for one in pairs if not any(dominates(other, one) for other in pairs)}


@given(PAIRS)
def test_the_front_rises_in_cost_and_score_and_holds_each_pair_once(pairs):
    for before, after in pairwise(front(pairs)):
        assert before[0] < after[0]
        assert before[1] < after[1]


@given(PAIRS)
def test_the_front_of_a_front_is_itself(pairs):
    assert front(front(pairs)) == front(pairs)


@given(PAIRS, st.randoms(use_true_random=False))
def test_the_order_of_the_pairs_does_not_matter(pairs, random):
    mixed = random.sample(pairs, len(pairs))
    assert front(mixed) == front(pairs)


@given(PAIRS, PAIRS)
def test_the_front_of_two_fronts_is_the_front_of_all(one, other):
    assert front(front(one) + front(other)) == front(one + other)


def test_equal_cost_keeps_the_better_pair():
    assert front([(1, 5), (1, 7), (1, 6)]) == [(1, 7)]


def test_equal_score_keeps_the_cheaper_pair():
    assert front([(3, 5), (1, 5), (2, 5)]) == [(1, 5)]


def test_of_equal_pairs_the_first_stays():
    assert front_indices([(2, 5), (1, 3), (1, 3), (2, 5)]) == [1, 0]


def test_nothing_has_no_front():
    assert front([]) == []


@given(PAIRS)
def test_the_hypervolume_is_the_number_of_cells_dominated(pairs):
    assert hypervolume(pairs, REFERENCE) == cells_dominated(pairs, REFERENCE)


@given(PAIRS, WHOLE, WHOLE)
def test_the_hypervolume_counts_up_to_any_reference(pairs, cost, score):
    assert hypervolume(pairs, (cost, score)) == cells_dominated(pairs, (cost, score))


@given(PAIRS, st.tuples(WHOLE, WHOLE))
def test_one_more_pair_never_shrinks_the_hypervolume(pairs, one):
    assert hypervolume([*pairs, one], REFERENCE) >= hypervolume(pairs, REFERENCE)


@given(PAIRS)
def test_dominated_pairs_add_no_hypervolume(pairs):
    assert hypervolume(front(pairs), REFERENCE) == hypervolume(pairs, REFERENCE)


@given(SOME_PAIRS)
def test_the_area_is_the_mean_score_that_each_cost_affords(pairs):
    best = front(pairs)
    lower, upper = best[0][0], best[-1][0]
    affords = [max(score for cost, score in pairs if cost <= at) for at in range(lower, upper)]
    assert area(pairs) == pytest.approx(sum(affords) / len(affords) if affords else best[0][1])


@given(SOME_PAIRS)
def test_the_area_lies_between_the_lowest_and_the_highest_score_of_the_front(pairs):
    best = front(pairs)
    assert best[0][1] <= area(pairs) <= best[-1][1]


def test_the_area_of_a_known_front():
    assert area([(0.4, 80), (0.6, 88), (1.0, 90)]) == pytest.approx((0.2 * 80 + 0.4 * 88) / 0.6)


def test_nothing_has_no_area():
    with pytest.raises(ValueError, match="at least one"):
        area([])
