"""pipeline: inputs and outputs as those of `transformers`, plans as an argument, models of every kind opened."""

import warnings

import pytest
import torch
from transformers import TextClassificationPipeline

import anyformer
from anyformer.errors import AnyformerError, FolderError, InputError, PlanError
from anyformer.plan import Plan
from anyformer.tasks import TaskSettings
from tests.cli.made import HALF, N_LAYERS, made_model

TEXTS = ["the cat sat on the mat", "a bad film", "paris"]


@pytest.fixture(scope="module")
def model():
    return made_model()


@pytest.fixture(scope="module")
def pipe(model):
    return anyformer.pipeline(model)


@pytest.mark.parametrize(
    "given", [TEXTS[0], TEXTS, [TEXTS[0]], {"text": "a cat", "text_pair": "a dog"}, [{"text": "a cat"}, {"text": "b"}]]
)
def test_what_goes_in_and_comes_out_is_what_transformers_takes_and_gives(model, pipe, given):
    theirs = TextClassificationPipeline(model=model.hf, tokenizer=model.tokenizer)(given)
    ours = pipe(given)
    assert type(ours) is type(theirs)
    for one, other in zip(*([x] if isinstance(x, dict) else x for x in (ours, theirs)), strict=True):
        assert one["label"] == other["label"]
        assert one["score"] == pytest.approx(other["score"], abs=1e-5)


def test_an_empty_list_gives_an_empty_list(pipe):
    assert pipe([]) == []


def test_an_iterator_gives_an_iterator(pipe):
    found = pipe(text for text in TEXTS)
    assert next(found) == pytest.approx(pipe(TEXTS[0])[0])
    assert len(list(found)) == 2


def test_every_label_comes_sorted(model):
    every = anyformer.pipeline(model, settings=TaskSettings(every_label=True))
    assert [set(one) for one in every([TEXTS[0]])[0]] == [{"label", "score"}] * 2
    assert len(every(TEXTS[0])) == 2


def test_a_budget_is_of_the_pipeline_or_of_a_call(model, pipe):
    assert anyformer.pipeline(model, budget="60%").plan == HALF
    long = "the cat sat on the mat in paris " * 4
    assert pipe(long, budget="60%")[0] == pytest.approx(anyformer.pipeline(model, budget="60%")(long)[0])
    assert pipe.plan == Plan.full(N_LAYERS)


def test_what_a_row_costs_is_told_against_the_full_plan(model):
    half = anyformer.pipeline(model, budget="60%")
    (one,) = half.stream(half.records(["the cat sat on the mat in paris " * 4]))
    assert one.macs / half.full_macs(one) == pytest.approx(0.6, abs=0.1)
    (one,) = anyformer.pipeline(model).stream(half.records(["the cat"]))
    assert one.macs == half.full_macs(one)


def test_tagging_and_questions(tmp_path):
    tags = anyformer.pipeline(made_model("tagging"))
    assert isinstance(tags("the cat sat"), list)
    assert [isinstance(one, list) for one in tags(["the cat", "paris"])] == [True, True]
    answer = anyformer.pipeline(made_model("qa"))({"question": "who sat", "context": "the cat sat"})
    assert set(answer) == {"answer", "score", "start", "end"}


def test_a_text_that_is_cut_warns(pipe):
    with pytest.warns(UserWarning, match="64 tokens"):
        pipe("cat " * 200)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pipe("cat")


def test_a_saved_folder_and_a_plain_checkpoint_are_opened(model, pipe, tmp_path):
    model.save(tmp_path / "ours")
    model.hf.save_pretrained(tmp_path / "plain")
    model.tokenizer.save_pretrained(tmp_path / "plain")
    for folder in ("ours", "plain"):
        assert anyformer.pipeline(tmp_path / folder)(TEXTS) == [pytest.approx(one) for one in pipe(TEXTS)]
    assert anyformer.pipeline(tmp_path / "ours", budget="60%").plan == HALF


def test_a_model_in_training_predicts_without_dropout():
    model = made_model().train()
    assert anyformer.pipeline(model)(TEXTS) == anyformer.pipeline(model)(TEXTS)


def test_wrong_inputs_name_the_one_and_its_field(pipe):
    with pytest.raises(InputError, match="input 2: text is int"):
        pipe([{"text": "a"}, {"text": 3}])
    with pytest.raises(InputError, match="input 1"):
        pipe(3)


def test_what_cannot_be_opened_says_why(model, tmp_path):
    with pytest.raises(FolderError, match="there is no such folder"):
        anyformer.pipeline(tmp_path / "nowhere")
    with pytest.raises(FolderError, match="holds no model"):
        anyformer.pipeline(tmp_path)
    with pytest.raises(AnyformerError, match="is for classification, not for qa"):
        anyformer.pipeline(model, task="qa")
    with pytest.raises(AnyformerError, match="has no head of a task"):
        anyformer.pipeline(anyformer.AdaptiveModel.wrap(model.hf.bert, model.tokenizer))
    with pytest.raises((AnyformerError, PlanError), match="40"):
        anyformer.pipeline(model, budget="40%")


def test_the_batch_goes_to_where_the_model_is(model):
    pipe = anyformer.pipeline(model, device="cpu")
    assert pipe.model.device == torch.device("cpu")
