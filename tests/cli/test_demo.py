"""`anyformer demo` on a few short reviews of the embedded data."""

import json

import pytest

from anyformer import embedded
from anyformer.cli import demo

pytestmark = pytest.mark.skipif(
    embedded.reviews_table() is None or embedded.resolve_model("minilm") == embedded.MODELS["minilm"].hub_id,
    reason="needs the extra demo",
)
SHORT = ("--data", "rotten-tomatoes", "--texts", "36")


def test_the_demo_compares_and_draws(anyformer, tmp_path):
    said = anyformer("demo", *SHORT, "--out", tmp_path / "out")
    assert said.code == 0
    assert all(
        words in said.out for words in ("stock, padded", "tokens computed", "nearest neighbour is the same for 36")
    )
    assert "next:" in said.out
    assert "[1/4]" in said.err
    assert (tmp_path / "out" / "demo.png").read_bytes()[:4] == b"\x89PNG"
    found = json.loads((tmp_path / "out" / "demo.json").read_text())
    assert found["n"] == 36
    assert found["largest_difference"] <= demo.TOLERANCE
    assert found["stock"]["tokens"] > found["unpadded"]["tokens"]


def test_the_json_of_the_demo_is_what_it_wrote(anyformer, tmp_path):
    said = anyformer("demo", *SHORT, "--out", tmp_path, "--json", "--quiet")
    assert said.json == json.loads((tmp_path / "demo.json").read_text())
    assert said.err == ""


def test_when_the_minutes_are_over_it_reports_what_it_has(anyformer, tmp_path):
    said = anyformer("demo", *SHORT, "--out", tmp_path, "--minutes", "0.0001", "--json")
    assert said.json["n"] == demo.BATCH
    assert "were enough for 8 of 36" in said.err


def test_embeddings_that_differ_are_an_error(anyformer, tmp_path, monkeypatch):
    monkeypatch.setattr(demo, "TOLERANCE", -1.0)
    said = anyformer("demo", *SHORT, "--out", tmp_path, "--quiet")
    assert "the embeddings differ" in said.mistake
