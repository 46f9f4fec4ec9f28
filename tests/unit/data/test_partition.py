"""Parts by content: the same texts make the same parts."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.data.partition import content_key, partition
from anyformer.errors import DataError

RECORDS = st.lists(
    st.fixed_dictionaries({"text": st.text(st.sampled_from("aAbB \t"), max_size=6), "label": st.sampled_from("xy")}),
    max_size=40,
)
SHARES = st.lists(st.floats(0.05, 1), min_size=2, max_size=4)


def text(record):
    return record["text"]


def label(record):
    return record["label"]


def many(n):
    return [{"text": f"text {i}", "label": "xyz"[min(i % 10, 2)]} for i in range(n)]


@given(RECORDS, SHARES)
def test_every_record_is_in_one_part_and_none_is_empty(records, shares):
    if len({content_key(text(r)) for r in records}) < len(shares):
        with pytest.raises(DataError, match="give a validation file"):
            partition(records, shares, text, label)
        return
    parts = partition(records, shares, text, label)
    assert all(parts)
    assert Counter(map(str, records)) == Counter(str(record) for part in parts for record in part)


@given(RECORDS)
def test_texts_that_differ_in_case_or_white_space_only_stay_together(records):
    if len({content_key(text(r)) for r in records}) >= 2:
        first, second = partition(records, (1, 1), text, label)
        assert not {content_key(text(r)) for r in first} & {content_key(text(r)) for r in second}


@given(st.permutations(many(30)))
def test_the_order_of_the_records_does_not_matter(shuffled):
    wanted = [sorted(map(text, part)) for part in partition(many(30), (0.8, 0.2), text, label)]
    assert [sorted(map(text, part)) for part in partition(shuffled, (0.8, 0.2), text, label)] == wanted


def test_shares_hold_for_the_whole_and_for_every_label():
    parts = partition(many(1000), (0.8, 0.1, 0.1), text, label)
    assert [len(part) for part in parts] == [800, 100, 100]
    for part in parts:
        counts = Counter(map(label, part))
        assert abs(counts["x"] - len(part) / 10) <= 1
        assert abs(counts["y"] - len(part) / 10) <= 1


def test_records_keep_their_order_within_a_part():
    for part in partition(many(50), (0.5, 0.5), text, label):
        assert part == sorted(part, key=lambda record: int(text(record).split()[1]))


def test_another_salt_cuts_elsewhere():
    one, other = (partition(many(100), (1, 1), text, salt=salt)[0] for salt in ("one", "other"))
    assert one != other


def test_a_cut_never_changes():
    assert [text(r) for r in partition(many(10), (0.7, 0.3), text)[1]] == ["text 2", "text 3", "text 4"]
