"""`anyformer train`: from a file with columns of its own to a folder; mistakes are one line."""

import csv
import json

import pytest
import torch

from anyformer import load
from tests.unit.train.made import checkpoint, texts

pytest.importorskip("accelerate")
QUICK = ("--finetune-epochs", 8, "--adapt-epochs", 1, "--finetune-learning-rate", 3e-3, "--precision", "fp32")


@pytest.fixture(scope="module")
def toy(tmp_path_factory):
    torch.manual_seed(0)
    return checkpoint(tmp_path_factory.mktemp("toy"))


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "own.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["body", "stars"])
        rows.writerows([record["text"], record["label"]] for record in texts(300))
    return path


OWN = ("--text-column", "body", "--label-column", "stars")


def test_a_table_with_columns_of_its_own_becomes_a_folder_in_one_command(anyformer, toy, table, tmp_path):
    said = anyformer("train", toy, "--data", table, *OWN, "--out", tmp_path / "out", *QUICK, "--json")
    assert said.code == 0
    assert {"out", "epochs", "full_score", "smallest_score", "seconds"} <= set(said.json)
    assert said.json["epochs"] == 9
    assert "own.csv has no validation split: 30 of 300 records are held out" in said.err
    scored = anyformer("evaluate", tmp_path / "out", "--data", table, *OWN, "--json")
    assert scored.json["score"] > 80
    assert load(tmp_path / "out").config.id2label == {0: "bad", 1: "good"}


def test_settings_come_from_the_recipe_then_the_file_then_the_flags(anyformer, toy, table, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("[adapt]\nepochs = 0\nn_random = 1\n[finetune]\nepochs = 1\n")
    flags = ("--recipe", "paper", "--settings", file, "--n-random", 4)
    assert anyformer("train", toy, "--data", table, *OWN, "--out", tmp_path / "out", *flags).code == 0
    adapt = json.loads((tmp_path / "out" / "anyformer.json").read_text())["settings"]["adapt"]
    assert (adapt["kl"], adapt["epochs"], adapt["n_random"]) == ("reverse", 0.0, 4)


def test_mistakes_are_one_line(anyformer, toy, table, tmp_path, monkeypatch):
    monkeypatch.setattr("accelerate.tracking._available_trackers", [])

    def made(name, *lines):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("".join(f"{line}\n" for line in lines))
        return tmp_path / name

    strange, number = made("strange.csv", "body,stars", "a text,excellent"), made("n.csv", "body,stars", "a text,3.5")
    mixed = made("mixed.jsonl", '{"text": "a", "label": "good"}', '{"text": "b", "label": 1}')
    measures = made("measures.csv", "body,stars", "a,0.5", "b,1.5", "c,2.5")
    other, bare = made("other.csv", "text,verdict", "a text,good"), made("bare.csv", "body,stars")
    made("parts/train.csv", "body,stars", "a,good", "b,bad"), made("parts/validation.csv")
    cases = [
        (("--data", table, "--text-column", "body", "--label-column", "nix"), "found body, stars"),
        (("--data", table), "fit no task"),
        (("--data", table, *OWN, "--validation", other), "no column 'body' for text; found text, verdict"),
        (("--data", table, *OWN, "--validation", strange), "'excellent'; labels are bad, good"),
        (("--data", table, *OWN, "--validation", number), "'3.5'; labels are bad, good"),
        (("--data", measures, *OWN, "--validation", table), "a number is expected"),
        (("--data", mixed, "--validation", mixed), "labels are of mixed type (text, whole number)"),
        (("--data", made("empty.jsonl")), "empty.jsonl is empty"),
        (("--data", bare, *OWN), "bare.csv is empty"),
        (("--data", tmp_path / "parts", *OWN), "validation.csv is empty"),
        (("--data", table, *OWN, "--p", 1.5), "p is 1.5"),
        (("--data", table, *OWN, "--settings", tmp_path / "nix.toml"), "is not there"),
        (("--data", table, *OWN, "--task", "tagging"), "tokens"),
        (("--data", table, *OWN, "--report-to", "wandb"), "pip install wandb"),
    ]
    for flags, words in cases:
        said = anyformer("train", toy, "--out", tmp_path / "out", *flags)
        assert words in said.err.splitlines()[-1], said.err
        assert said.code == 2
        assert "Traceback" not in said.err


def test_answers_that_are_not_in_their_context_are_counted_once(anyformer, toy, tmp_path):
    path = tmp_path / "qa.jsonl"
    records = []
    for i in range(40):
        context = f"w{i % 9} grand w3 w{i % 5} fine w7"
        answer = "grand" if i % 4 else "elsewhere"
        records.append({"question": "w1 w2", "context": context, "answers": {"text": [answer], "answer_start": [0]}})
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    flags = ("--validation", path, "--finetune-epochs", 1, "--adapt-epochs", 1, "--precision", "fp32", "--json")
    said = anyformer("train", toy, "--data", path, "--out", tmp_path / "out", *flags)
    assert said.code == 0
    assert said.err.count("not in their context: 10") == 1
    assert load(tmp_path / "out").ramps.layers == (0, 1, 2)
