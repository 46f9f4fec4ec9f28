"""Label names and ids."""

from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.errors import DataError
from anyformer.tasks.labels import (
    checked_class_id,
    checked_measure,
    class_id,
    class_names,
    config_names,
    head_config,
    named_by,
    own_names,
)


@pytest.mark.parametrize(
    ("values", "names", "wanted"),
    [
        ([1, 0, 1], (), ("LABEL_0", "LABEL_1")),
        (["1", "0"], (), ("LABEL_0", "LABEL_1")),
        ([True, False], (), ("LABEL_0", "LABEL_1")),
        ([5, 1, 3], (), ("1", "3", "5")),
        (["pos", "neg"], (), ("neg", "pos")),
        (["pos", "neg"], ("pos", "neutral", "neg"), ("pos", "neutral", "neg")),
        ([0, 1], ("neg", "pos"), ("neg", "pos")),
        (["pos", "other"], ("neg", "pos"), ("other", "pos")),
        ([0.5, 1.0], (), ()),
        ([5, 3.2], (), ()),
        (["0.5", "1"], (), ()),
    ],
)
def test_labels_are_named_after_what_the_data_says(values, names, wanted):
    assert class_names(values, names) == wanted


@given(st.lists(st.integers(0, 5) | st.sampled_from("abc"), min_size=2, max_size=8))
def test_every_label_has_the_id_of_its_name(values):
    try:
        names = class_names(values)
    except DataError:
        assert len({type(v) for v in values}) > 1 or len(set(values)) == 1
        return
    ids = {value: class_id(value, names) for value in values}
    assert sorted(ids.values()) == sorted(set(ids.values()))
    assert all(names[i] in (str(value), f"LABEL_{value}") for value, i in ids.items())


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ([0, "a"], "mixed type .text, whole number."),
        ([0.5, "a"], "mixed type"),
        ([0, None], "record 2 has no label"),
        (["a", ""], "record 2 has no label"),
        ([0.5, float("nan")], "record 2 has no label"),
        ([[0, 1], [1]], "record 1 has label .0, 1."),
        ([1, -1], "-1, which marks records without a label"),
        (["a", "a"], "all labels are a; at least two"),
    ],
)
def test_labels_that_cannot_be_learnt_are_said_to_be_so(values, said):
    with pytest.raises(DataError, match=said):
        class_names(values)


def test_a_label_is_found_by_name_or_by_number():
    names = ("neg", "pos")
    assert [class_id(value, names) for value in ("pos", 1, "1", True, 2, "other", 0.5, -1)] == [
        *(1, 1, 1, 1),
        *(None, None, None, None),
    ]


def test_an_unknown_label_is_said_with_those_there_are():
    with pytest.raises(DataError, match="record 3 has label 'odd'; labels are neg, pos"):
        checked_class_id({"label": "odd"}, 2, ("neg", "pos"))
    with pytest.raises(DataError, match="record 1 has label None"):
        checked_class_id({}, 0, ("neg", "pos"))


def test_a_measure_is_a_number():
    assert checked_measure({"label": "2.5"}, 0) == 2.5
    for wrong in ("much", None, float("inf")):
        with pytest.raises(DataError, match="a number is expected"):
            checked_measure({"label": wrong}, 0)


def test_a_configuration_gives_its_labels_back():
    names = ("neg", "pos")
    config = SimpleNamespace(num_labels=2, **head_config(names, "single_label_classification"))
    assert config_names(config) == own_names(config) == names
    unnamed = SimpleNamespace(num_labels=2, problem_type=None, id2label={0: "LABEL_0", 1: "LABEL_1"})
    assert (config_names(unnamed), own_names(unnamed)) == (("LABEL_0", "LABEL_1"), ())
    measure = SimpleNamespace(num_labels=1, problem_type=None, id2label={0: "LABEL_0"})
    assert config_names(measure) == ()


@pytest.mark.parametrize(
    ("own", "names", "wanted"),
    [
        (("LABEL_0", "LABEL_1"), ("neg", "pos"), ("neg", "pos")),
        (("LABEL_0", "LABEL_1"), ("a", "b", "c"), ("LABEL_0", "LABEL_1")),
        (("bad", "good"), ("neg", "pos"), ("bad", "good")),
        (("LABEL_0", "LABEL_1"), (), ("LABEL_0", "LABEL_1")),
        ((), (), ()),
    ],
)
def test_only_labels_that_nobody_named_take_the_names_of_a_data_set(own, names, wanted):
    assert named_by(own, names) == wanted
