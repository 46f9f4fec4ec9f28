"""The picture of the trade-off: its data, and that it is drawn whatever is known."""

import sys
from dataclasses import replace

import pytest

from anyformer.budget import Budget
from anyformer.errors import MissingExtra
from anyformer.frontier import Frontier
from anyformer.report.curves import Curve, curve, draw, steps
from tests.unit.report.made import BARE, FULL, HALF, ONE, RICH, SMALL


def test_the_interval_of_a_dot_is_the_full_score_less_what_is_lost():
    small, half, full = curve(RICH).dots
    assert (small.low, small.high) == (85.0, 87.0)
    assert (half.low, half.high) == (88.75, 90.25)
    assert (full.low, full.high) == (None, None)


def test_the_title_s_point_is_marked_unless_a_budget_picks_another():
    assert (curve(RICH).marked, curve(RICH).mark) == (1, "the cheapest within 1%")
    picked = curve(RICH, Budget.parse("40%"))
    assert (picked.marked, picked.mark) == (0, "picked by 40%")
    assert curve(ONE).mark == "the full model"


def test_the_subtitle_says_what_the_title_rests_on():
    assert curve(RICH).subtitle == "accuracy on 1,200 labelled examples; by calibrated bounds on the loss"
    assert curve(BARE).subtitle == "f1; no calibrated bound on the loss"
    assert curve(ONE).subtitle == "f1"


def test_a_dot_that_a_cheaper_one_matches_is_not_the_best():
    better = replace(HALF, score=90.5)
    assert [dot.best for dot in curve(Frontier((SMALL, better, FULL))).dots] == [True, True, False]


def test_the_line_steps_up_where_the_next_point_can_be_paid_for():
    turns = steps(curve(RICH).dots)
    assert turns == [(0.35, 86.0), (0.523, 86.0), (0.523, 89.5), (1.0, 89.5), (1.0, 90.0), (1.0, 90.0)]


def test_everything_that_is_drawn_lies_within_the_scores():
    low, high = curve(RICH).scores
    assert low < 85.0
    assert high > 90.25
    assert curve(ONE).scores[0] < curve(ONE).band < 90.0 < curve(ONE).scores[1]


def test_a_score_of_nothing_has_room_too():
    low, high = curve(Frontier((replace(FULL, score=0.0),))).scores
    assert low < 0 < high


@pytest.mark.parametrize("frontier", [RICH, BARE, ONE], ids=["rich", "bare", "one"])
def test_the_picture_is_drawn(tmp_path, frontier):
    pytest.importorskip("matplotlib")
    draw(curve(frontier), tmp_path / "c.png")
    assert (tmp_path / "c.png").read_bytes()[:4] == b"\x89PNG"


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"anyformer\[demo\]"):
        draw(curve(RICH), tmp_path / "c.png")


def test_a_curve_is_a_value():
    assert isinstance(curve(RICH), Curve)
    assert curve(RICH) == curve(RICH)
