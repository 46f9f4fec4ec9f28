"""Predictions streamed over any number of records; the contract that every task of texts meets."""

import json
from itertools import islice
from types import SimpleNamespace

import pytest
import torch

from anyformer.errors import DataError
from anyformer.tasks import Notes, TaskSettings, evaluate, predict, prepare, run_prepared, task_for

RECORDS = {
    "classification": [{"text": "good " * (i % 7 + 1), "label": i % 2} for i in range(20)],
    "tagging": [{"tokens": ["paris"] * (i % 5), "tags": ["B-X"] * (i % 5)} for i in range(20)],
    "qa": [{"question": "who", "context": "the cat sat " * (i % 9), "answers": ["cat"]} for i in range(20)],
}
BUDGET = 48
LABELS = {"classification": ("a", "b"), "tagging": ("O", "B-X"), "qa": ()}


@pytest.fixture(params=RECORDS)
def name(request):
    return request.param


@pytest.fixture
def task(name, tokenizer):
    return task_for(name, tokenizer, LABELS[name], settings=TaskSettings(max_length=24, doc_stride=4))


@pytest.fixture
def model(name):
    """Stands for a model: what it says of a token depends on that token alone, and a row costs its tokens."""

    def forward(batch):
        ids, mask = batch["input_ids"], batch["attention_mask"]
        assert ids.numel() <= BUDGET
        start, end = torch.sin(ids.float()), torch.cos(ids.float())
        logits = torch.stack([start, end], dim=-1) * mask[:, :, None]
        costs = {"macs": mask.sum(1), "exit_layer": mask.sum(1) % 3}
        if name == "qa":
            return SimpleNamespace(start_logits=start, end_logits=end, **costs)
        return SimpleNamespace(logits=logits if name == "tagging" else logits.sum(1), **costs)

    return forward


def close(a, b):
    """Equal but for the last digits of probabilities: batches of other widths add up in another order."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(close(a[key], b[key]) for key in a)
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    return a == (pytest.approx(b, abs=1e-5) if isinstance(b, float) else b)


def test_streamed_predictions_are_those_of_one_go_in_their_order(name, task, model):
    records = RECORDS[name]
    whole = run_prepared(task, model, prepare(task, records, max_tokens=BUDGET))
    streamed = list(predict(task, model, iter(records), chunk=3, max_tokens=BUDGET // 2))
    assert [one.record for one in streamed] == records
    assert [one.n_tokens for one in streamed] == [one.n_tokens for one in whole]
    for a, b in zip(streamed, whole, strict=True):
        assert close(json.loads(json.dumps(a.prediction)), b.prediction)
        assert (a.macs, a.exit_layer) == (b.macs, b.exit_layer)


def test_costs_are_added_up_over_the_rows_of_a_record(name, task, model):
    for one in predict(task, model, RECORDS[name], max_tokens=BUDGET):
        assert one.macs == sum(one.n_tokens)
        assert one.exit_layer == max(n % 3 for n in one.n_tokens)


def test_no_more_is_read_than_a_chunk(name, task, model):
    read = []

    def source():
        for record in RECORDS[name]:
            read.append(record)
            yield record

    first = next(predict(task, model, source(), chunk=4, max_tokens=BUDGET))
    assert first.record == RECORDS[name][0]
    assert len(read) == 4


def test_a_mistake_is_counted_from_the_chunk_it_is_in(task, model):
    source = predict(task, model, [RECORDS[task.name][1]] * 4 + [{"nothing": 1}], chunk=4, max_tokens=BUDGET)
    assert len(list(islice(source, 4))) == 4
    with pytest.raises(DataError, match=r"record 1: .* \(counted from record 5\)"):
        next(source)


def test_evaluation_has_the_tasks_own_metric(name, task, model):
    scores = evaluate(task, model, prepare(task, RECORDS[name], max_tokens=BUDGET))
    assert 0 <= scores[task.metric] <= 100


def test_a_model_that_tells_no_cost_is_no_mistake(name, task, model):
    def silent(batch):
        output = model(batch)
        del output.macs, output.exit_layer
        return output

    assert next(predict(task, silent, RECORDS[name], max_tokens=BUDGET)).macs is None


def test_no_records_have_no_predictions(task, model):
    assert list(predict(task, model, [])) == []


def test_notes_add_up_over_chunks(name, task, model):
    notes = Notes()
    record = {"text": "cat " * 99, "tokens": ["cat"] * 99, "question": "who " * 99, "context": ""}
    list(predict(task, model, [record] * 3, chunk=1, max_tokens=BUDGET, notes=notes))
    assert [line.rpartition(" ")[2] for line in notes.lines()] == ["3"]
