"""Words -> tokens and back; entities as pipelines give them."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import ByteLevelBPETokenizer
from transformers import PreTrainedTokenizerFast

from anyformer.errors import DataError, InputError
from anyformer.tasks import Notes, TaskSettings, task_for
from anyformer.tasks.tagging import tag_names, words_of
from tests.unit.tasks.made import made_tokenizer

TOKENIZER = made_tokenizer()
LABELS = ("O", "B-LOC", "I-LOC")
RECORD = {
    "tokens": ["the", "Cats", "sat", "in", "new", "Paris", "!"],
    "tags": ["O", "O", "O", "O", "B-LOC", "I-LOC", "O"],
}


@pytest.fixture
def task():
    return task_for("tagging", TOKENIZER, LABELS)


def sure_of(features):
    """An output that is sure of the labels of the features."""
    width = max(feature.n_tokens for feature in features)
    logits = np.zeros((len(features), width, len(LABELS)))
    for row, feature in zip(logits, features, strict=True):
        for t, label in enumerate(feature.labels):
            row[t, max(label, 0)] = 20
    return SimpleNamespace(logits=logits)


def test_the_first_token_of_a_word_carries_its_tag(task):
    (feature,) = task.features([RECORD], labelled=True)
    tokens = TOKENIZER.convert_ids_to_tokens(feature.inputs["input_ids"].tolist())
    tagged = [(token, LABELS[label]) for token, label in zip(tokens, feature.labels, strict=True) if label >= 0]
    assert tagged == [
        *(("the", "O"), ("cat", "O"), ("sat", "O"), ("in", "O")),
        *(("n", "B-LOC"), ("paris", "I-LOC"), ("!", "O")),
    ]
    assert sum(label < 0 for label in feature.labels) == len(tokens) - 7


@given(st.lists(st.sampled_from(["the", "mats", "a-b", "x!", "\u200d", "paris"]), max_size=12))
def test_words_meet_their_tokens_as_when_the_tokenizer_is_told_of_words(words):
    (feature,) = task_for("tagging", TOKENIZER, LABELS).features([{"tokens": words}])
    told = TOKENIZER(words, is_split_into_words=True)
    places = told.word_ids()
    assert feature.inputs["input_ids"].tolist() == told["input_ids"]
    assert feature.info["firsts"].tolist() == [places.index(w) if w in places else -1 for w in range(len(words))]


def test_spaces_that_belong_to_tokens_do_not_shift_words():
    backend = ByteLevelBPETokenizer(trim_offsets=False)
    backend.train_from_iterator(["the cat sat in paris"] * 3, vocab_size=300, show_progress=False)
    spaced = PreTrainedTokenizerFast(tokenizer_object=backend._tokenizer, model_max_length=64, pad_token="a")
    (feature,) = task_for("tagging", spaced, LABELS).features([{"tokens": ["the", "cat", "é", "sat"]}])
    firsts = feature.info["firsts"].tolist()
    pieces = [spaced.decode([feature.inputs["input_ids"][t]]).strip() for t in firsts]
    assert firsts == sorted(set(firsts))
    assert [piece[:1] for piece in pieces if piece.isascii()] == ["t", "c", "s"]


def test_sure_logits_give_the_tags_back_and_entities_as_pipelines_do(task):
    features = task.features([RECORD], labelled=True)
    (found,) = task.finish(task.decode(sure_of(features), features), features, [RECORD])
    assert found["tags"] == RECORD["tags"]
    assert found["tokens"] == RECORD["tokens"]
    (entity,) = task.pipeline_output(found)
    assert entity == {"entity_group": "LOC", "score": pytest.approx(1), "word": "new Paris", "start": 16, "end": 25}
    assert task.score([found], [RECORD])["f1"] == 100


def test_a_text_is_split_into_words(task):
    text, spans = words_of({"text": "Cats sat in U.S.A. (@home), don't!"}, 0)
    words = [text[start:end] for start, end in spans]
    assert words == ["Cats", "sat", "in", "U.S.A", ".", "(", "@home", ")", ",", "don't", "!"]
    (feature,) = task.features([{"text": text}])
    assert len(feature.info["firsts"]) == len(words)


def test_words_that_are_cut_off_are_outside():
    notes = Notes()
    task = task_for("tagging", TOKENIZER, LABELS, settings=TaskSettings(max_length=8))
    record = {"tokens": ["paris"] * 10, "tags": ["B-LOC"] * 10}
    features = task.features([record], notes, labelled=True)
    (found,) = task.finish(task.decode(sure_of(features), features), features, [record])
    assert found["tags"] == ["B-LOC"] * 6 + ["O"] * 4
    assert notes.lines() == ["texts cut at 8 tokens: 1"]


def test_no_words_are_no_mistake(task):
    record = {"tokens": [], "tags": []}
    features = task.features([record], labelled=True)
    (found,) = task.finish(task.decode(sure_of(features), features), features, [record])
    assert found == {"entities": [], "tokens": [], "tags": []}


def test_tags_are_named_outside_first_then_by_type():
    assert tag_names([["I-B", "O"], ["B-B", "B-A"]]) == ("O", "B-A", "B-B", "I-B")
    assert tag_names([["O"]], ("O", "B-A")) == ("O", "B-A")
    assert tag_names([[0, 2]]) == ("LABEL_0", "LABEL_1", "LABEL_2")
    with pytest.raises(DataError, match="tags must be lists of names"):
        tag_names(["O", None])
    with pytest.raises(DataError, match="tags must be lists of names"):
        tag_names([["O", 1]])


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ({"tokens": ["a"], "tags": ["O", "O"]}, "record 1 has 2 tags for 1 words"),
        ({"tokens": ["a"]}, "record 1 has no tags for 1 words"),
        ({"tokens": ["a"], "tags": ["B-X"]}, "record 1 has tag 'B-X'; tags are O, B-LOC"),
        ({"tokens": "a b", "tags": ["O"]}, "tokens is str; a list of words"),
    ],
)
def test_tags_that_do_not_fit_their_words_are_said_with_the_record(task, record, said):
    with pytest.raises(DataError, match=said):
        task.features([record], labelled=True)


def test_inputs_are_texts_or_lists_of_words(task):
    assert task.record("a cat") == task.record({"text": "a cat"}) == {"text": "a cat"}
    assert task.record(["a", "cat"]) == task.record({"tokens": ("a", "cat")}) == {"tokens": ["a", "cat"]}
    for wrong in (3, {"words": 1}, ["a", 3]):
        with pytest.raises(InputError, match="tokens must be a list of texts"):
            task.record(wrong)


def test_a_prediction_of_other_words_is_not_scored(task):
    with pytest.raises(InputError, match="prediction 1 has 1 tags for 7 words"):
        task.score([{"tags": ["O"]}], [RECORD])
