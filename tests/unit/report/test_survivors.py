"""Which tokens of a text survive: as many as the plan says, shown as the text has them."""

from dataclasses import replace

import pytest

from anyformer.errors import AnyformerError
from anyformer.plan import Exit, Plan
from anyformer.report.survivors import survivors
from tests.cli.made import N_LAYERS, POSITIONS, made_model

TEXT = "The cat-dogs sat  on the MAT <b>in</b> Paris"
PLANS = (Plan.full(N_LAYERS), Plan.at({0: 0.5, 2: 0.25}, N_LAYERS))


@pytest.fixture(scope="module")
def model():
    return made_model()


def test_as_many_survive_each_layer_as_the_plan_says(model):
    (found,) = survivors(model, PLANS, [TEXT])
    for plan, left in zip(PLANS, found.left, strict=True):
        kept = tuple(sum(one > layer for one in left) for layer in range(N_LAYERS))
        assert kept == plan.counts(len(found.tokens))


def test_the_first_token_stays_where_the_head_reads_it(model):
    (found,) = survivors(model, PLANS, [TEXT])
    assert [left[0] for left in found.left] == [N_LAYERS, N_LAYERS]


def test_the_pieces_read_as_the_text(model):
    (found,) = survivors(model, PLANS, [TEXT])
    assert "".join(token.gap + token.piece for token in found.tokens if not token.special) == TEXT
    assert [token.piece for token in found.tokens if token.special] == ["[CLS]", "[SEP]"]
    assert "dog" in [token.piece for token in found.tokens]


def test_a_text_is_told_with_what_is_gone_left_out(model):
    (found,) = survivors(model, PLANS, [TEXT])
    assert found.after(1, -1) == "[CLS] The cat-dogs sat on the MAT <b>in</b> Paris [SEP]"
    assert found.after(1, 0) == found.after(1, 1)
    assert "…" in found.after(1, 0)
    assert len(found.after(1, 2)) < len(found.after(1, 0))


def test_texts_do_not_change_each_other(model):
    together = survivors(model, PLANS, [TEXT, "a film"])
    assert together == [*survivors(model, PLANS, [TEXT]), *survivors(model, PLANS, ["a film"])]


def test_empty_long_and_broken_texts_are_followed(model):
    empty, long, broken = survivors(model, PLANS, ["", "cat " * 500, "a \ud800 film"])
    assert (len(empty.tokens), empty.is_cut) == (2, False)
    assert (len(long.tokens), long.is_cut) == (POSITIONS, True)
    assert "\ufffd" in [token.piece for token in broken.tokens] or len(broken.tokens) == 4


def test_an_exit_rule_is_left_out(model):
    leaving = replace(PLANS[1], exit=Exit("entropy", 0.3))
    assert survivors(model, [leaving], [TEXT])[0].left == survivors(model, PLANS[1:], [TEXT])[0].left


def test_a_tagger_is_followed_and_a_model_for_questions_is_not():
    assert survivors(made_model("tagging"), PLANS, [TEXT])
    with pytest.raises(AnyformerError, match="this one is for qa"):
        survivors(made_model("qa"), PLANS, [TEXT])
