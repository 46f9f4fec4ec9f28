"""`anyformer search`: a folder gets its frontier; mistakes are one line."""

import json
import shutil
from pathlib import Path

import pytest

from tests.unit.train.made import texts

QUICK = ("--iterations", 1, "--population", 4, "--mutations", 3, "--crossovers", 3, "--workers", 1)


@pytest.fixture
def model(folder, tmp_path):
    return Path(shutil.copytree(folder("classification"), tmp_path / "model"))


@pytest.fixture
def data(tmp_path):
    path = tmp_path / "val.jsonl"
    rows = [{"text": one["text"], "label": "pos" if one["label"] == "good" else "neg"} for one in texts(160)]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_folder_gets_a_frontier_that_budgets_pick_from(anyformer, model, data):
    said = anyformer("search", model, "--data", data, *QUICK, "--json")
    assert said.code == 0, said.err
    assert {"points", "evaluations", "area", "seconds"} <= set(said.json)
    assert said.json["n"] == 80
    assert said.json["points"][-1]["macs_ratio"] == 1
    assert " left" in said.err
    shown = anyformer("show", model, "--budget", "80%", "--json").json
    assert shown["picked"]["macs_ratio"] <= 0.8
    assert anyformer("predict", model, "--text", "a b c", "--budget", "smallest", "--quiet").code == 0


def test_its_words_are_a_table(anyformer, model, data):
    said = anyformer("search", model, "--data", data, *QUICK, "--quiet")
    assert "promised loss" in said.out
    assert "reported on 80 others" in said.out


def test_resumed_with_other_settings_it_is_refused(anyformer, model, data):
    anyformer("search", model, "--data", data, *QUICK, "--quiet")
    said = anyformer("search", model, "--data", data, *QUICK, "--quiet", "--resume", "--seed", 1)
    assert "seed was 0, is 1" in said.mistake


def test_an_altered_journal_is_refused(anyformer, model, data):
    anyformer("search", model, "--data", data, *QUICK, "--quiet")
    journal = model / ".search" / "journal.jsonl"
    journal.write_text(journal.read_text().replace('"score": ', '"score": 9', 1))
    said = anyformer("search", model, "--data", data, *QUICK, "--quiet", "--resume")
    assert "is not as it was written" in said.mistake


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--workers", "many"), "give a number of processes, or ray"),
        (("--floor", "2"), "floor is 2.0, out of its range"),
        (("--space", "all"), "invalid choice"),
        (("--score", "ramp"), "needs exit heads"),
        (("--p-mutate", "1.5"), "p_mutate"),
    ],
)
def test_a_wrong_flag_is_one_line(anyformer, model, data, flags, words):
    assert words in anyformer("search", model, "--data", data, *QUICK[:-2], *flags, "--quiet").mistake


def test_wrong_data_is_one_line(anyformer, model, tmp_path):
    assert "no such file" in anyformer("search", model, "--data", tmp_path / "none.jsonl", "--quiet").mistake
    (tmp_path / "few.jsonl").write_text('{"text": "a", "label": "pos"}\n{"text": "b", "label": "neg"}\n')
    said = anyformer("search", model, "--data", tmp_path / "few.jsonl", *QUICK, "--quiet")
    assert "2 labelled examples" in said.mistake


def test_a_folder_that_is_no_model_is_one_line(anyformer, data, tmp_path):
    assert "is not a folder" in anyformer("search", tmp_path / "none", "--data", data, "--quiet").mistake


def test_without_ray_the_extra_is_named(anyformer, model, data):
    try:
        import ray  # noqa: F401
    except ImportError:
        said = anyformer("search", model, "--data", data, *QUICK[:-2], "--workers", "ray", "--quiet")
        assert "anyformer[ray]" in said.mistake
    else:
        pytest.skip("Ray is here")
