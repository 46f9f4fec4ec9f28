"""Plan, Exit, Space: the values that say what one forward pass does."""

import json
import math
from itertools import pairwise
from random import Random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from anyformer.errors import AnyformerError, PlanError
from anyformer.plan import EXIT_RULES, SCORES, Exit, Plan, Space

DEPTHS = st.integers(1, 24)
TOKENS = st.integers(1, 2000)
RATIOS = st.floats(1e-3, 1)


@st.composite
def exits(draw: st.DrawFn) -> Exit:
    rule = draw(st.sampled_from(EXIT_RULES))
    one = st.integers(0, 12) if rule == "patience" else st.floats(0, 1)
    return Exit(rule, draw(one | st.lists(one, min_size=1, max_size=12).map(tuple)))


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    keep = sorted(draw(st.lists(RATIOS, min_size=1, max_size=24)), reverse=True)
    some = st.sets(st.integers(0, len(keep) - 1), min_size=1).map(lambda layers: tuple(sorted(layers)))
    return Plan(tuple(keep), draw(st.none() | some), draw(st.none() | exits()), draw(st.sampled_from(SCORES)))


@st.composite
def spaces(draw: st.DrawFn) -> Space:
    kind = draw(st.sampled_from(["every", "few"]))
    return Space(draw(DEPTHS), kind, draw(st.floats(0, 0.9)), draw(st.floats(0.01, 1)))


@given(plans(), TOKENS)
def test_counts_never_increase_and_stay_between_two_and_all_tokens(plan, n_tokens):
    counts = plan.counts(n_tokens)
    assert len(counts) == plan.n_layers
    assert list(counts) == sorted(counts, reverse=True)
    assert counts[0] <= n_tokens
    assert counts[-1] >= min(n_tokens, 2)


@given(plans(), TOKENS)
def test_a_running_layer_keeps_at_least_its_share_and_less_than_one_token_more(plan, n_tokens):
    counts, before = plan.counts(n_tokens), n_tokens
    for i in plan.running:
        wanted = min(before, max(2, plan.keep[i] * n_tokens))
        assert wanted - 1e-6 <= counts[i] < wanted + 1
        before = counts[i]


@given(plans(), TOKENS)
def test_a_layer_that_does_not_run_drops_nothing(plan, n_tokens):
    before = (n_tokens, *plan.counts(n_tokens))
    assert all(before[i] == before[i + 1] for i in range(plan.n_layers) if i not in plan.running)


@given(st.integers(2, 2000), DEPTHS)
def test_the_full_plan_keeps_every_token(n_tokens, n_layers):
    assert Plan.full(n_layers).counts(n_tokens) == (n_tokens,) * n_layers


@pytest.mark.parametrize("n_tokens", [1, 2])
def test_one_or_two_tokens_are_never_fewer(n_tokens):
    assert Plan((0.001, 0.001)).counts(n_tokens) == (n_tokens, n_tokens)


@given(st.data(), st.integers(2, 2000), DEPTHS)
def test_a_plan_made_from_counts_gives_these_counts(data, n_tokens, n_layers):
    valid = st.lists(st.integers(2, n_tokens), min_size=n_layers, max_size=n_layers)
    counts = tuple(sorted(data.draw(valid), reverse=True))
    assert Plan.from_counts(counts, n_tokens).counts(n_tokens) == counts


@pytest.mark.parametrize("counts", [(3, 4), (3, 0), (3, -1), ()])
def test_counts_that_no_plan_gives_are_refused(counts):
    with pytest.raises(PlanError):
        Plan.from_counts(counts, 4)


def test_float_dust_does_not_keep_one_token_more():
    assert math.ceil(0.07 * 100) == 8
    assert Plan((0.07,)).counts(100) == (7,)
    assert Plan((0.7,)).counts(10) == (7,)
    assert Plan.constant(0.3, 2).counts(100) == (70, 49)


@given(st.integers(0, 99), st.integers(1, 20))
def test_whole_percentages_of_hundreds_are_exact(percent, hundreds):
    n_tokens, kept = 100 * hundreds, (100 - percent) * hundreds
    assert Plan((1 - percent / 100,)).counts(n_tokens) == (max(2, kept),)
    assert Plan(((100 - percent) / 100,)).counts(n_tokens) == (max(2, kept),)


@given(st.floats(0, 0.9), DEPTHS)
def test_a_constant_plan_drops_the_same_share_at_every_layer(rate, n_layers):
    keep = (1.0, *Plan.constant(rate, n_layers).keep)
    assert all(math.isclose(after, before * (1 - rate)) for before, after in pairwise(keep))


@given(st.floats(0, 0.9), DEPTHS)
def test_the_smallest_plan_is_the_constant_plan_of_the_bound(p, n_layers):
    assert Plan.smallest(p, n_layers) == Plan.constant(p, n_layers) == Space(n_layers, p=p).smallest()


@given(plans())
def test_segments_end_to_end_are_the_running_layers(plan):
    assert tuple(layer for segment in plan.segments() for layer in segment) == plan.running
    assert all(plan.segments())


@given(plans())
def test_a_segment_ends_wherever_something_leaves(plan):
    ends = {segment[-1] for segment in plan.segments()}
    assert ends == {*plan.drops, plan.running[-1]} if plan.exit is None else ends == set(plan.running)


def test_a_plan_with_two_drops_has_three_segments():
    plan = Plan.at({1: 0.5, 3: 0.25}, 6)
    assert plan.keep == (1, 0.5, 0.5, 0.25, 0.25, 0.25)
    assert plan.drops == (1, 3)
    assert plan.segments() == ((0, 1), (2, 3), (4, 5))


def test_the_full_plan_is_one_segment():
    assert Plan.full(6).segments() == (tuple(range(6)),)


@given(plans())
def test_a_plan_survives_its_dict_as_json(plan):
    again = Plan.from_dict(json.loads(json.dumps(plan.to_dict())))
    assert again == plan
    assert hash(again) == hash(plan)


@given(exits())
def test_an_exit_survives_its_dict_as_json(leave):
    again = Exit.from_dict(json.loads(json.dumps(leave.to_dict())))
    assert again == leave
    assert hash(again) == hash(leave)


@pytest.mark.parametrize(
    "keep",
    [
        (0.5, 0.6),
        (0.0,),
        (1.0, 0.0),
        (1.1, 0.5),
        (-0.5,),
        (math.nan,),
        (1, math.nan),
        (math.inf,),
        (),
        ("x",),
        0.5,
        None,
    ],
)
def test_a_keep_that_cannot_be_run_is_refused_in_one_line(keep):
    with pytest.raises(PlanError) as error:
        Plan(keep)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("layers", [(), (0, 0), (1, 0), (-1,), (3,), ("x",), 1])
def test_layers_that_the_model_does_not_have_are_refused(layers):
    with pytest.raises(PlanError, match="layers"):
        Plan((1, 1, 1), layers=layers)


@pytest.mark.parametrize("drops", [{6: 0.5}, {-1: 0.5}, {"1": 0.5}, {1: 0.0}, {1: 1.5}, {1: 0.25, 3: 0.5}])
def test_drops_that_cannot_be_are_refused(drops):
    with pytest.raises(PlanError):
        Plan.at(drops, 6)


@pytest.mark.parametrize("rate", [-0.1, 1, 1.5, math.nan])
def test_a_rate_that_leaves_nothing_or_adds_is_refused(rate):
    with pytest.raises(PlanError):
        Plan.constant(rate, 4)


@pytest.mark.parametrize("n_layers", [0, -1, 2.5, None])
def test_a_model_without_layers_is_refused(n_layers):
    with pytest.raises(PlanError):
        Plan.full(n_layers)


def test_a_score_or_exit_that_is_not_known_is_refused():
    with pytest.raises(PlanError, match="attention, ramp, both"):
        Plan((1,), score="random")
    with pytest.raises(PlanError, match="Exit"):
        Plan((1,), exit="entropy")


@pytest.mark.parametrize("data", [{}, {"keep": [1], "keeps": [1]}, {"layers": [0]}])
def test_a_dict_that_is_no_plan_is_refused(data):
    with pytest.raises(PlanError):
        Plan.from_dict(data)


@pytest.mark.parametrize(
    ("rule", "threshold"),
    [
        ("luck", 0.5),
        ("entropy", -0.1),
        ("entropy", math.nan),
        ("entropy", math.inf),
        ("confidence", 1.5),
        ("confidence", (0.5, 1.5)),
        ("learned", 2),
        ("predicted", 1.01),
        ("patience", 1.5),
    ],
)
def test_an_exit_that_cannot_be_followed_is_refused(rule, threshold):
    with pytest.raises(PlanError):
        Exit(rule, threshold)


def test_every_plan_error_is_also_a_value_error_and_ours():
    assert issubclass(PlanError, ValueError)
    assert issubclass(PlanError, AnyformerError)


@given(spaces(), st.integers(0, 2**32))
def test_the_same_seed_draws_the_same_plan(space, seed):
    assert space.sample(Random(seed)) == space.sample(Random(seed))


@given(spaces(), st.integers(0, 2**32))
def test_every_plan_drawn_lies_between_the_smallest_and_the_full(space, seed):
    plan = space.sample(Random(seed))
    assert plan.n_layers == space.n_layers
    small, dust = space.smallest().keep, 1e-12
    assert all(low - dust <= now <= 1 for low, now in zip(small, plan.keep, strict=True))


@given(DEPTHS, st.floats(0, 0.9), st.integers(0, 2**32))
def test_every_layer_drops_at_most_the_bound(n_layers, p, seed):
    keep = (1.0, *Space(n_layers, "every", p).sample(Random(seed)).keep)
    assert all(after >= (1 - p) * before - 1e-12 for before, after in pairwise(keep))


@given(DEPTHS, st.floats(0.01, 0.99), st.integers(0, 2**32))
def test_a_few_drops_are_at_most_three(n_layers, floor, seed):
    plan = Space(n_layers, "few", floor=floor).sample(Random(seed))
    assert len(plan.drops) <= 3
    assert min(plan.keep) >= floor - 1e-12


@given(spaces())
def test_a_space_holds_its_ends(space):
    assert space.full() == Plan.full(space.n_layers)
    assert space.smallest().n_layers == space.n_layers


@pytest.mark.parametrize(
    "wrong", [{"n_layers": 0}, {"kind": "some"}, {"p": 1}, {"p": -0.1}, {"p": math.nan}, {"floor": 0}, {"floor": 1.5}]
)
def test_a_space_that_cannot_be_drawn_from_is_refused(wrong):
    with pytest.raises(PlanError):
        Space(**({"n_layers": 6} | wrong))


@given(plans(), plans())
def test_plans_are_values(one, other):
    assume(one != other)
    assert len({one, other, Plan.from_dict(one.to_dict())}) == 2
