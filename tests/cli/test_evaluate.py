"""`anyformer evaluate`: score and cost of a labelled set."""

import json

import pytest

from tests.cli.made import N_LAYERS
from tests.unit.train.made import checkpoint

RECORDS = [{"text": "the cat sat on the mat in paris " * 3, "label": "pos"}, {"text": "a bad film", "label": "neg"}] * 5


@pytest.fixture
def labelled(tmp_path):
    path = tmp_path / "test.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    return path


def test_score_and_cost_of_a_labelled_set(anyformer, folder, labelled):
    found = anyformer("evaluate", folder(), "--data", labelled, "--json").json
    assert found["metric"] == "accuracy"
    assert 0 <= found["score"] <= 100
    assert found["n"] == 10
    assert found["macs_ratio"] == 1.0
    assert found["exit_layers"] == [0] * (N_LAYERS - 1) + [10]


def test_a_budget_costs_less_over_the_set(anyformer, folder, labelled):
    found = anyformer("evaluate", folder(), "--data", labelled, "--budget", "smallest", "--json").json
    assert found["macs_ratio"] < 0.8
    assert found["budget"] == "smallest"


def test_the_table_names_what_counts(anyformer, folder, labelled):
    said = anyformer("evaluate", folder(), "--data", labelled)
    assert said.code == 0
    assert "accuracy" in said.out
    assert "100.0%" in said.out


def test_columns_can_be_named(anyformer, folder, tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("body,verdict\nthe cat,pos\na dog,neg\n")
    flags = ("--text-column", "body", "--label-column", "verdict", "--json", "--quiet")
    assert anyformer("evaluate", folder(), "--data", path, *flags).json["n"] == 2
    assert "found columns body, verdict" in anyformer("evaluate", folder(), "--data", path, "--quiet").mistake


def test_a_label_that_the_model_does_not_know_is_told(anyformer, folder, tmp_path):
    path = tmp_path / "t.jsonl"
    path.write_text('{"text": "a", "label": "meh"}\n')
    assert "labels are neg, pos" in anyformer("evaluate", folder(), "--data", path, "--quiet").mistake


def test_a_model_with_unnamed_labels_takes_the_names_of_the_data(anyformer, tmp_path, monkeypatch):
    parts = {"test": [{"text": f"w{i} fine", "label": ("neg", "pos")[i % 2]} for i in range(8)]}
    monkeypatch.setattr("anyformer.data.sources._embedded_parts", lambda name: parts)
    said = anyformer("evaluate", checkpoint(tmp_path / "two"), "--data", "imdb", "--json", "--quiet")
    assert said.json["score"] == 50  # every text says the same to it
    assert said.err.count("taken for the data's, in its order: neg, pos") == 1
    three = checkpoint(tmp_path / "three", num_labels=3)
    assert "labels are LABEL_0, LABEL_1, LABEL_2" in anyformer("evaluate", three, "--data", "imdb", "--quiet").mistake
