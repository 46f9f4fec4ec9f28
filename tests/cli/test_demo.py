"""`anyformer demo` on a few short reviews of the embedded data: the whole main job, and stopped in the middle."""

import json

import pytest

from anyformer import embedded
from anyformer.cli import demo

pytest.importorskip("accelerate")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        embedded.reviews_table() is None or embedded.resolve_model("minilm") == embedded.MODELS["minilm"].hub_id,
        reason="needs the extra demo",
    ),
]
SHORT = ("--data", "rotten-tomatoes", "--minutes", "0.1")


@pytest.fixture(autouse=True)
def short(monkeypatch):
    """A few texts to report on; one process, as two take seconds to start."""
    monkeypatch.setattr(demo, "REPORTED", 24)
    monkeypatch.setattr("anyformer.cli.machine.cores", lambda: 1)


def test_the_demo_trains_searches_and_chooses(anyformer, tmp_path):
    said = anyformer("demo", *SHORT, "--out", tmp_path / "out")
    assert said.code == 0, said.err
    assert all(words in said.out for words in ("stock, padded", "over stock", "next:", "smallest"))
    assert all(f"[{stage}/3]" in said.err for stage in (1, 2, 3))
    assert " left" in said.err
    found = json.loads((tmp_path / "out" / "demo.json").read_text())
    assert found["n"] == 24
    assert {"out", "task", "full", "points", "seconds"} <= set(found)
    ratios = [point["macs_ratio"] for point in found["points"]]
    assert ratios[0] == 1
    assert 0 < min(ratios) < 0.6
    assert (tmp_path / "out" / "demo.png").read_bytes()[:4] == b"\x89PNG"
    assert "<svg" in (tmp_path / "out" / "demo.html").read_text()


def test_stopped_and_started_again_it_goes_on_and_finds_the_same(anyformer, tmp_path, monkeypatch):
    whole = anyformer("demo", *SHORT, "--out", tmp_path / "whole", "--json", "--quiet").json
    held_out = demo.held_out

    def stopped(args):
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "held_out", stopped)
    assert anyformer("demo", *SHORT, "--out", tmp_path / "cut").code == 130
    monkeypatch.setattr(demo, "held_out", held_out)
    again = anyformer("demo", *SHORT, "--out", tmp_path / "cut")
    assert "it goes on" in again.err
    assert "finetune" not in again.err
    frontier = (tmp_path / "whole" / "model" / "frontier.json").read_bytes()
    assert (tmp_path / "cut" / "model" / "frontier.json").read_bytes() == frontier
    scores = [point["score"] for point in json.loads((tmp_path / "cut" / "demo.json").read_text())["points"]]
    assert scores == [point["score"] for point in whole["points"]]
