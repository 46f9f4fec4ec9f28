"""`anyformer predict`: texts and files in, JSON lines out, and every mistake in one line."""

import gzip
import json

import pytest

from tests.cli.made import N_LAYERS, POSITIONS


def written(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_texts_give_json_lines_with_their_cost(anyformer, folder):
    said = anyformer("predict", folder(), "--text", "the cat sat", "a bad film")
    assert said.code == 0
    assert [set(line) for line in said.lines] == [{"label", "score", "macs_ratio", "exit_layer"}] * 2
    assert [line["macs_ratio"] for line in said.lines] == [1.0, 1.0]
    assert [line["exit_layer"] for line in said.lines] == [N_LAYERS - 1] * 2
    assert "2 predictions" in said.err


def test_json_is_one_object_and_the_rest_is_said_elsewhere(anyformer, folder):
    said = anyformer("predict", folder(), "--text", "the cat", "--json")
    assert said.json["n"] == 1
    assert said.json["predictions"][0]["label"] in ("neg", "pos")
    assert said.json["macs_ratio"] == 1.0


def test_quiet_says_nothing_but_the_result(anyformer, folder):
    assert anyformer("predict", folder(), "--text", "the cat", "--quiet").err == ""


def test_a_budget_costs_less(anyformer, folder):
    text = "the cat sat on the mat in paris " * 4
    full, half = (anyformer("predict", folder(), "--text", text, "--json", "--budget", b).json for b in ("full", "60%"))
    assert full["macs_ratio"] == 1.0
    assert half["macs_ratio"] < 0.7
    assert half["predictions"][0]["macs_ratio"] == half["macs_ratio"]
    assert half["budget"] == "60%"


def test_pairs_questions_and_words_are_read(anyformer, folder):
    pair = anyformer("predict", folder(), "--text", "a cat", "--text-pair", "a dog")
    assert pair.lines[0]["label"] in ("neg", "pos")
    asked = anyformer("predict", folder("qa"), "--question", "who sat", "--context", "the cat sat on the mat")
    assert set(asked.lines[0]) >= {"answer", "start", "end", "score", "macs_ratio"}
    tagged = anyformer("predict", folder("tagging"), "--text", "the cat sat")
    assert tagged.lines[0]["tokens"] == ["the", "cat", "sat"]


def test_an_empty_text_is_predicted(anyformer, folder):
    assert anyformer("predict", folder(), "--text", "").lines[0]["macs_ratio"] == 1.0


def test_a_text_beyond_the_positions_is_cut_and_said_once(anyformer, folder):
    said = anyformer("predict", folder(), "--text", "cat " * 500, "dog " * 500, "--quiet")
    assert said.code == 0
    assert len(said.lines) == 2
    (line,) = said.err.splitlines()
    assert line.startswith("note: ")
    assert f"{POSITIONS} tokens" in line
    assert "2" in line


@pytest.mark.parametrize("name", ["in.jsonl", "in.csv", "in.tsv"])
def test_files_of_every_kind_are_read_in_order(anyformer, folder, tmp_path, name):
    source = tmp_path / name
    texts = ["the cat sat", "a bad film", "paris"]
    if name == "in.jsonl":
        written(source, [{"sentence": text} for text in texts])
    else:
        source.write_text("sentence\n" + "\n".join(texts) + "\n")
    out = tmp_path / "out.jsonl"
    said = anyformer("predict", folder(), "--input", source, "--output", out)
    assert said.code == 0
    assert said.out == ""
    alone = [anyformer("predict", folder(), "--text", text).lines[0] for text in texts]
    found = [json.loads(line) for line in out.read_text().splitlines()]
    assert [line["label"] for line in found] == [line["label"] for line in alone]
    assert [line["score"] for line in found] == pytest.approx([line["score"] for line in alone], abs=1e-5)
    assert sorted(tmp_path.iterdir()) == [source, out]


def test_json_repeats_what_was_written_to_a_packed_file(anyformer, folder, tmp_path):
    source = written(tmp_path / "in.jsonl", [{"body": "the cat", "id": "a7"}, {"body": "paris", "id": "b2"}])
    out = tmp_path / "out.jsonl.gz"
    said = anyformer(
        "predict", folder(), "--input", source, "--output", out, "--text-column", "body", "--json", "--quiet"
    )
    found = [json.loads(line) for line in gzip.decompress(out.read_bytes()).splitlines()]
    assert [line["id"] for line in found] == ["a7", "b2"]
    assert said.json["predictions"] == found
    assert said.json["out"] == str(out)


def test_more_records_than_a_chunk_keep_their_order(anyformer, folder, tmp_path):
    source = written(tmp_path / "in.jsonl", [{"text": "cat " * (i % 7), "id": i} for i in range(1100)])
    said = anyformer("predict", folder(), "--input", source, "--quiet")
    assert [line["id"] for line in said.lines] == list(range(1100))


def test_half_precision_runs(anyformer, folder):
    assert anyformer("predict", folder(), "--text", "the cat", "--precision", "bf16").lines[0]["score"] > 0


def test_a_plain_checkpoint_says_its_own_task(anyformer, folder, tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder() / name).read_bytes())
    ours = anyformer("predict", folder(), "--text", "the cat").lines
    assert anyformer("predict", tmp_path, "--text", "the cat").lines == ours


def test_a_head_that_was_never_trained_is_told(anyformer, folder, tmp_path):
    for name in ("model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder() / name).read_bytes())
    config = json.loads((folder() / "config.json").read_text()) | {"architectures": ["BertModel"]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert "name the task" in anyformer("predict", tmp_path, "--text", "a").mistake
    said = anyformer("predict", tmp_path, "--text", "a", "--task", "classification", "--quiet")
    assert said.code == 0
    assert "random until it is trained" in said.err


def test_an_unknown_folder_is_named(anyformer, tmp_path):
    missing = anyformer("predict", tmp_path / "nowhere", "--text", "a").mistake
    assert "there is no such folder" in missing
    assert "nowhere" in missing
    assert "holds no model" in anyformer("predict", tmp_path, "--text", "a").mistake


def test_a_damaged_folder_names_the_file(anyformer, folder, tmp_path):
    for file in folder().iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-100])
    assert "model.safetensors is not as it was written" in anyformer("predict", tmp_path, "--text", "a").mistake
    (tmp_path / "manifest.json").unlink()
    assert "no manifest.json" in anyformer("predict", tmp_path, "--text", "a").mistake


def test_a_damaged_plain_checkpoint_is_one_line(anyformer, folder, tmp_path):
    for name in ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / name).write_bytes((folder() / name).read_bytes())
    weights = tmp_path / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    assert "cannot be read" in anyformer("predict", tmp_path, "--text", "a").mistake
    (tmp_path / "config.json").write_text("{")
    assert "cannot be read" in anyformer("predict", tmp_path, "--text", "a").mistake


def test_a_hub_name_without_a_hub_says_what_to_use_instead(anyformer, monkeypatch):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    line = anyformer("predict", "bert-base-uncased", "--text", "a").mistake
    assert "bert-base-uncased is neither a folder here nor to be had from the hub" in line
    assert "minilm" in line


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ((), "found none of them"),
        (("--text", "a", "--input", "x.jsonl"), "found --text and --input"),
        (("--text", "a", "b", "--text-pair", "c"), "one for each; found 2 and 1"),
        (("--question", "a"), "--question and --context go together"),
        (("--text", "a", "--output", "no/such/out.jsonl"), "no such folder"),
        (("--text", "a", "--output", "out.csv"), "JSON lines; name the file out.jsonl"),
        (("--text", "a", "--budget", "5%"), "the cheapest point takes 60%"),
        (("--text", "a", "--task", "qa"), "is for classification, not for qa"),
        (("--question", "a", "--context", "b"), "input 1: text is NoneType"),
        (("--input", "nowhere.jsonl"), "nowhere.jsonl: there is no such file"),
    ],
)
def test_a_wrong_call_is_one_line(anyformer, folder, flags, words):
    assert words in anyformer("predict", folder(), *flags).mistake


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", "in.jsonl is empty"),
        ('{"title": "a", "stars": 3}\n', "found columns title, stars"),
        ('{"text": "a"}\n{"text": 7}\n', "record 2: text is int"),
        ('{"text": "a"}\n{"words": "b"}\n', "record 2 of"),
        ('{"text": "a"}\nnot JSON\n', "line 2 is not JSON"),
    ],
)
def test_a_file_that_cannot_be_read_leaves_nothing_behind(anyformer, folder, tmp_path, content, words):
    source, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    source.write_text(content)
    assert words in anyformer("predict", folder(), "--input", source, "--output", out, "--quiet").mistake
    assert list(tmp_path.iterdir()) == [source]
