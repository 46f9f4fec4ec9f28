"""Lines: where predictions are written as JSON lines, one at a time, and read back from when `--json` wants them.

A file is written beside its name and renamed into place, so its name never stands for half of the predictions.
"""

import gzip
import json
import lzma
import os
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from anyformer.errors import DataError

OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".xz": lzma.open}


class Lines:
    """To `path`; without one to standard output, or, if spooled, to a file without a name."""

    def __init__(self, path: str | None, spooled: bool = False) -> None:
        self.path = None if path is None else _checked(Path(path).expanduser())
        self.spooled = spooled and path is None
        self.file: TextIO = sys.stdout

    @property
    def on_terminal(self) -> bool:
        return self.path is None and not self.spooled and sys.stdout.isatty()

    def __enter__(self) -> "Lines":
        if self.path is not None:
            self.file = _open(_beside(self.path), self.path.suffix, "wt")
        elif self.spooled:
            self.file = tempfile.TemporaryFile("w+", encoding="utf-8")  # read() closes it
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.path is not None:
            self.file.close()
            if kind is None:
                os.replace(_beside(self.path), self.path)
            else:
                _beside(self.path).unlink(missing_ok=True)
        elif kind is not None and self.spooled:
            self.file.close()

    def write(self, record: Mapping[str, Any]) -> None:
        self.file.write(json.dumps(record) + "\n")

    def read(self) -> Iterator[dict[str, Any]]:
        """All that was written to a file; nothing of what went to standard output."""
        if self.path is not None:
            self.file = _open(self.path, self.path.suffix, "rt")
        elif self.spooled:
            self.file.seek(0)
        else:
            return
        with self.file:
            yield from map(json.loads, self.file)


def _beside(path: Path) -> Path:
    return path.with_name(f".{path.name}.{os.getpid()}")


def _open(path: Path, suffix: str, mode: str) -> Any:
    return OPENERS.get(suffix, open)(path, mode, encoding="utf-8")


def _checked(path: Path) -> Path:
    names = path.name.lower().removesuffix(".gz").removesuffix(".xz")
    if names.endswith((".csv", ".tsv", ".parquet")):
        raise DataError(f"{path.name}: predictions are written as JSON lines; name the file {path.stem}.jsonl")
    if not path.parent.is_dir():
        raise DataError(f"{path.parent}: there is no such folder to write {path.name} into; make it first")
    if path.is_dir():
        raise DataError(f"{path} is a folder; name a file in it, such as {path / 'predictions.jsonl'}")
    return path
