"""Inputs to predict on, streamed: each record as it came, and its parts under the task's names."""

from collections.abc import Iterator, Mapping
from itertools import chain

from anyformer.data.columns import TARGETS, canonical, columns_of, find_columns
from anyformer.data.records import Record
from anyformer.data.sources import Source, name_of, stream
from anyformer.errors import DataError


def load_inputs(
    source: Source, task: str, named: Mapping[str, str] | None = None, split: str = "test"
) -> Iterator[tuple[Record, Record]]:
    """(record, canonical record) one at a time; labels are not read, so they may be missing."""
    records = stream(source, split)
    first = next(records)
    columns = find_columns(task, columns_of(first), named, labelled=False)
    inputs = {part: column for part, column in columns.items() if part != TARGETS[task]}
    return _pairs(chain([first], records), inputs, name_of(source))


def _pairs(records: Iterator[Record], columns: Mapping[str, str], origin: str) -> Iterator[tuple[Record, Record]]:
    for i, record in enumerate(records):
        try:
            yield record, canonical(record, columns)
        except DataError as error:
            raise DataError(f"record {i + 1} of {origin}: {error}") from None
