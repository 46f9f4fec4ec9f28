"""Questions and contexts -> windows; logits -> answers."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.errors import DataError, InputError
from anyformer.tasks import Notes, TaskSettings, task_for
from anyformer.tasks.qa import answers_of
from tests.unit.tasks.made import made_tokenizer

TOKENIZER = made_tokenizer()
WORDS = st.lists(st.sampled_from(["the", "cat", "dog", "sat", "mats", "paris!"]), min_size=1, max_size=40)


def qa(**settings):
    return task_for("qa", TOKENIZER, settings=TaskSettings(**settings))


def record(context, answer, start=None, question="who sat"):
    start = context.index(answer) if start is None else start
    return {"question": question, "context": context, "answers": {"text": [answer], "answer_start": [start]}}


def sure_of(labelled):
    """An output that is sure of the labels of the features."""
    width = max(feature.n_tokens for feature in labelled)
    start, end = np.zeros((2, len(labelled), width))
    for i, feature in enumerate(labelled):
        start[i, feature.labels["start_positions"]] = 20
        end[i, feature.labels["end_positions"]] = 20
    return SimpleNamespace(start_logits=start, end_logits=end)


def answered(task, records):
    features = task.features(records)
    return task.finish(task.decode(sure_of(task.features(records, labelled=True)), features), features, records)


@given(WORDS, st.data())
def test_sure_logits_give_the_answer_back_over_any_number_of_windows(words, data):
    first = data.draw(st.integers(0, len(words) - 1))
    last = data.draw(st.integers(first, min(first + 2, len(words) - 1)))
    start = len(" ".join([*words[:first], ""])) if first else 0
    one = record(" ".join(words), " ".join(words[first : last + 1]), start)
    task = qa(max_length=24, doc_stride=8)
    (found,) = answered(task, [one])
    assert task.score([found], [one])["exact_match"] == 100
    assert one["context"][found["start"] : found["end"]] == found["answer"]


def test_an_answer_is_a_span_of_the_context_with_its_place():
    (found,) = answered(qa(), [record("The Cats sat in Paris!", "Paris")])
    assert found == {"answer": "Paris", "score": pytest.approx(1, abs=1e-3), "start": 16, "end": 21}


def test_a_window_without_the_answer_points_at_its_first_token():
    task = qa(max_length=12, doc_stride=2)
    features = task.features([record("the cat sat on the mat in the paris film", "paris")], labelled=True)
    where = [feature.labels["start_positions"] for feature in features]
    assert where[0] == 0
    assert where[-1] > 0


def test_of_two_places_the_one_that_is_named_is_learnt():
    context = "cat the cat the cat"
    task = qa()
    firsts = [task.features([record(context, "cat", at)], labelled=True)[0].labels for at in (0, 8, 16)]
    assert [labels["start_positions"] for labels in firsts] == [4, 6, 8]


def test_an_answer_that_is_not_there_is_counted_and_left_out_of_training_only():
    notes, task = Notes(), qa()
    records = [record("the cat", "dog", 0), record("the cat", "cat")]
    assert [feature.example for feature in task.features(records, notes, labelled=True)] == [1]
    assert len(task.features(records)) == 2
    assert notes.lines() == ["questions left out of training, as their answer is not in their context: 1"]


def test_a_question_without_an_answer_points_at_the_first_token():
    one = {"question": "who", "context": "the cat", "answers": {"text": [], "answer_start": []}}
    (feature,) = qa().features([one], labelled=True)
    assert feature.labels == {"start_positions": 0, "end_positions": 0}


def test_an_empty_context_has_the_empty_answer():
    one = {"question": "who", "context": ""}
    task = qa()
    features = task.features([one])
    output = SimpleNamespace(start_logits=np.ones((1, 9)), end_logits=np.ones((1, 9)))
    (found,) = task.finish(task.decode(output, features), features, [one])
    assert found == {"answer": "", "score": 0.0, "start": 0, "end": 0}


def test_a_long_question_is_cut_and_counted():
    notes = Notes()
    task = qa(max_length=40, max_question_tokens=4)
    (feature,) = task.features([record("the cat", "cat", question="who " * 30)], notes)
    assert feature.info["first"] == 6
    assert notes.lines() == ["questions cut at 4 tokens: 1"]


def test_white_space_around_an_answer_is_left_out():
    task = qa()
    one = {"question": "who", "context": " the  cat "}
    features = task.features([one])
    output = SimpleNamespace(start_logits=np.zeros((1, 9)), end_logits=np.zeros((1, 9)))
    output.start_logits[0, 3] = output.end_logits[0, 4] = 9
    (found,) = task.finish(task.decode(output, features), features, [one])
    assert (found["answer"], found["start"], found["end"]) == ("the  cat", 1, 9)


@pytest.mark.parametrize(
    "answers",
    [
        {"text": ["cat"], "answer_start": [4]},
        [{"text": "cat", "answer_start": 4}],
        {"text": "cat", "answer_start": 4},
        ["cat"],
        "cat",
        {"text": ["cat"]},
    ],
)
def test_answers_come_in_several_forms(answers):
    assert [text for text, _ in answers_of({"answers": answers}, 0)] == ["cat"]
    one = {"question": "who", "context": "the cat", "answers": answers}
    assert qa().features([one], labelled=True)[0].labels["start_positions"] > 0


def test_other_answers_are_refused():
    for wrong in (None, 3, [3], [{"text": None}], {"texts": []}):
        with pytest.raises(DataError, match="record 1"):
            answers_of({"answers": wrong}, 0)


def test_inputs_have_a_question_and_a_context():
    task = qa()
    assert task.record({"question": "who", "context": "", "id": 3}) == {"question": "who", "context": ""}
    with pytest.raises(InputError, match="context is NoneType"):
        task.record({"question": "who"})
    with pytest.raises(InputError, match="an input is str"):
        task.record("who")
