"""The task of a name, and the labels of a data set."""

from types import SimpleNamespace

import pytest

from anyformer.errors import DataError, InputError, UnsupportedModel
from anyformer.tasks import TASKS, TaskSettings, labels_for, labels_of_model, task_for

BERT = SimpleNamespace(max_position_embeddings=40, model_type="bert", pad_token_id=0)


@pytest.mark.parametrize("name", TASKS)
def test_every_task_has_its_name_its_head_and_its_metric(name, tokenizer):
    task = task_for(name, tokenizer, ("O", "B-X"))
    assert task.name == name
    assert task.auto_class.startswith("AutoModelFor")
    assert task.metric in ("accuracy", "f1")


def test_a_task_that_is_not_there_is_said_with_those_that_are(tokenizer):
    with pytest.raises(InputError, match="'rerank' is not there; choose one of classification, tagging, qa, image"):
        task_for("rerank", tokenizer)


def test_texts_are_as_long_as_the_model_allows_unless_said(tokenizer):
    def length(name, wanted=None):
        return task_for(name, tokenizer, ("a", "b"), BERT, TaskSettings(max_length=wanted)).max_length

    assert (length("classification"), length("classification", 30), length("classification", 90)) == (40, 30, 40)
    assert length("qa") == 40
    with pytest.raises(DataError, match="max_length 4 leaves no room"):
        length("qa", 4)


def test_settings_are_whole_numbers_of_at_least_one():
    for wrong in ({"doc_stride": 0}, {"max_length": -1}, {"n_best": 2.5}):
        with pytest.raises(InputError, match="whole number of at least 1"):
            TaskSettings(**wrong)


def test_a_text_task_needs_a_fast_tokenizer():
    with pytest.raises(UnsupportedModel, match="not a fast tokenizer"):
        task_for("qa", None)


def test_labels_are_the_sources_then_the_models_then_the_datas():
    records = [{"label": 0}, {"label": 1}]
    known = SimpleNamespace(num_labels=2, problem_type=None, id2label={0: "bad", 1: "good"})
    assert labels_for("classification", records) == ("LABEL_0", "LABEL_1")
    assert labels_for("classification", records, config=known) == ("bad", "good")
    assert labels_for("classification", records, ("neg", "pos"), known) == ("neg", "pos")
    assert labels_for("classification", [{"label": 0.5}, {"label": 1.5}]) == ()
    assert labels_for("tagging", [{"tags": ["O", "B-X"]}]) == ("O", "B-X")
    assert labels_for("qa", [{"answers": {}}]) == ()
    assert labels_of_model("classification", known) == ("bad", "good")
    assert labels_of_model("qa", known) == ()
