"""The journal: what was added is there, what was altered is found, what was torn is dropped."""

import pytest

from anyformer.errors import AnyformerError, FolderError
from anyformer.search.journal import Journal

ABOUT = {"model": "m", "settings": {"seed": 0}}


@pytest.fixture
def path(tmp_path):
    journal = Journal(tmp_path / ".search" / "journal.jsonl", ABOUT, resume=False)
    journal.add([{"plan": {"keep": [1.0]}, "score": 1.5}, {"plan": {"keep": [0.5]}, "score": None}])
    journal.add([{"plan": {"keep": [0.25]}, "score": 3.0}])
    return journal.path


def test_a_resumed_journal_holds_what_was_added(path):
    again = Journal(path, ABOUT, resume=True)
    assert [line["score"] for line in again.lines] == [1.5, None, 3.0]
    again.add([{"score": 4.0}])
    assert [line["score"] for line in Journal(path, ABOUT, resume=True).lines] == [1.5, None, 3.0, 4.0]


def test_without_resume_it_begins_anew(path):
    assert Journal(path, ABOUT, resume=False).lines == []
    assert len(path.read_text().splitlines()) == 1


@pytest.mark.parametrize("cut", [1, 5, 30])
def test_a_torn_last_line_is_dropped_and_said(path, cut):
    whole = path.read_bytes()
    path.write_bytes(whole[:-cut])
    again = Journal(path, ABOUT, resume=True)
    assert again.torn
    assert len(again.lines) == 2
    again.add([{"plan": {"keep": [0.25]}, "score": 3.0}])
    assert path.read_bytes() == whole


def test_a_journal_of_which_only_half_a_first_line_is_left_begins_anew(path):
    path.write_bytes(path.read_bytes()[:10])
    assert Journal(path, ABOUT, resume=True).lines == []
    assert len(Journal(path, ABOUT, resume=True).lines) == 0


@pytest.mark.parametrize("n", range(4))
def test_an_altered_line_is_named(path, n):
    lines = path.read_text().splitlines()
    lines[n] = lines[n].replace("0", "1").replace("3", "4").replace("null", "2.0")
    path.write_text("\n".join(lines) + "\n")
    with pytest.raises(FolderError, match=f"line {n + 1} is not as it was written"):
        Journal(path, ABOUT, resume=True)


def test_a_line_that_was_taken_out_is_found(path):
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *lines[2:]]) + "\n")
    with pytest.raises(FolderError, match="line 2"):
        Journal(path, ABOUT, resume=True)


def test_another_search_is_refused_and_says_what_differs(path):
    with pytest.raises(AnyformerError, match="seed was 0, is 1"):
        Journal(path, {"model": "m", "settings": {"seed": 1}}, resume=True)
