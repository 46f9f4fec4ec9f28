"""Entities out of tags, against cases worked by hand from conlleval's rules."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.tasks.entities import entities, entity_scores

TAGS = st.lists(st.sampled_from(["O", "B-X", "I-X", "B-Y", "I-Y", "E-X", "S-Y"]), max_size=10)


@pytest.mark.parametrize(
    ("tags", "wanted"),
    [
        ("B-X I-X O B-Y", [("X", 0, 1), ("Y", 3, 3)]),
        ("B-X B-X", [("X", 0, 0), ("X", 1, 1)]),
        ("I-X I-X", [("X", 0, 1)]),
        ("O I-X", [("X", 1, 1)]),
        ("B-X I-Y", [("X", 0, 0), ("Y", 1, 1)]),
        ("B-X I-X E-X I-X", [("X", 0, 2), ("X", 3, 3)]),
        ("S-X S-X", [("X", 0, 0), ("X", 1, 1)]),
        ("S-X I-X", [("X", 0, 0), ("X", 1, 1)]),
        ("B-X E-X O", [("X", 0, 1)]),
        ("B-a-b I-a-b", [("a-b", 0, 1)]),
        ("PER PER O ORG", [("PER", 0, 1), ("ORG", 3, 3)]),
        ("B I O", [("_", 0, 1)]),
        ("O O", []),
        ("", []),
    ],
)
def test_entities_are_those_of_conlleval(tags, wanted):
    assert entities(tags.split()) == wanted


@given(TAGS)
def test_entities_cover_all_words_that_are_not_outside_and_no_other(tags):
    covered = [i for _, first, last in entities(tags) for i in range(first, last + 1)]
    assert covered == [i for i, tag in enumerate(tags) if tag != "O"]


def test_scores_count_entities_of_all_texts_together():
    wanted = [["B-X", "I-X", "O"], ["B-Y", "O", "B-X"]]
    found = [["B-X", "I-X", "O"], ["B-X", "O", "O"]]
    scores = entity_scores(found, wanted)
    assert scores["precision"] == pytest.approx(100 / 2)
    assert scores["recall"] == pytest.approx(100 / 3)
    assert scores["f1"] == pytest.approx(40)
    assert scores["accuracy"] == pytest.approx(100 * 4 / 6)


def test_an_entity_of_another_length_is_wrong():
    assert entity_scores([["B-X", "O"]], [["B-X", "I-X"]])["f1"] == 0


def test_a_missing_beginning_is_forgiven():
    assert entity_scores([["I-X", "I-X"]], [["B-X", "I-X"]])["f1"] == 100


@given(TAGS)
def test_right_tags_score_all_and_no_entity_scores_nothing(tags):
    assert entity_scores([tags], [tags])["f1"] == (100 if entities(tags) else 0)
    assert entity_scores([["O"] * len(tags)], [tags])["f1"] == 0
