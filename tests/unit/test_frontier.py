"""Point, Frontier: what is kept and what a budget picks."""

from dataclasses import replace
from json import dumps, loads

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.budget import Budget
from anyformer.errors import AnyformerError, BudgetError, InfeasibleBudget
from anyformer.frontier import Frontier, Point
from anyformer.plan import Exit, Plan

FULL = Point(Plan.full(4), 1.0, 0.9, 20.0)
HALF = Point(Plan.constant(0.2, 4), 0.5, 0.88, 11.0)
SMALL = Point(Plan.constant(0.4, 4), 0.3, 0.8, 8.0)
FRONTIER = Frontier((FULL, SMALL, HALF), metric="accuracy", model="abc", device="one core")

SCORES = st.integers(0, 40).map(lambda score: score / 40)
RATES = st.integers(1, 9).map(lambda rate: rate / 10)


@st.composite
def points(draw: st.DrawFn) -> Point:
    plan = Plan.constant(draw(RATES), 4)
    if draw(st.booleans()):
        plan = replace(plan, exit=Exit("entropy", 0.3), layers=(0, 2, 3))
    latency = draw(st.none() | st.integers(1, 50).map(float))
    return Point(plan, draw(st.integers(1, 39)) / 40, draw(SCORES), latency, draw(st.none() | SCORES))


@st.composite
def candidates(draw: st.DrawFn) -> list[Point]:
    """Points as a search leaves them: the full model somewhere among others."""
    full = Point(Plan.full(4), 1.0, draw(SCORES), draw(st.none() | st.integers(1, 50).map(float)))
    return draw(st.permutations([full, *draw(st.lists(points(), max_size=12))]))


def loss(point, full):
    lost = max(0.0, full.score - point.score)
    shown = (lost / full.score if full.score else float("inf")) if lost else 0.0
    return 0.0 if point == full else shown if point.loss_bound is None else max(0.0, point.loss_bound)


@given(candidates())
def test_points_rise_in_cost_and_are_among_those_given(found):
    frontier = Frontier(tuple(found))
    costs = [point.macs_ratio for point in frontier]
    assert costs == sorted(costs)
    assert set(frontier) <= set(found)
    assert len(set(frontier)) == len(frontier)


@given(candidates())
def test_a_frontier_of_a_frontier_is_itself(found):
    frontier = Frontier(tuple(found))
    assert Frontier(frontier.points) == frontier


@given(candidates())
def test_the_full_and_the_cheapest_point_are_always_kept(found):
    frontier = Frontier(tuple(found))
    assert frontier.full.plan == Plan.full(4)
    assert frontier.smallest.macs_ratio == min(point.macs_ratio for point in found)
    assert frontier.pick("full") == frontier.full
    assert frontier.pick("smallest") == frontier.smallest


@given(candidates(), st.integers(1, 100))
def test_a_share_picks_the_best_score_at_or_below_it(found, percent):
    frontier = Frontier(tuple(found))
    affordable = [point for point in found if point.macs_ratio <= percent / 100 + 1e-9]
    if affordable:
        picked = frontier.pick(Budget("share", percent))
        best = max(point.score for point in affordable)
        assert picked.score == best
        assert picked.macs_ratio == min(point.macs_ratio for point in affordable if point.score == best)
    else:
        with pytest.raises(InfeasibleBudget, match="cheapest"):
            frontier.pick(Budget("share", percent))


@given(candidates(), st.integers(1, 60))
def test_a_latency_picks_the_best_score_among_the_measured_points(found, limit_ms):
    frontier = Frontier(tuple(found))
    affordable = [point for point in found if point.latency_ms is not None and point.latency_ms <= limit_ms]
    if affordable:
        picked = frontier.pick(f"{limit_ms}ms")
        assert picked.latency_ms <= limit_ms
        assert picked.score == max(point.score for point in affordable)
    else:
        with pytest.raises(InfeasibleBudget):
            frontier.pick(f"{limit_ms}ms")


@given(candidates(), st.integers(0, 100))
def test_a_loss_picks_the_cheapest_point_within_it(found, percent):
    frontier = Frontier(tuple(found))
    picked = frontier.pick(f"loss<={percent}%")
    within = [point for point in found if loss(point, frontier.full) <= percent / 100 + 1e-9]
    assert loss(picked, frontier.full) <= percent / 100 + 1e-9
    assert picked.macs_ratio == min(point.macs_ratio for point in within)


@given(candidates(), st.integers(1, 100), st.integers(1, 100))
def test_more_budget_is_never_worse(found, one, other):
    frontier = Frontier(tuple(found))
    less, more = sorted((one, other))
    try:
        picked = frontier.pick(f"{less}%")
    except InfeasibleBudget:
        return
    assert frontier.pick(f"{more}%").score >= picked.score


@given(candidates(), candidates())
def test_merging_is_the_frontier_of_both(one, other):
    merged = Frontier(tuple(one)).merge(Frontier(tuple(other)))
    assert merged.hypervolume() == pytest.approx(Frontier((*one, *other)).hypervolume())
    assert merged.smallest.macs_ratio == min(point.macs_ratio for point in (*one, *other))


@given(candidates())
def test_merging_with_itself_changes_nothing(found):
    frontier = Frontier(tuple(found), "f1", "abc", "here")
    assert frontier.merge(frontier) == frontier


@given(candidates())
def test_a_frontier_survives_its_dict_as_json(found):
    frontier = Frontier(tuple(found), "f1", "abc", "here")
    assert Frontier.from_dict(loads(dumps(frontier.to_dict()))) == frontier


def test_picks_of_a_known_frontier():
    assert FRONTIER.points == (SMALL, HALF, FULL)
    assert FRONTIER.pick("50%") == HALF
    assert FRONTIER.pick("49.9%") == SMALL
    assert FRONTIER.pick("100%") == FULL
    assert FRONTIER.pick(" 12 ms") == HALF
    assert FRONTIER.pick("loss<=5%") == HALF
    assert FRONTIER.pick("loss<=1%") == FULL


def test_float_dust_does_not_lose_a_point():
    point = Point(Plan.constant(0.1, 4), 0.1 + 0.2, 0.891)
    frontier = Frontier((Point(Plan.full(4), 1, 0.9), point))
    assert frontier.pick("30%") == point
    assert frontier.pick("loss<=1%") == point


def test_equal_cost_keeps_the_better_point():
    worse = replace(HALF, score=0.7, latency_ms=None)
    assert Frontier((FULL, worse, HALF)).points == (HALF, FULL)


def test_of_the_same_point_the_measured_one_is_kept():
    assert Frontier((FULL, replace(HALF, latency_ms=None), HALF)).points == (HALF, FULL)


def test_a_dominated_full_model_is_kept():
    better = replace(HALF, score=0.95)
    frontier = Frontier((FULL, better))
    assert frontier.pick("full") == FULL
    assert frontier.pick("100%") == better


def test_a_point_that_is_only_faster_is_kept():
    faster = Point(Plan.at({0: 0.5}, 4), 0.6, 0.88, 9.0)
    frontier = Frontier((FULL, HALF, faster))
    assert frontier.pick("10ms") == faster
    assert frontier.pick("60%") == HALF


def test_a_point_that_costs_more_than_the_full_model_is_not_the_reference():
    undecided = Point(Plan((1, 1, 1, 1), exit=Exit("entropy", 0.0)), 1.05, 0.9)
    assert Frontier((FULL, undecided)).full == FULL


def test_a_calibrated_bound_counts_instead_of_the_measured_loss():
    loose = replace(HALF, score=0.9, loss_bound=0.02)
    frontier = Frontier((FULL, loose))
    assert frontier.pick("loss<=1%") == FULL
    assert frontier.pick("loss<=2%") == loose


def test_the_tighter_bound_is_kept_even_where_the_score_is_lower():
    loose = Point(Plan.constant(0.3, 4), 0.4, 0.89, None, 0.05)
    tight = Point(Plan.constant(0.2, 4), 0.5, 0.88, None, 0.01)
    assert Frontier((FULL, loose, tight)).pick("loss<=1%") == tight


def test_an_impossible_share_names_the_cheapest_point_and_asking_for_that_is_enough():
    with pytest.raises(
        InfeasibleBudget, match=r"no point meets 10%: the cheapest point takes 30% .* score 0.8"
    ) as error:
        FRONTIER.pick("10%")
    assert "\n" not in str(error.value)
    assert FRONTIER.pick("30%") == SMALL


def test_an_impossible_latency_names_the_fastest_point():
    with pytest.raises(InfeasibleBudget, match="the cheapest point takes 8ms"):
        FRONTIER.pick("3ms")


def test_a_latency_without_measurements_says_so():
    with pytest.raises(InfeasibleBudget, match=r"no point has a latency.*cheapest point"):
        Frontier((replace(FULL, latency_ms=None),)).pick("12ms")


def test_what_is_no_budget_is_refused():
    with pytest.raises(BudgetError):
        FRONTIER.pick("cheap")


def test_hypervolume_and_area_of_a_known_frontier():
    assert FRONTIER.hypervolume() == pytest.approx(0.7 * 0.8 + 0.5 * 0.08)
    assert FRONTIER.area() == pytest.approx((0.2 * 0.8 + 0.5 * 0.88) / 0.7)
    assert Frontier((FULL,)).hypervolume() == 0


@pytest.mark.parametrize("other", [{"model": "xyz"}, {"metric": "f1"}])
def test_another_models_frontier_is_not_merged(other):
    with pytest.raises(AnyformerError, match="cannot be merged"):
        FRONTIER.merge(replace(FRONTIER, **other))


def test_latencies_of_another_device_are_left_out():
    elsewhere = Frontier((FULL, Point(Plan.constant(0.3, 4), 0.4, 0.87, 1.0)), "accuracy", "abc", "a fast card")
    merged = FRONTIER.merge(elsewhere)
    assert merged.device == "one core"
    assert merged.pick("40%").latency_ms is None
    assert merged.full == FULL


@pytest.mark.parametrize(
    "wrong",
    [
        {"macs_ratio": 0},
        {"macs_ratio": -0.1},
        {"macs_ratio": float("nan")},
        {"macs_ratio": None},
        {"score": float("inf")},
        {"score": "0.9"},
        {"latency_ms": 0},
        {"loss_bound": float("nan")},
    ],
)
def test_a_point_that_cannot_be_is_refused(wrong):
    with pytest.raises(AnyformerError, match=next(iter(wrong))):
        replace(HALF, **wrong)


def test_a_frontier_without_points_is_refused():
    with pytest.raises(AnyformerError, match="at least one point"):
        Frontier(())


def test_frontiers_are_values():
    assert hash(FRONTIER) == hash(Frontier(FRONTIER.points, "accuracy", "abc", "one core"))
    assert FRONTIER != replace(FRONTIER, model="xyz")
