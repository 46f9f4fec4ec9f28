"""Files -> records, one at a time: .jsonl .csv .tsv .parquet, each also .gz or .xz.

Every reader is a generator, so prediction streams; every mistake in a file is a DataError that names the line.
"""

import csv
import gzip
import io
import json
import lzma
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from anyformer.data.records import Record
from anyformer.errors import DataError, MissingExtra

DAMAGED = (EOFError, lzma.LZMAError, gzip.BadGzipFile, zlib.error)
PARQUET_ROWS = 1000
OPENERS: dict[str, Callable[..., Any]] = {"": open, ".gz": gzip.open, ".xz": lzma.open}


def has_known_ending(name: str) -> bool:
    return ending(name) is not None


def ending(name: str) -> tuple[str, str] | None:
    """("jsonl", ".gz") for train.JSONL.gz; None where no reader is known."""
    lower = name.lower()
    packed = next((p for p in OPENERS if p and lower.endswith(p)), "")
    kind = lower.removesuffix(packed).rpartition(".")[2] if "." in lower.removesuffix(packed) else ""
    return (kind, packed) if kind in READERS else None


def stream_file(path: Path) -> Iterator[Record]:
    """The records of a file, one at a time; a file without any is a DataError."""
    known = ending(path.name)
    if known is None:
        kinds = " ".join(f".{kind}" for kind in READERS)
        raise DataError(f"{path.name}: the ending is not known; files end in {kinds}, each also with .gz or .xz")
    if not path.is_file():
        raise DataError(f"{path}: there is no such file")
    kind, packed = known
    empty = True
    for record in _guarded(path, READERS[kind](path, OPENERS[packed])):
        empty = False
        yield record
    if empty:
        raise DataError(f"{path.name} is empty: at least one record is needed")


def _guarded(path: Path, records: Iterator[Record]) -> Iterator[Record]:
    try:
        yield from records
    except DAMAGED as error:
        raise DataError(f"{path.name} is damaged or cut short ({type(error).__name__}); copy it again") from error
    except OSError as error:
        raise DataError(f"{path.name} cannot be read: {error.strerror or error}") from error


def _lines(path: Path, opener: Callable[..., Any]) -> Iterator[tuple[int, str]]:
    with opener(path, "rb") as file:
        for number, raw in enumerate(file, 1):
            try:
                yield number, raw.decode("utf-8-sig" if number == 1 else "utf-8")
            except UnicodeDecodeError:
                raise DataError(f"{path.name}: line {number} is not UTF-8; save the file as UTF-8") from None


def _jsonl(path: Path, opener: Callable[..., Any]) -> Iterator[Record]:
    for number, line in _lines(path, opener):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except (ValueError, RecursionError) as error:
            reason = getattr(error, "msg", "too deep or too large a value")
            raise DataError(
                f"{path.name}: line {number} is not JSON ({reason}); one object a line is expected"
            ) from None
        if not isinstance(record, dict):
            raise DataError(f"{path.name}: line {number} is {_kind(record)}; one JSON object a line is expected")
        yield record


def _kind(value: object) -> str:
    return {list: "a list", str: "a text", type(None): "null", bool: "true or false"}.get(type(value), "a number")


def _csv(path: Path, opener: Callable[..., Any]) -> Iterator[Record]:
    csv.field_size_limit(sys.maxsize)  # a long document is not a mistake
    rows = csv.reader((line for _, line in _lines(path, opener)), strict=True)
    try:
        yield from _table(path, ((rows.line_num, row) for row in rows))
    except csv.Error as error:
        raise DataError(f"{path.name}: line {rows.line_num} is not CSV ({error}); are its quotes paired?") from None


def _tsv(path: Path, opener: Callable[..., Any]) -> Iterator[Record]:
    """A line a row, nothing escaped: a text may begin with a quote; a field that is wholly in quotes loses them."""
    lines = ((number, line.rstrip("\r\n")) for number, line in _lines(path, opener))
    yield from _table(path, ((number, [_unquoted(f) for f in line.split("\t")]) for number, line in lines if line))


def _unquoted(field: str) -> str:
    inner = field[1:-1]
    whole = len(field) > 1 and field[0] == field[-1] == '"' and '"' not in inner.replace('""', "")
    return inner.replace('""', '"') if whole else field


def _table(path: Path, rows: Iterator[tuple[int, list[str]]]) -> Iterator[Record]:
    """The first row names the columns."""
    _, header = next(rows, (0, []))
    if len(set(header)) < len(header):
        raise DataError(
            f"{path.name}: line 1 names a column twice ({', '.join(header)}); the first line names the columns"
        )
    for number, row in rows:
        if not row:
            continue
        if len(row) != len(header):
            raise DataError(f"{path.name}: line {number} has {len(row)} columns, the first line names {len(header)}")
        yield dict(zip(header, row, strict=True))


def _parquet(path: Path, opener: Callable[..., Any]) -> Iterator[Record]:
    try:
        import pyarrow
        import pyarrow.parquet as parquet
    except ImportError:
        raise MissingExtra(f'{path.name} needs pyarrow: pip install "anyformer[train]"') from None
    with opener(path, "rb") as file:
        content = file if isinstance(file, io.BufferedReader) else io.BytesIO(file.read())
        try:
            for batch in parquet.ParquetFile(content).iter_batches(PARQUET_ROWS):
                yield from batch.to_pylist()
        except pyarrow.ArrowException as error:
            reason = str(error).splitlines()[0]
            raise DataError(f"{path.name} is not a whole Parquet file ({reason}); copy it again") from None


READERS = {"jsonl": _jsonl, "csv": _csv, "tsv": _tsv, "parquet": _parquet}
