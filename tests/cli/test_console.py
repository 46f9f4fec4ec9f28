"""Where things are said, and how a stage shows how far it is."""

import io
import json

import pytest

from anyformer.cli import console
from anyformer.cli.console import Console, Progress, json_parts, seconds


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.fixture
def clock(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    return now


def test_a_json_object_is_written_in_pieces_and_read_as_one():
    result = {"a": 1, "rows": iter([{"b": "é"}, {"b": None}]), "none": iter(()), "c": [1, 2]}
    assert json.loads("".join(json_parts(result))) == {
        "a": 1,
        "rows": [{"b": "é"}, {"b": None}],
        "none": [],
        "c": [1, 2],
    }
    assert "".join(json_parts({})) == "{}"


def test_with_json_the_words_go_to_standard_error(capsys):
    Console(as_json=True).result("words")
    Console(as_json=True).finish({"a": 1})
    said = capsys.readouterr()
    assert (said.out, said.err) == ('{"a": 1}\n', "words\n")


def test_quiet_keeps_results_and_warnings(capsys):
    quiet = Console(quiet=True)
    quiet.note("on the way")
    quiet.warn("cut")
    quiet.result("result")
    said = capsys.readouterr()
    assert (said.out, said.err) == ("result\n", "note: cut\n")


def test_a_terminal_gets_a_bar_with_the_time_left(clock):
    stream = Terminal()
    with Progress("reviews", 10, stream, quiet=False) as progress:
        clock[0] = 4.0  # of which three are warm-up
        progress.advance(1)
        clock[0] = 8.0
        progress.advance(4)
    assert "reviews [##······················] 1 of 10, 4.0 s" in stream.getvalue()
    assert "reviews [############············] 5 of 10, 8.0 s, 5.0 s left" in stream.getvalue()
    assert stream.getvalue().endswith("\r\x1b[K")


def test_elsewhere_a_line_comes_now_and_then(clock):
    stream = io.StringIO()
    with Progress("reviews", 100, stream, quiet=False) as progress:
        for second in range(1, 31):
            clock[0] = float(second)
            progress.advance()
    assert stream.getvalue().splitlines() == [
        "reviews 10 of 100, 10 s, 1 min 30 s left",
        "reviews 20 of 100, 20 s, 1 min 20 s left",
        "reviews 30 of 100, 30 s, 1 min 10 s left",
    ]


def test_a_stream_of_unknown_length_says_how_many(clock):
    stream = io.StringIO()
    with Progress("predictions", None, stream, quiet=False) as progress:
        clock[0] = 12.0
        progress.advance(4000)
    assert stream.getvalue() == "predictions: 4,000 in 12 s\n"


def test_quiet_shows_no_progress(clock):
    stream = Terminal()
    with Progress("reviews", 10, stream, quiet=True) as progress:
        clock[0] = 50.0
        progress.advance(5)
    assert stream.getvalue() == ""


@pytest.mark.parametrize(
    ("amount", "words"),
    [(0.04, "0.04 s"), (4.21, "4.2 s"), (9.96, "10 s"), (59.7, "60 s"), (60, "1 min 00 s"), (725, "12 min 05 s")],
)
def test_times_are_told_in_words(amount, words):
    assert seconds(amount) == words
