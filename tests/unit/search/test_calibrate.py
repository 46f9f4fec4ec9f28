"""The promise, against populations whose true losses are known; its parts, by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.errors import InputError
from anyformer.search.calibrate import FEWEST, Paired, bounds, paired, worths
from anyformer.tasks.correlation import moments, pearson_of
from anyformer.tasks.entities import entity_f1
from anyformer.tasks.tallies import counted, mean_points

N_POPULATION, N_SETS = 20_000, 1000
COSTS = np.linspace(1, 0.1, 10)
HARD = np.array([0, 0.3, 0.6, 0.9, 1.02, 1.05, 1.1, 1.2, 2, 4])  # in limits: several just above one
EASY = np.array([0, 0, 0, 0, 0, 0.1, 0.2, 3, 6, 10])


def population(shares, gained):
    """Right or wrong of the full model (90%) and of plans that lose these shares of it, and gain a few examples."""
    full = np.arange(N_POPULATION) < 0.9 * N_POPULATION
    plans = np.tile(full, (len(shares), 1))
    n_gained = int(gained * N_POPULATION)
    plans[:, full.sum() : full.sum() + n_gained] = True
    for plan, share in zip(plans, shares, strict=True):
        plan[: n_gained + int(np.ceil(share * full.sum()))] = False
    return full.astype(float), plans.astype(float)


def picks(shares, gained, limit, n):
    """For each set of n examples: the places of the cheapest points that the bounds and the measured losses allow, -1
    for the full model."""
    full, plans = population(shares, gained)
    numbers = np.random.default_rng(0)
    found = []
    for _ in range(N_SETS):
        drawn = numbers.integers(N_POPULATION, size=n)
        of_full = counted(full[drawn])
        points = [paired(of_full, counted(plan[drawn]), mean_points) for plan in plans]
        measured = [point.lost / (point.score + point.lost) for point in points]
        found.append((last_within(bounds(points), limit), last_within(measured, limit)))
    return np.array(found)


def last_within(losses, limit):
    return max((i for i, loss in enumerate(losses) if loss <= limit), default=-1)


@pytest.mark.parametrize(
    ("n", "limit", "gained"),
    [(1000, 0.01, 0), (1000, 0.01, 0.005), (200, 0.05, 0), (200, 0.05, 0.005), (50, 0.01, 0), (50, 0.2, 0)],
)
def test_at_most_one_promise_in_twenty_is_broken_where_many_points_are_just_too_cheap(n, limit, gained):
    shares = limit * HARD
    promised, measured = picks(shares, gained, limit, n).T
    assert (shares[promised] * (promised >= 0) > limit).mean() <= 0.05
    assert (shares[measured] * (measured >= 0) > limit).mean() > 0.3


def test_where_points_are_clearly_good_or_bad_the_promise_costs_little():
    promised, measured = picks(0.01 * EASY, 0.002, 0.01, 1000).T
    cost = np.append(COSTS, 1.0)  # of -1: the full model
    assert (EASY[promised] * (promised >= 0) > 1).mean() <= 0.05
    assert cost[promised].mean() - cost[measured].mean() <= 0.1


def test_f1_of_unequal_texts_is_promised_and_enclosed_too():
    numbers = np.random.default_rng(0)
    wanted = numbers.geometric(0.37, size=N_POPULATION) - 1
    hits, wrong = numbers.binomial(wanted, 0.9), numbers.poisson(0.1, size=N_POPULATION)
    kept = hits * (numbers.random(N_POPULATION) > 0.05 * np.minimum(wanted, 3) / 2)
    full, plan = (np.column_stack([own, own + wrong, wanted]).astype(float) for own in (hits, kept))
    scores = [entity_f1(tallies.sum(axis=0)) for tallies in (full, plan)]
    lost, share = scores[0] - scores[1], 1 - scores[1] / scores[0]
    drawn = [numbers.integers(N_POPULATION, size=200) for _ in range(N_SETS)]
    found = [paired(full[rows], plan[rows], entity_f1) for rows in drawn]
    assert np.mean([one.bound < share for one in found]) <= 0.05
    assert np.mean([one.low <= lost <= one.high for one in found]) >= 0.95


@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=80))
def test_what_is_lost_lies_within_its_interval_and_the_share_below_its_bound(outcomes):
    full, plan = (counted(np.array(own, dtype=float)) for own in zip(*outcomes, strict=True))
    found = paired(full, plan, mean_points)
    before = mean_points(full.sum(axis=0))
    assert found.score == pytest.approx(mean_points(plan.sum(axis=0)))
    assert found.lost == pytest.approx(before - found.score)
    assert -200 <= found.low <= found.lost <= found.high <= 200
    assert (found.bound is None) == (len(outcomes) < FEWEST)
    if found.bound is not None:
        assert 0 <= found.bound <= 1
        assert before == 0 or found.lost / before <= found.bound + 1e-9


def test_of_many_examples_the_interval_is_the_paired_normal_one():
    numbers = np.random.default_rng(0)
    full, plan = numbers.random(50_000), numbers.random(50_000)
    found = paired(counted(full), counted(plan), mean_points)
    margin = 1.96 * 100 * (full - plan).std() / np.sqrt(len(full))
    assert found.high - found.lost == pytest.approx(margin, rel=0.02)
    assert found.lost - found.low == pytest.approx(margin, rel=0.02)


@pytest.mark.parametrize("n", [50, 100, 1000, 10_000])
def test_agreement_on_all_examples_is_promised_by_the_rule_of_three(n):
    right = counted(np.ones(n))
    found = paired(right, right, mean_points)
    assert found.lost == 0
    assert found.low == pytest.approx(-found.high)
    assert 3 / n < found.bound < 3.3 / n


def test_nothing_is_promised_on_few_examples():
    right = counted(np.ones(FEWEST - 1))
    assert paired(right, right, mean_points).bound is None
    again = counted(np.ones(FEWEST))
    assert paired(again, again, mean_points).bound is not None


def test_a_plan_that_is_clearly_better_loses_nothing():
    full = counted(np.arange(400) % 10 < 8)
    plan = counted(np.arange(400) % 10 < 9)
    found = paired(full, plan, mean_points)
    assert found.lost == pytest.approx(-10)
    assert found.high < 0
    assert found.bound == 0


def test_a_loss_that_goes_with_the_full_score_is_a_surer_share_than_points():
    values = np.random.default_rng(0).random(1000)
    found = paired(counted(values), counted(0.9 * values), mean_points)
    assert 0.1 < found.bound < 0.1 + 7 / 1000  # 3/n of examples that are half right
    assert found.bound < found.high / (found.score + found.lost)


def test_of_unequal_examples_more_may_be_lost():
    equal = np.tile([[2.0, 2.0, 2.0]], (100, 1))
    unequal = equal * np.tile([[0.5], [1.5]], (50, 1))
    bound, larger = (paired(own, own, entity_f1).bound for own in (equal, unequal))
    assert larger == pytest.approx(1.25 * bound, rel=0.05)  # (0.5² + 1.5²) / (0.5 + 1.5)


@pytest.mark.parametrize("n", [1, 2, 3, 60])
def test_where_the_full_model_is_wrong_everywhere_all_may_be_lost(n):
    wrong = counted(np.zeros(n))
    found = paired(wrong, wrong, mean_points)
    assert found.low <= 0 == found.lost <= found.high
    assert found.bound == (1 if n >= FEWEST else None)
    assert paired(np.zeros((n, 3)), np.zeros((n, 3)), entity_f1).score == 0


def test_correlations_are_judged_too():
    numbers = np.random.default_rng(0)
    wanted = numbers.uniform(0, 5, size=500)
    full, plan = wanted + numbers.normal(size=500) * 0.5, wanted + numbers.normal(size=500)
    found = paired(moments(full, wanted), moments(plan, wanted), lambda sums: 100 * pearson_of(sums))
    assert found.score == pytest.approx(100 * np.corrcoef(plan, wanted)[0, 1])
    assert 0 < found.low < found.lost < found.high < 2 * found.lost
    assert found.lost / (found.score + found.lost) < found.bound < 0.2


def test_the_worth_of_an_example_to_a_mean_is_its_value():
    values = np.array([0.0, 1.0, 0.3, 0.9])
    score, found = worths(counted(values), mean_points)
    assert score == pytest.approx(55)
    assert found == pytest.approx(100 * values)


def test_a_point_is_promised_no_more_than_the_costlier_ones():
    points = [Paired(90, 0, -1, 1, bound) for bound in (0.01, 0.004, 0.03, 0.02)]
    assert bounds(points) == [0.01, 0.01, 0.03, 0.03]
    assert bounds([points[0], Paired(90, 0, -1, 1, None), points[1]]) == [0.01, None, None]
    assert bounds([]) == []


@pytest.mark.parametrize("shape", [(3, 2), (5, 2), (4, 3)])
def test_tallies_of_other_examples_are_refused(shape):
    with pytest.raises(InputError, match="the same examples are needed"):
        paired(np.ones((4, 2)), np.ones(shape), mean_points)
    with pytest.raises(InputError, match="at least one"):
        paired(np.ones((0, 2)), np.ones((0, 2)), mean_points)
