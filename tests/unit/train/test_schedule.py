"""Batches, rates and seeds as pure functions."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from anyformer.train.config import Run
from anyformer.train.schedule import evaluation_steps, learning_rate, make_schedule

lengths = st.lists(st.integers(1, 60), min_size=1, max_size=60)


@given(lengths, st.integers(1, 3), st.integers(1, 2))
def test_an_epoch_reads_every_feature_once(lengths, accumulate, world):
    run = Run(batch_rows=4, batch_tokens=100, accumulate=accumulate)
    schedule = make_schedule(lengths, 1, run, "adapt", world)
    assert sorted(i for step in schedule.steps for micro in step for i in micro) == list(range(len(lengths)))
    assert all(len(step) <= accumulate * world for step in schedule.steps)
    assert schedule.epoch_ends == (len(schedule.steps),)


@given(lengths)
def test_two_processes_read_what_one_reads_with_twice_the_micro_batches(lengths):
    one = make_schedule(lengths, 2, Run(batch_rows=4, accumulate=2), "x", world=1)
    two = make_schedule(lengths, 2, Run(batch_rows=4, accumulate=1), "x", world=2)
    assert one == two


def test_half_an_epoch_is_half_the_batches_and_epochs_differ():
    run = Run(batch_rows=1)
    schedule = make_schedule([5] * 10, 1.5, run, "x")
    assert schedule.epoch_ends == (10, 15)
    assert schedule.steps[:5] != schedule.steps[10:]
    assert make_schedule([5] * 10, 1.5, Run(batch_rows=1, seed=1), "x") != schedule


def test_the_rate_rises_then_falls_to_nearly_nothing():
    rates = [learning_rate(s, 100, 1.0, 0.1) for s in range(100)]
    assert rates[9] == 1.0 == max(rates)
    assert rates[0] == 0.1
    assert all(a > b for a, b in pairwise(rates[10:]))
    assert 0 < rates[-1] < 0.02
    assert learning_rate(0, 100, 1.0, 0.0) == 1.0


def test_evaluations_are_spread_over_an_epoch_and_close_it():
    schedule = make_schedule([5] * 10, 2, Run(batch_rows=1), "x")
    assert evaluation_steps(schedule, 2) == {5, 10, 15, 20}
