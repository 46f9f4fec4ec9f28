"""Milliseconds: predicted from layer times, measured, promised and verified."""

import json

import pytest

from anyformer import pipeline
from anyformer.budget import Budget
from anyformer.engine import latency
from anyformer.engine.latency import LATENCIES, LayerTable, latency_cost, layer_table, measured, pick, quantiles
from anyformer.errors import InfeasibleBudget
from anyformer.frontier import Frontier, Point
from anyformer.plan import Plan
from tests.cli.made import N_LAYERS, made_model

TABLE = LayerTable((2, 10, 100), (1.0, 2.0, 20.0), (3.0, 5.0, 50.0), (1.0, 1.0, 10.0), (4.0, 4.0, 4.0))
SMALL, FULL = Plan.at({0: 0.5}, N_LAYERS), Plan.full(N_LAYERS)


def frontier():
    points = (Point(SMALL, 0.6, 80.0), Point(FULL, 1.0, 90.0))
    return Frontier(points, "accuracy", lengths=(4, 9, 20))


def test_a_plan_takes_the_sum_of_its_parts_at_the_lengths_that_reach_them():
    assert TABLE.plan_ms(Plan.full(2), 10) == 4 + 2 * (2 + 1)
    assert TABLE.plan_ms(Plan.at({0: 0.2}, 2), 10) == 4 + (5 + 1) + (1 + 1)


def test_between_two_lengths_it_is_in_proportion_and_beyond_them_as_the_last():
    assert TABLE._at(TABLE.attend, 55) == pytest.approx(11)
    assert TABLE._at(TABLE.attend, 1) == 1
    assert TABLE._at(TABLE.attend, 500) == 20


def test_the_cost_is_the_mean_over_typical_rows():
    cost = latency_cost(TABLE, [10] * 50)
    assert cost(Plan.full(2)) == 10
    assert len(quantiles(range(1000))) == 9


def test_a_table_that_was_kept_is_read_again(tmp_path):
    model = made_model()
    first = layer_table(model, 20, "attention", tmp_path / "table.json")
    assert layer_table(model, 20, "attention", tmp_path / "table.json") == first
    assert first.lengths == (4, 8, 16, 20)
    assert all(value > 0 for value in (*first.attend, *first.drop, *first.feed))


def test_a_pick_is_measured_again_and_what_it_took_is_told():
    model = made_model()
    held, here = pick(model, frontier(), Budget.parse("1000ms"))
    assert held.point.plan == FULL
    assert 0 < held.measured_ms < 1000
    assert here.device
    assert all(point.latency_ms for point in here.points)


def test_a_promise_that_does_not_hold_is_corrected(monkeypatch):
    """Measured together the full model takes 9 ms, by itself 14: ten milliseconds must not pick it."""

    def made(model, given):
        ms = {SMALL: 4.0, FULL: 9.0} if len(given.points) > 1 else {SMALL: 6.0, FULL: 14.0}
        points = tuple(Point(p.plan, p.macs_ratio, p.score, ms[p.plan]) for p in given.points)
        return Frontier(points, given.metric, device="here", lengths=given.lengths)

    monkeypatch.setattr(latency, "measured", made)
    held, here = pick(made_model(), frontier(), Budget.parse("10ms"))
    assert held.point.plan == SMALL
    assert held.measured_ms == 6
    assert here.full.latency_ms == pytest.approx(14)


def test_a_budget_that_nothing_meets_names_the_quickest():
    with pytest.raises(InfeasibleBudget, match="cheapest point takes"):
        pick(made_model(), frontier(), Budget.parse("0.00001ms"))


def test_a_folder_keeps_what_was_measured_on_this_device(tmp_path, monkeypatch):
    model = made_model()
    model.frontier = frontier()
    folder = model.save(tmp_path / "model")
    first = pipeline(folder, budget="500ms")
    kept = json.loads((folder / LATENCIES).read_text())["devices"]
    assert len(kept) == 1
    calls = []
    monkeypatch.setattr(latency, "measured", lambda m, f: calls.append(len(f.points)) or measured(m, f))
    second = pipeline(folder, budget="500ms")
    assert calls == [1]  # the pick only
    assert second.plan == first.plan
    assert second.held.promised_ms > 0
