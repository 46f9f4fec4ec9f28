"""Texts and pairs -> features; logits -> labels; regression."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from anyformer.errors import DataError, InputError
from anyformer.tasks import Notes, TaskSettings, task_for
from anyformer.tasks.classification import Regression

RECORDS = [
    {"text": "a good film", "label": "pos"},
    {"text": "bad", "text_pair": "the cat", "label": 0},
    {"text": "", "label": "neg"},
]


@pytest.fixture
def task(tokenizer):
    return task_for("classification", tokenizer, ("neg", "pos"))


@pytest.fixture
def regression(tokenizer):
    return task_for("classification", tokenizer)


def test_texts_and_pairs_are_tokenized_as_the_tokenizer_does(task, tokenizer):
    features = task.features(RECORDS, labelled=True)
    for feature, record in zip(features, RECORDS, strict=True):
        wanted = tokenizer(record["text"], record.get("text_pair"))
        assert feature.inputs["input_ids"].tolist() == wanted["input_ids"]
        assert feature.inputs["token_type_ids"].tolist() == wanted["token_type_ids"]
        assert feature.n_tokens == len(wanted["input_ids"])
    assert [feature.labels for feature in features] == [1, 0, 0]
    assert [feature.example for feature in features] == [0, 1, 2]


def test_without_labels_none_are_needed(task):
    (feature,) = task.features([{"text": "a cat"}])
    assert feature.labels is None
    assert "labels" not in task.collate([feature])


def test_long_texts_are_cut_and_counted(tokenizer):
    notes = Notes()
    task = task_for("classification", tokenizer, ("a", "b"), settings=TaskSettings(max_length=10))
    features = task.features([{"text": "cat " * n} for n in (3, 8, 9, 50)], notes)
    assert [feature.n_tokens for feature in features] == [5, 10, 10, 10]
    assert notes.lines() == ["texts cut at 10 tokens: 2"]


def test_a_label_is_predicted_with_its_probability(task):
    output = SimpleNamespace(logits=torch.tensor([[0.0, np.log(3.0)], [2.0, 2.0]]))
    found = task.finish(task.decode(output, [None] * 2), [None] * 2, RECORDS[:2])
    assert found[0] == {"label": "pos", "score": pytest.approx(0.75)}
    assert found[1] == {"label": "neg", "score": pytest.approx(0.5)}
    assert task.pipeline_output(found[0]) == found[0]


def test_every_label_is_given_on_request(tokenizer):
    task = task_for("classification", tokenizer, ("neg", "pos"), settings=TaskSettings(every_label=True))
    (found,) = task.finish(task.decode(SimpleNamespace(logits=np.array([[0.0, 1.0]])), [None]), [None], RECORDS[:1])
    assert [one["label"] for one in task.pipeline_output(found)] == ["pos", "neg"]
    assert sum(one["score"] for one in found["labels"]) == pytest.approx(1)


def test_accuracy_is_in_points(task):
    scores = task.score([{"label": "pos"}, {"label": "pos"}, {"label": "neg"}], RECORDS)
    assert scores == {task.metric: pytest.approx(200 / 3)}
    with pytest.raises(InputError, match="1 predictions for 3 references"):
        task.score([{"label": "pos"}], RECORDS)


def test_large_logits_do_not_overflow(task):
    (row,) = task.decode(SimpleNamespace(logits=np.array([[1e4, -1e4]])), [None])
    assert row.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("value", "record"),
    [
        ("a", {"text": "a"}),
        (("a", "b"), {"text": "a", "text_pair": "b"}),
        ({"text": "a", "text_pair": "b", "id": 1}, {"text": "a", "text_pair": "b"}),
        ({"text": "", "text_pair": None}, {"text": ""}),
    ],
)
def test_inputs_are_taken_as_pipelines_take_them(task, value, record):
    assert task.record(value) == record


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (3, "an input is int"),
        (["a", "b", "c"], "an input is list"),
        ({"texts": "a"}, "text is NoneType"),
        ({"text": "a", "text_pair": 3}, "text_pair is int"),
    ],
)
def test_other_inputs_are_refused_with_the_field(task, value, said):
    with pytest.raises(InputError, match=said):
        task.record(value)


def test_measures_make_a_regression(regression):
    assert isinstance(regression, Regression)
    features = regression.features(
        [{"text": "a", "text_pair": "b", "label": 5.0}, {"text": "c", "label": "3"}], None, True
    )
    assert regression.collate(features)["labels"].tolist() == [5.0, 3.0]
    assert regression.config == {"num_labels": 1, "problem_type": "regression"}


def test_a_regression_predicts_a_number_and_scores_its_correlation(regression):
    raw = regression.decode(SimpleNamespace(logits=torch.tensor([[1.0], [2.0], [4.0]])), [None] * 3)
    found = regression.finish(raw, [None] * 3, RECORDS)
    assert found == [{"score": 1.0}, {"score": 2.0}, {"score": 4.0}]
    scores = regression.score(found, [{"label": 0.5}, {"label": 1.0}, {"label": 2.0}])
    assert scores == {"pearson": pytest.approx(100), "spearman": pytest.approx(100)}
    assert regression.pipeline_output(found[0]) == {"label": "LABEL_0", "score": 1.0}
    with pytest.raises(DataError, match="record 1 has label 'high'"):
        regression.score(found, [{"label": "high"}] * 3)


def test_the_head_learns_the_names_of_the_labels(task):
    assert task.config["id2label"] == {0: "neg", 1: "pos"}
    assert task.config["label2id"] == {"neg": 0, "pos": 1}
