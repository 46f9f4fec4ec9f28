"""Texts -> tokens."""

from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from anyformer.errors import DataError, UnsupportedModel
from anyformer.tasks import texts
from anyformer.tasks.texts import check_fast, clean, encode, position_limit, text_of


def limits(model_max_length=512, **config):
    return position_limit(SimpleNamespace(model_max_length=model_max_length), SimpleNamespace(**config))


def test_a_text_may_be_as_long_as_both_model_and_tokenizer_allow():
    assert limits(512, max_position_embeddings=128, model_type="bert") == 128
    assert limits(100, max_position_embeddings=128, model_type="bert") == 100
    assert limits(10**30, max_position_embeddings=514, model_type="roberta", pad_token_id=1) == 512
    assert limits(10**30) == 512


def test_halves_of_surrogate_pairs_are_replaced_one_for_one(tokenizer):
    assert clean("a\ud800b\udfff😀é") == "a\ufffdb\ufffd😀é"
    assert [encoding for _, encoding in encode(tokenizer, [clean("cat \ud800")])]


def test_what_is_no_text_is_said_with_its_number():
    with pytest.raises(DataError, match="record 3: text is int, a text is expected"):
        text_of({"text": 5}, "text", 2)
    with pytest.raises(DataError, match="record 1: text is NoneType"):
        text_of({}, "text", 0)


def test_a_slow_tokenizer_is_refused():
    for wrong in (None, SimpleNamespace(is_fast=False)):
        with pytest.raises(UnsupportedModel, match="not a fast tokenizer"):
            check_fast(wrong)


def test_chunks_make_no_difference(tokenizer, monkeypatch):
    many = ["cat " * i for i in range(30)]
    settings = {"truncation": True, "max_length": 10, "stride": 2, "return_overflowing_tokens": True}
    whole = [(i, encoding.ids) for i, encoding in encode(tokenizer, many, **settings)]
    monkeypatch.setattr(texts, "CHUNK", 7)
    assert [(i, encoding.ids) for i, encoding in encode(tokenizer, many, **settings)] == whole


def test_threads_with_other_limits_do_not_disturb_each_other(tokenizer):
    def longest(limit):
        rows = [encode(tokenizer, ["cat " * 50] * 20, truncation=True, max_length=limit) for _ in range(20)]
        return {len(encoding.ids) for row in rows for _, encoding in row}

    limits = [10, 20, 30, 40]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(longest, limits)) == [{limit} for limit in limits]
