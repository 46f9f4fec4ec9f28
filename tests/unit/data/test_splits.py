"""Train and validation, evaluation, halves, inputs."""

import json

import pytest

from anyformer.data import halves, load_inputs, load_labelled, load_named, load_splits
from anyformer.errors import DataError

ROWS = [{"sentence": f"text {i}", "label": i % 2, "id": i} for i in range(50)]


def jsonl(file, records):
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def test_a_tenth_is_held_out_and_said_to_be(tmp_path):
    splits = load_splits(jsonl(tmp_path / "mine.jsonl", ROWS))
    assert (splits.task, len(splits.train), len(splits.validation)) == ("classification", 45, 5)
    assert splits.notes == (
        "mine.jsonl has no validation split: 5 of 50 records are held out, chosen by their content",
    )
    assert set(splits.train[0]) == {"text", "label"}


def test_a_given_file_is_the_validation(tmp_path):
    dev = jsonl(tmp_path / "dev.jsonl", [{"text": "another name of the column", "label": 1}])
    splits = load_splits(jsonl(tmp_path / "mine.jsonl", ROWS), validation=dev)
    assert (len(splits.train), splits.validation, splits.notes) == (
        50,
        [{"text": "another name of the column", "label": 1}],
        (),
    )


def test_a_folders_own_validation_is_used(tmp_path):
    jsonl(tmp_path / "train.jsonl", ROWS)
    jsonl(tmp_path / "dev.jsonl", ROWS[:7])
    assert len(load_splits(tmp_path).validation) == 7


def test_questions_of_one_context_stay_together():
    rows = [{"context": f"context {i // 5}", "question": str(i), "answers": ["a"]} for i in range(100)]
    splits = load_splits(rows)
    assert splits.task == "qa"
    assert not {r["context"] for r in splits.train} & {r["context"] for r in splits.validation}
    assert len(splits.validation) == 10


def test_a_record_without_a_column_is_said_with_its_number():
    with pytest.raises(DataError, match="record 2 of the data: a record has no column 'label'; found text"):
        load_splits([{"text": "a", "label": 1}, {"text": "b"}])


def test_one_record_cannot_be_split():
    with pytest.raises(DataError, match="give a validation file"):
        load_splits([{"text": "a", "label": 1}])


def test_evaluation_reads_the_test_split_if_it_is_labelled():
    rows = [{"text": "a", "label": 1}]
    unlabelled = [{"text": "a", "label": None}]
    assert load_labelled({"validation": rows * 2, "test": rows}, "classification") == rows
    assert load_labelled({"validation": rows, "test": unlabelled}, "classification") == rows
    assert load_labelled(rows, "classification") == rows
    assert load_labelled({"train": rows}, "classification") == rows


def test_evaluation_knows_the_names_of_the_labels_where_the_source_does(monkeypatch):
    monkeypatch.setattr(
        "anyformer.data.sources._embedded_parts", lambda name: {"test": [{"text": "a", "label": "pos"}]}
    )
    assert load_named("imdb", "classification") == ([{"text": "a", "label": "pos"}], ("neg", "pos"))
    assert load_named([{"text": "a", "label": "pos"}], "classification")[1] == ()


def test_evaluation_without_labels_says_what_is_missing():
    with pytest.raises(DataError, match="needs label or labels or score to learn from; found columns text"):
        load_labelled([{"text": "a"}], "classification")
    with pytest.raises(DataError, match="no split of it is labelled"):
        load_labelled([{"text": "a", "label": None}], "classification")


def test_halves_are_balanced_and_share_nothing():
    rows = [{"text": f"text {i}", "label": i % 2} for i in range(100)]
    first, second = halves(rows, "classification")
    assert len(first) == len(second) == 50
    assert abs(sum(row["label"] for row in first) - 25) <= 1
    assert not {row["text"] for row in first} & {row["text"] for row in second}


def test_inputs_are_streamed_with_what_they_came_with(tmp_path):
    file = tmp_path / "mine.jsonl"
    file.write_text('{"sentence": "a", "id": 7}\nbroken\n')
    inputs = load_inputs(file, "classification")
    assert next(inputs) == ({"sentence": "a", "id": 7}, {"text": "a"})
    with pytest.raises(DataError, match="line 2 is not JSON"):
        next(inputs)


def test_an_input_of_other_columns_is_said_with_its_number():
    inputs = load_inputs([{"text": "a", "label": 1}, {"body": "b"}], "classification")
    assert next(inputs)[1] == {"text": "a"}
    with pytest.raises(DataError, match="record 2 of the data: a record has no column 'text'"):
        next(inputs)
