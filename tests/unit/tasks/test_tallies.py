"""Tallies of every task: their sums score any part of the records as scoring those records does."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from anyformer.errors import InputError
from anyformer.tasks import task_for
from anyformer.tasks.correlation import moments, pearson_of
from anyformer.tasks.tallies import counted, mean_points, points
from tests.unit.tasks.made import made_tokenizer

TOKENIZER = made_tokenizer()
CLASSES = ("neg", "pos")
TAGS = ("O", "B-X", "I-X", "B-Y")
WORDS = ["the", "cat", "sat", "in", "new", "paris"]

label = st.sampled_from(CLASSES)
tags = st.lists(st.sampled_from(TAGS), min_size=3, max_size=3)
answer = st.lists(st.sampled_from(WORDS), max_size=3).map(" ".join)
measure = st.integers(0, 100).map(lambda steps: steps / 20)  # 0 to 5, as the similarities of STS-B

TASKS = {
    "classification": task_for("classification", TOKENIZER, CLASSES),
    "regression": task_for("classification", TOKENIZER),
    "tagging": task_for("tagging", TOKENIZER, TAGS),
    "qa": task_for("qa", TOKENIZER),
    "image": task_for("image", None, CLASSES),
}
# (prediction, reference) of one record
PAIRS = {
    "classification": st.tuples(label.map(lambda own: {"label": own}), label.map(lambda own: {"label": own})),
    "regression": st.tuples(measure.map(lambda own: {"score": own}), measure.map(lambda own: {"label": own})),
    "tagging": st.tuples(
        tags.map(lambda own: {"tags": own}), tags.map(lambda own: {"tokens": ["a", "b", "c"], "tags": own})
    ),
    "qa": st.tuples(
        answer.map(lambda own: {"answer": own}), st.lists(answer, max_size=2).map(lambda own: {"answers": own})
    ),
}
PAIRS["image"] = PAIRS["classification"]
every_task = pytest.mark.parametrize("name", TASKS)


def drawn(name, data, min_size=1):
    pairs = data.draw(st.lists(PAIRS[name], min_size=min_size, max_size=12))
    return [prediction for prediction, _ in pairs], [reference for _, reference in pairs]


@every_task
@settings(max_examples=25)
@given(data=st.data())
def test_the_sum_of_all_tallies_is_the_main_score(name, data):
    task, (predictions, references) = TASKS[name], drawn(name, data)
    tallies = task.tallies(predictions, references)
    assert tallies.dtype == np.float64
    assert tallies.shape[0] == len(references)
    wanted = task.score(predictions, references)[task.metric]
    assert task.score_of(tallies.sum(axis=0)) == pytest.approx(wanted, abs=1e-9)


@every_task
@settings(max_examples=25)
@given(data=st.data())
def test_records_drawn_anew_score_as_their_weighted_tallies(name, data):
    task, (predictions, references) = TASKS[name], drawn(name, data)
    times = st.lists(st.integers(0, 3), min_size=len(references), max_size=len(references))
    weights = np.array(data.draw(st.lists(times.filter(any), min_size=1, max_size=3)))
    found = task.score_of(weights @ task.tallies(predictions, references))
    assert found.shape == (len(weights),)
    for row, score in zip(weights, found, strict=True):
        again = [i for i, n in enumerate(row) for _ in range(n)]
        wanted = task.score([predictions[i] for i in again], [references[i] for i in again])
        assert score == pytest.approx(wanted[task.metric], abs=1e-9)


@every_task
@settings(max_examples=25)
@given(data=st.data())
def test_leaving_each_record_out_scores_the_others(name, data):
    task, (predictions, references) = TASKS[name], drawn(name, data, min_size=2)
    tallies = task.tallies(predictions, references)
    for i, score in enumerate(task.score_of(tallies.sum(axis=0) - tallies)):
        others = [j for j in range(len(references)) if j != i]
        wanted = task.score([predictions[j] for j in others], [references[j] for j in others])
        assert score == pytest.approx(wanted[task.metric], abs=1e-9)


@every_task
@settings(max_examples=25)
@given(data=st.data())
def test_tallies_of_parts_can_be_joined_and_those_of_plans_mixed(name, data):
    task, (predictions, references) = TASKS[name], drawn(name, data, min_size=2)
    others, cut = data.draw(st.permutations(predictions)), data.draw(st.integers(1, len(references) - 1))
    first = task.tallies(predictions[:cut], references[:cut])
    joined = np.concatenate([first, task.tallies(others[cut:], references[cut:])])
    wanted = task.score(predictions[:cut] + others[cut:], references)[task.metric]
    assert task.score_of(joined.sum(axis=0)) == pytest.approx(wanted, abs=1e-9)


@every_task
def test_no_record_scores_nothing(name):
    task, pair = TASKS[name], {"label": "pos", "score": 1.0, "tags": [], "answer": "a"}
    reference = {"label": 1, "tokens": [], "tags": [], "answers": "a"}
    sums = task.tallies([pair], [reference]).sum(axis=0)
    assert task.score_of(0 * sums) == 0
    assert task.score_of(np.zeros((2, 3, len(sums)))).tolist() == [[0] * 3] * 2


@every_task
def test_tallies_are_of_one_prediction_a_reference(name):
    with pytest.raises(InputError, match="0 predictions for 1 references"):
        TASKS[name].tallies([], [{}])


def test_a_tally_says_what_a_record_adds():
    reference = {"tokens": ["a", "b", "c"], "tags": ["B-X", "O", "B-Y"]}
    (row,) = TASKS["tagging"].tallies([{"tags": ["B-X", "B-X", "B-X"]}], [reference])
    assert row.tolist() == [1, 3, 2]
    (row,) = TASKS["qa"].tallies([{"answer": "new cat"}], [{"answers": ["paris", "cat"]}])
    assert row.tolist() == [pytest.approx(2 / 3), 1]
    rows = TASKS["image"].tallies([{"label": "pos"}] * 2, [{"label": 1}, {"label": "neg"}])
    assert rows.tolist() == [[1, 1], [0, 1]]


@pytest.mark.parametrize(("mean", "off"), [(2.5, 1e-11), (1000, 1e-7)])
def test_correlations_of_many_values_keep_their_digits(mean, off):
    numbers = np.random.default_rng(0)
    wanted = mean + numbers.normal(size=20_000)
    found = wanted + numbers.normal(size=20_000)
    sums = moments(found, wanted).sum(axis=0)
    assert pearson_of(sums) == pytest.approx(np.corrcoef(found, wanted)[0, 1], abs=off)


@pytest.mark.parametrize("value", [0.1, 2.7, 1e5])
def test_a_constant_that_many_sums_have_rounded_correlates_with_nothing(value):
    wanted = np.random.default_rng(0).uniform(0, 5, size=200_000)
    assert pearson_of(moments(np.full(len(wanted), value), wanted).sum(axis=0)) == 0


@pytest.mark.parametrize("value", [0.0, 0.1, 3.7, 1e6])
def test_a_part_in_which_a_side_is_constant_correlates_with_nothing(value):
    wanted = np.array([1.0, 2.3, 4.7, 0.1])
    rows = moments(np.array([value, value, value, value + 1]), wanted)
    assert pearson_of(rows[:3].sum(axis=0)) == 0
    assert pearson_of(rows.sum(axis=0) - rows[3]) == 0


def test_means_and_shares_of_nothing_are_nothing():
    assert mean_points(counted(np.array([])).sum(axis=0)) == 0
    assert points(np.array([0.0, 1.0]), np.array([0.0, 4.0])).tolist() == [0, 25]
