"""Budget: what a user types, read and written back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.budget import Budget
from anyformer.errors import AnyformerError, BudgetError

BUDGETS = st.one_of(
    st.builds(Budget, st.just("share"), st.floats(0, 100, exclude_min=True)),
    st.builds(Budget, st.just("latency"), st.floats(0, 1e9, exclude_min=True)),
    st.builds(Budget, st.just("loss"), st.floats(0, 100)),
    st.builds(Budget, st.sampled_from(["full", "smallest"])),
)


@given(BUDGETS)
def test_a_budget_written_is_read_as_the_same(budget):
    assert Budget.parse(str(budget)) == budget
    assert hash(Budget.parse(str(budget))) == hash(budget)


@given(BUDGETS, st.text(" \t", max_size=3))
def test_spaces_and_case_do_not_matter(budget, space):
    loose = str(budget).upper()
    for mark in ("<=", "%", "MS"):
        loose = loose.replace(mark, f"{space}{mark}{space}")
    assert Budget.parse(f"{space}{loose}{space}") == budget


@given(BUDGETS)
def test_a_budget_is_returned_as_it_is(budget):
    assert Budget.parse(budget) is budget


@pytest.mark.parametrize(
    ("text", "kind", "limit", "written"),
    [
        ("40%", "share", 0.4, "40%"),
        (" 7 % ", "share", 0.07, "7%"),
        ("100%", "share", 1, "100%"),
        ("12ms", "latency", 12, "12ms"),
        ("0.5 MS", "latency", 0.5, "0.5ms"),
        ("loss<=1%", "loss", 0.01, "loss<=1%"),
        ("Loss <= .25 %", "loss", 0.0025, "loss<=0.25%"),
        ("loss≤0%", "loss", 0, "loss<=0%"),
    ],
)
def test_what_users_type_is_read(text, kind, limit, written):
    budget = Budget.parse(text)
    assert (budget.kind, budget.limit, str(budget)) == (kind, limit, written)


@pytest.mark.parametrize("text", ["full", "smallest", "FULL", " Smallest "])
def test_full_and_smallest_have_no_limit(text):
    budget = Budget.parse(text)
    assert str(budget) == text.strip().lower()
    with pytest.raises(BudgetError, match="no limit"):
        _ = budget.limit


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("-3%", "-3% must be above 0%"),
        ("0%", "0% must be above 0%"),
        ("140%", "140% must be above 0% and at most 100%"),
        ("1e999%", "inf% must be"),
        ("0ms", "0ms must be above 0ms"),
        ("-1ms", "above 0ms"),
        ("1e999ms", "finite"),
        ("loss<=", "needs a percentage"),
        ("loss<=1", "needs a percentage"),
        ("loss<=5ms", "needs a percentage"),
        ("loss<=-1%", "between 0% and 100%"),
        ("loss<=101%", "between 0% and 100%"),
        ("loss<1%", "cannot be read"),
        ("12 parsecs", "unit 'parsecs': expected % or ms"),
        ("40%%", "unit '%%'"),
        ("40", "no unit"),
        ("0,5%", "unit ',5%'"),
        ("nan%", "cannot be read"),
        ("NaN", "cannot be read"),
        ("loss<=nan%", "needs a percentage"),
        ("", "empty"),
        (" \n", "empty"),
        ("cheap", "'cheap' cannot be read"),
        (40, "not int 40"),
        (0.4, "not float"),
        (None, "not NoneType"),
        (b"40%", "not bytes"),
    ],
)
def test_what_is_no_budget_is_refused_with_what_to_write(text, said):
    with pytest.raises(BudgetError) as error:
        Budget.parse(text)
    assert said in str(error.value)
    assert "write" in str(error.value)
    assert "\n" not in str(error.value)


@given(st.text(max_size=400))
def test_any_text_is_a_budget_or_a_short_error_of_ours(text):
    try:
        shown = str(Budget.parse(text))
    except AnyformerError as error:
        shown = str(error)
    assert len(shown) < 250
    assert "\n" not in shown


@pytest.mark.parametrize(
    ("kind", "amount"),
    [("macs", 40), ("share", None), ("share", "40"), ("share", True), ("full", 1), ("latency", float("nan"))],
)
def test_a_budget_made_by_hand_is_checked_too(kind, amount):
    with pytest.raises(BudgetError):
        Budget(kind, amount)
