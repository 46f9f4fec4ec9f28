"""Which column plays which part."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.data.columns import PAIRS, canonical, columns_of, find_columns, guess_task
from anyformer.errors import DataError


@pytest.mark.parametrize(
    ("task", "found", "columns"),
    [
        ("classification", ["text", "label"], {"text": "text", "label": "label"}),
        ("classification", ["idx", "Sentence", "labels"], {"text": "Sentence", "label": "labels"}),
        (
            "classification",
            ["sentence1", "sentence2", "score"],
            {"text": "sentence1", "text_pair": "sentence2", "label": "score"},
        ),
        (
            "classification",
            ["text", "text_pair", "label", "score"],
            {"text": "text", "text_pair": "text_pair", "label": "label"},
        ),
        ("tagging", ["tokens", "ner_tags"], {"tokens": "tokens", "tags": "ner_tags"}),
        ("tagging", ["id", "tokens", "tags"], {"tokens": "tokens", "tags": "tags"}),
        (
            "qa",
            ["id", "title", "context", "question", "answers"],
            {"question": "question", "context": "context", "answers": "answers"},
        ),
        ("image", ["image", "label"], {"image": "image", "label": "label"}),
        ("translation", ["id", "en", "fr"], {"source": "en", "target": "fr"}),
    ],
)
def test_usual_names_are_found(task, found, columns):
    assert find_columns(task, found) == columns
    assert guess_task(found) == task


@given(st.sampled_from(PAIRS), st.lists(st.sampled_from(["id", "idx", "notes", "label"]), unique=True), st.randoms())
def test_a_pair_is_found_among_other_columns_in_any_order(pair, others, random):
    found = [*pair, *others]
    random.shuffle(found)
    columns = find_columns("classification", found, labelled=False)
    assert (columns["text"], columns["text_pair"]) == pair


def test_a_named_column_comes_first():
    found = ["text", "title", "label", "gold"]
    assert find_columns("classification", found, {"text": "title", "label": "gold"}) == {
        "text": "title",
        "label": "gold",
    }


def test_a_named_text_is_not_made_a_pair():
    found = ["premise", "hypothesis", "label"]
    assert find_columns("classification", found, {"text": "premise"}) == {"text": "premise", "label": "label"}


def test_one_of_two_languages_can_be_named():
    assert find_columns("translation", ["en", "fr"], {"source": "fr"}) == {"source": "fr", "target": "en"}


def test_of_three_languages_two_must_be_named():
    with pytest.raises(DataError, match="found columns de, en, fr; name them, as in --source-column"):
        find_columns("translation", ["de", "en", "fr"])
    named = {"source": "de", "target": "fr"}
    assert find_columns("translation", ["de", "en", "fr"], named) == named


def test_labels_may_be_missing_where_nothing_is_learnt():
    assert find_columns("classification", ["text"], labelled=False) == {"text": "text"}
    assert find_columns("tagging", ["text"], labelled=False) == {"text": "text"}


@pytest.mark.parametrize(
    ("task", "found", "named", "said"),
    [
        ("classification", ["body", "label"], {}, "needs text.*found columns body, label.*--text-column"),
        ("classification", ["text", "gold"], {}, "needs label or labels.*found columns text, gold.*--label-column"),
        ("qa", ["question", "answers"], {}, "needs question and context; found columns question, answers"),
        ("tagging", ["tags"], {}, "needs tokens"),
        ("image", ["path"], {}, "needs image"),
        ("classification", ["text"], {"text": "body"}, "no column 'body' for text; found text"),
        ("classification", ["text"], {"tags": "text"}, "classification has no tags column"),
        ("rerank", ["text"], {}, "tasks are classification, tagging"),
    ],
)
def test_a_miss_says_what_was_found_and_what_was_expected(task, found, named, said):
    with pytest.raises(DataError, match=said):
        find_columns(task, found, named)


def test_columns_that_fit_no_task_are_listed():
    with pytest.raises(DataError, match="columns body, gold fit no task"):
        guess_task(["body", "gold"])


def test_a_record_is_renamed_to_the_parts_of_its_task():
    columns = {"text": "sentence", "label": "gold"}
    assert canonical({"sentence": "", "gold": 1, "id": 7}, columns) == {"text": "", "label": 1}
    with pytest.raises(DataError, match="no column 'gold'; found sentence"):
        canonical({"sentence": "a"}, columns)


def test_languages_inside_of_a_translation_are_columns():
    record = {"translation": {"en": "a cat", "fr": "un chat"}}
    assert guess_task(columns_of(record)) == "translation"
    columns = find_columns("translation", columns_of(record))
    assert canonical(record, columns) == {"source": "a cat", "target": "un chat"}
