"""Texts -> tokens, in fast batches. One thread at a time asks the tokenizer, which keeps its settings in itself."""

from collections.abc import Iterator, Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np

from anyformer.errors import DataError, UnsupportedModel
from anyformer.tasks.base import Notes

CHUNK = 1000  # texts a call: what a call returns besides the ids is large
ENDLESS = 1_000_000  # a tokenizer without a limit says 1e30
OFFSET_POSITIONS = ("roberta", "xlm-roberta", "camembert", "mpnet")  # positions start after the padding id
CUT = "texts cut at MAX tokens: {n}"
_ONE_AT_A_TIME = Lock()


def position_limit(tokenizer: Any, config: Any = None) -> int:
    """The tokens that a text may have: what the model has positions for and the tokenizer was made for."""
    limits = [tokenizer.model_max_length] if tokenizer.model_max_length < ENDLESS else []
    positions = getattr(config, "max_position_embeddings", None)
    if isinstance(positions, int) and positions > 0:
        shifted = config.model_type in OFFSET_POSITIONS
        limits.append(positions - ((config.pad_token_id or 0) + 1 if shifted else 0))
    return min(limits, default=512)


def check_fast(tokenizer: Any) -> Any:
    if tokenizer is None or not getattr(tokenizer, "is_fast", False):
        raise UnsupportedModel(
            f"{type(tokenizer).__name__} is not a fast tokenizer; the model folder needs tokenizer.json"
        )
    return tokenizer


def pad_id(tokenizer: Any) -> int:
    """What fills a batch; masked, so any id will do where the tokenizer has none for it."""
    return tokenizer.pad_token_id or 0


def text_of(record: Mapping[str, Any], part: str, i: int) -> str:
    """A text of a record; halves of surrogate pairs, which no tokenizer takes, become U+FFFD."""
    value = record.get(part)
    if not isinstance(value, str):
        raise DataError(f"record {i + 1}: {part} is {type(value).__name__}, a text is expected")
    return clean(value)


def clean(text: str) -> str:
    """The same length and the same offsets, so that spans stay where they are."""
    if text.isascii() or not any("\ud800" <= c <= "\udfff" for c in text):
        return text
    return "".join("\ufffd" if "\ud800" <= c <= "\udfff" else c for c in text)


def encode(
    tokenizer: Any, texts: Sequence[str], pairs: Sequence[str] | None = None, **settings: Any
) -> Iterator[tuple[int, Any]]:
    """(index of the text, its encoding) a row; `settings` are the tokenizer call's own (truncation, max_length, …)."""
    for start in range(0, len(texts), CHUNK):
        some = None if pairs is None else list(pairs[start : start + CHUNK])
        with _ONE_AT_A_TIME:
            batch = tokenizer(list(texts[start : start + CHUNK]), some, padding=False, **settings)
        made_from = batch.get("overflow_to_sample_mapping") or range(len(batch.encodings))
        for i, encoding in zip(made_from, batch.encodings, strict=True):
            yield start + int(i), encoding


def inputs_of(tokenizer: Any, encoding: Any) -> dict[str, np.ndarray]:
    """The ids of an encoding under the names that the model takes; nothing is padded, so no mask is needed."""
    inputs = {"input_ids": np.array(encoding.ids, dtype=np.int32)}
    if "token_type_ids" in tokenizer.model_input_names:
        inputs["token_type_ids"] = np.array(encoding.type_ids, dtype=np.int32)
    return inputs


def note_cut(notes: Notes | None, n: int, max_length: int) -> None:
    if notes is not None:
        notes.add(CUT.replace("MAX", str(max_length)), n)
