"""The journal of a search: one line a judgement, only ever added to, so that a search killed at any moment goes on.

The first line says what was searched (model, data, settings); each line ends in a digest over itself and the line
before, so that a change anywhere is found. A last line that was cut off in writing is dropped and said.
"""

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from anyformer.errors import AnyformerError, FolderError

SCHEMA = 1
DIGITS = 16


class Journal:
    """`lines` are the records that stand in the file, without the first."""

    def __init__(self, path: Path, about: dict[str, Any], resume: bool) -> None:
        self.path = path
        self.torn = False
        self.lines: list[dict[str, Any]] = []
        self._last = ""
        path.parent.mkdir(parents=True, exist_ok=True)
        head = {"schema": SCHEMA} | about
        if resume and path.is_file():
            self._read(head)
        if not self._last:
            path.write_bytes(b"")
            self.add([head])
            self.lines = []

    def add(self, records: Iterable[dict[str, Any]]) -> None:
        """On the disk when this returns."""
        text = ""
        for record in records:
            body = json.dumps(record, sort_keys=True)
            self._last = _digest(self._last, body)
            text += f'{body[:-1]}, "digest": "{self._last}"}}\n'
            self.lines.append(record)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def _read(self, head: dict[str, Any]) -> None:
        data = self.path.read_bytes()
        whole, _, rest = data.rpartition(b"\n")
        if rest:
            self.torn = True
            os.truncate(self.path, len(whole) + (1 if whole else 0))
        records = [self._checked(n, line) for n, line in enumerate(whole.split(b"\n") if whole else ())]
        if records and records[0] != head:
            raise AnyformerError(
                f"--resume of another search: {_difference(records[0], head)}. Search without --resume"
            )
        self.lines = records[1:]

    def _checked(self, n: int, line: bytes) -> dict[str, Any]:
        try:
            record = json.loads(line)
            digest = record.pop("digest")
        except (ValueError, KeyError, AttributeError, TypeError):
            digest = record = None
        if record is None or digest != _digest(self._last, json.dumps(record, sort_keys=True)):
            raise FolderError(f"{self.path}: line {n + 1} is not as it was written; search again without --resume")
        self._last = digest
        return record


def _digest(before: str, body: str) -> str:
    return hashlib.sha256(f"{before}\n{body}".encode()).hexdigest()[:DIGITS]


def _difference(was: dict[str, Any], now: dict[str, Any]) -> str:
    flat_was, flat_now = _flat(was), _flat(now)
    keys = [key for key in sorted({*flat_was, *flat_now}) if flat_was.get(key) != flat_now.get(key)]
    return "; ".join(f"{key} was {flat_was.get(key)!r}, is {flat_now.get(key)!r}" for key in keys)


def _flat(values: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in values.items():
        found |= value if isinstance(value, dict) else {key: value}
    return found
