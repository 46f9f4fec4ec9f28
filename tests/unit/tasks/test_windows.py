"""Windows over a context, and answers in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.tasks.windows import answer_tokens, room, short_questions, windows
from tests.unit.tasks.made import made_tokenizer

TOKENIZER = made_tokenizer()
WORDS = st.lists(st.sampled_from(["the", "cat", "xyz", "sat", "mats", "!"]), max_size=40)


@given(WORDS, st.integers(12, 40), st.integers(0, 20))
def test_windows_cover_the_context_and_every_token_is_owned_once(words, max_length, stride):
    context = " ".join(words)
    size = room(TOKENIZER, max_length, 5, stride)
    found = list(windows(TOKENIZER, ["who sat"], [context], size))
    whole = TOKENIZER(context, add_special_tokens=False, return_offsets_mapping=True)["offset_mapping"]
    owned = sorted((int(s), int(e)) for w in found for s, e, own in zip(w.starts, w.ends, w.owned, strict=True) if own)
    assert owned == sorted(whole)
    assert all(len(w.encoding.ids) <= max_length for w in found)


def test_a_token_is_owned_where_it_has_the_most_context():
    found = list(windows(TOKENIZER, ["who"], ["the cat sat on the mat in paris"], room(TOKENIZER, 10, 2, 3)))
    assert [len(w.starts) for w in found] == [6, 4]
    assert [w.owned.tolist() for w in found] == [[True, True, True, True, True, False], [False, True, True, True]]


def test_an_answer_is_where_its_characters_are():
    (window,) = windows(TOKENIZER, ["who"], ["the cats sat"], room(TOKENIZER, 20, 5, 2))
    first, last = answer_tokens(window, 4, 8, nowhere=0)
    assert window.encoding.tokens[first : last + 1] == ["cat", "##s"]
    assert answer_tokens(window, 4, 20, nowhere=0) == (0, 0)
    assert answer_tokens(window, 3, 3, nowhere=0) == (0, 0)


def test_an_answer_within_a_token_is_the_token():
    (window,) = windows(TOKENIZER, ["who"], ["in paris"], room(TOKENIZER, 20, 5, 2))
    first, last = answer_tokens(window, 4, 6, nowhere=0)
    assert window.encoding.tokens[first : last + 1] == ["paris"]


def test_a_window_that_holds_a_part_of_the_answer_does_not_hold_it():
    found = list(windows(TOKENIZER, ["who"], ["the cat sat on the mat in paris"], room(TOKENIZER, 10, 2, 1)))
    assert [answer_tokens(w, 12, 22, nowhere=0) != (0, 0) for w in found] == [True, False]
    assert [answer_tokens(w, 15, 25, nowhere=0) != (0, 0) for w in found] == [False, False]


def test_an_empty_context_has_one_window_without_tokens():
    (window,) = windows(TOKENIZER, ["who"], [""], room(TOKENIZER, 20, 5, 2))
    assert len(window.starts) == 0
    assert answer_tokens(window, 0, 1, nowhere=0) == (0, 0)


@pytest.mark.parametrize("max_length", [8, 16, 384])
def test_the_context_has_at_least_half_of_the_room(max_length):
    size = room(TOKENIZER, max_length, 64, 128)
    assert size.question <= (max_length - 3) // 2 or size.question == 1
    assert size.stride <= (max_length - 3 - size.question) // 2


def test_long_questions_are_cut_at_a_token():
    found, n_cut = short_questions(TOKENIZER, ["  who sat on the mat", "who"], 3)
    assert (found, n_cut) == (["who sat on", "who"], 1)


def test_examples_are_told_apart():
    long = "the cat sat on the mat " * 5
    found = list(windows(TOKENIZER, ["who", "who", "where"], [long, "the cat", long], room(TOKENIZER, 20, 5, 4)))
    examples = [w.example for w in found]
    assert examples == sorted(examples)
    assert np.unique(examples).tolist() == [0, 1, 2]
    assert examples.count(1) == 1
