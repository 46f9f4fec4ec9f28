"""Points in words: plans, losses, promises, and the budget that picks each."""

from dataclasses import replace

import pytest
from hypothesis import given

from anyformer.budget import Budget
from anyformer.frontier import Frontier, Point
from anyformer.plan import Exit, Plan
from anyformer.report.points import (
    bound,
    budget_for,
    compared,
    finding,
    frontier_table,
    interval,
    picked_in_words,
    plan_in_words,
)
from tests.unit.report.made import BARE, FULL, HALF, ONE, RICH, SMALL
from tests.unit.test_frontier import candidates


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (Plan.full(4), "all tokens"),
        (Plan.at({0: 0.6, 2: 0.25}, 4), "60% after 0, 25% after 2"),
        (Plan.at({1: 0.125}, 4), "12.5% after 1"),
        (Plan((1, 0.8, 0.64, 0.512, 0.41, 0.328)), "1.00 .80 .64 .51 .41 .33"),
        (Plan.constant(0.05, 24), ".95 .90 .86 .81 .77 .74 .70 .66 .63 .60 … .29"),
        (Plan((1.0,) * 8, (0, 1, 3, 7)), "all tokens; skips 2, 4–6"),
        (Plan((1, 0.5, 0.5), exit=Exit("entropy", 0.3)), "50% after 1; exit at entropy < 0.3"),
        (Plan((1, 1), exit=Exit("confidence", (0.9, 0.8))), "all tokens; exit at confidence > 0.8–0.9"),
        (Plan((1, 1), exit=Exit("patience", 2)), "all tokens; exit at patience ≥ 2"),
        (Plan((1, 0.5), score="ramp"), "50% after 1; ranked by ramp"),
    ],
)
def test_a_plan_is_told_in_a_line(plan, words):
    assert plan_in_words(plan) == words


@given(candidates())
def test_the_budget_of_a_point_picks_it(found):
    frontier = Frontier(tuple(found))
    for point in frontier:
        budget = budget_for(frontier, point)
        assert budget is not None
        assert frontier.pick(budget) == point


def test_budgets_are_as_round_as_they_can_be():
    near = replace(HALF, macs_ratio=0.5279, score=89.6)
    assert [budget_for(RICH, point) for point in RICH] == ["35%", "53%", "full"]
    assert [budget_for(Frontier((*RICH, near)), point) for point in (HALF, near)] == ["52.3%", "53%"]


def test_a_point_beyond_the_full_model_that_no_budget_picks_has_none():
    beyond = Point(Plan((1, 1, 1, 1), exit=Exit("entropy", 0.0)), 1.05, 90.5)
    assert budget_for(Frontier((FULL, beyond)), beyond) is None


def test_the_title_is_of_the_calibrated_bound_where_there_is_one():
    assert finding(RICH).point == HALF
    assert finding(RICH).title == "Within 1% of the full score at 52.3% of its MACs"
    assert finding(BARE).title == "Within 1% of the full score at 52.3% of its MACs, as measured"
    assert (finding(RICH).calibrated, finding(BARE).calibrated) == (True, False)


def test_the_title_says_when_nothing_is_within_one_percent():
    assert finding(ONE).title == "The full model is the only point yet"
    none = Frontier((SMALL, replace(HALF, loss_bound=0.02), FULL))
    assert finding(none).title == "No cheaper point can be promised to stay within 1% of the full score"
    assert finding(none).calibrated


def test_the_table_has_a_line_a_point_and_marks_the_picked_one():
    assert frontier_table(RICH, HALF).splitlines() == [
        "    MACs  accuracy  loses   95% interval  bound  latency  plan",
        "--------  --------  -----  -------------  -----  -------  ------------------------",
        "   35.0%     86.00   4.00   3.00 to 5.00  6.00%   8.0 ms  50% after 0, 25% after 2",
        ">  52.3%     89.50   0.50  -0.25 to 1.25  0.94%  11.2 ms  60% after 1; skips 2",
        "  100.0%     90.00                               20.0 ms  all tokens",
    ]


def test_columns_that_nothing_fills_are_left_out():
    assert frontier_table(BARE).splitlines()[0].split() == ["MACs", "f1", "loses", "plan"]
    assert frontier_table(ONE).splitlines()[0].split() == ["MACs", "f1", "latency", "plan"]


@pytest.mark.parametrize(
    ("frontier", "budget", "words"),
    [
        (
            RICH,
            "60%",
            "asked: at most 60% of the full model's MACs; picked: 52.3% of the MACs, accuracy 89.50, 11.2 ms",
        ),
        (RICH, "loss<=1%", "promised: at most 0.94% of the full score is lost (calibrated bound)"),
        (RICH, "12ms", "asked: at most 12 ms; picked: 52.3% of the MACs, accuracy 89.50, 11.2 ms on one core"),
        (BARE, "40%", "measured: 4.00 points below the full model; nothing is promised without a calibrated bound"),
        (RICH, "full", "asked: the full model; picked: 100.0% of the MACs"),
        (RICH, "smallest", "asked: the cheapest point; picked: 35.0% of the MACs"),
    ],
)
def test_what_a_budget_picks_is_told_with_what_is_promised(frontier, budget, words):
    asked = Budget.parse(budget)
    assert words in picked_in_words(frontier, asked, frontier.pick(asked))


def test_a_promise_is_rounded_up():
    assert bound(replace(HALF, loss_bound=0.00931)) == "0.94%"
    assert bound(replace(HALF, loss_bound=0.01)) == "1.00%"
    assert bound(replace(HALF, loss_bound=-0.002)) == "0.00%"
    assert bound(FULL) == ""


def test_gains_and_losses_are_told_apart():
    assert compared(0.5) == "0.50 points below"
    assert compared(-0.5) == "0.50 points above"
    assert compared(0.001) == "level with"
    assert interval(-0.001, 1.5) == "0.00 to 1.50"
