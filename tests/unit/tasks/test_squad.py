"""Exact match and F1, against cases worked by hand."""

import pytest

from anyformer.tasks.squad import answer_scores, exact, f1, normalised


def test_case_punctuation_articles_and_spaces_do_not_count():
    assert normalised("The  U.S.-led, an\tAnswer!") == "usled answer"
    assert exact("the Cat.", "cat") == 1
    assert exact("theatre", "atre") == 0


@pytest.mark.parametrize(
    ("found", "wanted", "score"),
    [
        ("Denver Broncos", "the Denver Broncos", 1),
        ("Denver", "Denver Broncos", 2 / 3),
        ("cat cat dog", "cat bird", 2 * (1 / 3) * (1 / 2) / (1 / 3 + 1 / 2)),
        ("cat", "dog", 0),
        ("", "dog", 0),
        ("the", "a", 0),
    ],
)
def test_f1_is_over_words(found, wanted, score):
    assert f1(found, wanted) == pytest.approx(score)


def test_the_best_of_several_answers_counts_for_each_measure():
    scores = answer_scores(["Denver", "1999"], [["Denver Broncos", "denver"], ["in 1998"]])
    assert scores == {"f1": 50, "exact_match": 50}


def test_without_an_answer_the_empty_one_is_right():
    assert answer_scores(["", "x"], [[], []])["exact_match"] == 50
