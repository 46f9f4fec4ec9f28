"""The file of a frontier: saved whole, loaded as the same, refused when damaged."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.errors import FolderError
from anyformer.frontier import Frontier, Point
from anyformer.plan import Exit, Plan

FRONTIER = Frontier(
    (
        Point(Plan.full(4), 1.0, 0.9, 20.0),
        Point(Plan.constant(0.2, 4), 0.5, 0.88, 11.0, 0.03),
        Point(Plan((1, 0.5, 0.5, 0.25), (0, 1, 3), Exit("entropy", (0.1, 0.2, 0.3)), "both"), 0.3, 0.8),
    ),
    metric="accuracy",
    model="abc",
    device="one core",
)


def test_a_frontier_is_saved_and_loaded_as_the_same(tmp_path):
    path = tmp_path / "frontier.json"
    FRONTIER.save(path)
    assert Frontier.load(path) == FRONTIER
    assert Frontier.load(str(path)) == FRONTIER
    assert json.loads(path.read_text())["schema"] == 1


def test_saving_replaces_the_file_and_leaves_nothing_beside_it(tmp_path):
    path = tmp_path / "frontier.json"
    path.write_text("old")
    FRONTIER.save(path)
    assert Frontier.load(path) == FRONTIER
    assert [found.name for found in tmp_path.iterdir()] == ["frontier.json"]


def without(name):
    return {key: value for key, value in FRONTIER.to_dict().items() if key != name}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "null",
        "[]",
        "3",
        json.dumps(FRONTIER.to_dict())[:-9],
        json.dumps(without("schema")),
        json.dumps(without("points")),
        json.dumps(without("device")),
        json.dumps(without("") | {"schema": 2}),
        json.dumps(without("") | {"points": []}),
        json.dumps(without("") | {"points": [3]}),
        json.dumps(without("") | {"points": {"a": 1}}),
        json.dumps(without("") | {"model": ["abc"]}),
        json.dumps(without("") | {"points": [{"plan": {"keep": [2]}, "macs_ratio": 1, "score": 1}]}),
        json.dumps(without("") | {"points": [{"plan": [], "macs_ratio": 1, "score": 1}]}),
        json.dumps(without("") | {"points": [{"plan": {"keep": [1]}, "macs_ratio": 1, "score": float("nan")}]}),
        json.dumps(without("") | {"points": [{"plan": {"keep": [1]}, "macs_ratio": "1", "score": 1}]}),
        json.dumps(without("") | {"points": [{"plan": {"keep": [1]}, "macs_ratio": 1, "score": 10**400}]}),
        json.dumps(without("") | {"points": [{"plan": {"keep": [1]}, "macs_ratio": 1, "score": 1, "odd": 1}]}),
        "[" * 100_000,
    ],
)
def test_a_damaged_file_is_refused_in_one_line(tmp_path, text):
    path = tmp_path / "frontier.json"
    path.write_text(text)
    with pytest.raises(FolderError, match=r"frontier\.json is damaged") as error:
        Frontier.load(path)
    assert "\n" not in str(error.value)


@given(st.data())
def test_a_file_cut_off_anywhere_is_refused(tmp_path_factory, data):
    text = json.dumps(FRONTIER.to_dict())
    path = tmp_path_factory.mktemp("cut") / "frontier.json"
    path.write_text(text[: data.draw(st.integers(0, len(text) - 1))])
    with pytest.raises(FolderError):
        Frontier.load(path)


def test_a_missing_or_unreadable_file_is_refused(tmp_path):
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\x00")
    for path in (tmp_path / "none.json", tmp_path, tmp_path / "bytes.json"):
        with pytest.raises(FolderError, match="cannot be read"):
            Frontier.load(path)
