"""Console: who is told what. Results go to standard output, all that is said on the way to standard error; with
`--json` standard output holds one JSON object and the rest is said on standard error. Last step of every command.
"""

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TextIO

BAR = 24  # characters
REDRAW_S, LINE_S = 0.1, 10.0  # between two states of a bar, between two plain lines


@dataclass(frozen=True)
class Console:
    quiet: bool = False
    as_json: bool = False

    def result(self, text: str) -> None:
        """What the command was run for, in words."""
        if not self.as_json:
            print(text, flush=True)
        elif not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def note(self, text: str) -> None:
        """What happens on the way; `--quiet` leaves it out."""
        if not self.quiet:
            print(text, file=sys.stderr, flush=True)

    def warn(self, text: str) -> None:
        """What changes the result: said once, also with `--quiet`."""
        print(f"note: {text}", file=sys.stderr, flush=True)

    def progress(self, what: str, total: int | None = None, shown: bool = True) -> "Progress":
        return Progress(what, total, sys.stderr, self.quiet or not shown)

    def finish(self, result: Mapping[str, Any]) -> None:
        if self.as_json:
            for part in json_parts(result):
                sys.stdout.write(part)
            sys.stdout.write("\n")
        sys.stdout.flush()


def json_parts(result: Mapping[str, Any]) -> Iterator[str]:
    """A JSON object in pieces; an iterator among its values becomes a list that is never held."""
    for at, (key, value) in enumerate(result.items()):
        yield f"{', ' if at else '{'}{json.dumps(key)}: "
        if isinstance(value, Iterator):
            yield "["
            yield from (f"{', ' if i else ''}{json.dumps(one)}" for i, one in enumerate(value))
            yield "]"
        else:
            yield json.dumps(value)
    yield "}" if result else "{}"


class Progress:
    """How far a stage is and how long it still takes: a bar on a terminal, a plain line now and then elsewhere."""

    def __init__(self, what: str, total: int | None, stream: TextIO, quiet: bool) -> None:
        self.what, self.total, self.stream, self.quiet = what, total, stream, quiet
        self.on_terminal = stream.isatty()
        self.done = 0
        self.started = time.monotonic()
        self.said = self.started
        self.first: tuple[float, int] | None = (
            None  # when the first were done, and how many: what came before is warm-up
        )

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self.on_terminal:
            self._say("\n" if kind else "\r\x1b[K")

    def advance(self, n: int = 1) -> None:
        self.done += n
        now = time.monotonic()
        self.first = self.first or (now, self.done)
        if now - self.said >= (REDRAW_S if self.on_terminal else LINE_S):
            self.said = now
            self._say(f"\r\x1b[K{self._line()}" if self.on_terminal else f"{self._line()}\n")

    def _say(self, text: str) -> None:
        if text and not self.quiet:
            self.stream.write(text)
            self.stream.flush()

    def _line(self) -> str:
        taken = time.monotonic() - self.started
        if self.total is None or not self.total:
            return f"{self.what}: {self.done:,} in {seconds(taken)}"
        share = min(self.done / self.total, 1.0)
        left = f", {seconds(self._left())} left" if share < 1 and self._left() else ""
        bar = f" [{'#' * round(BAR * share):·<{BAR}}]" if self.on_terminal else ""
        return f"{self.what}{bar} {self.done:,} of {self.total:,}, {seconds(taken)}{left}"

    def _left(self) -> float:
        """Seconds, at the pace since the first were done; 0 while there is none."""
        since, before = self.first or (0.0, self.done)
        pace = (time.monotonic() - since) / max(self.done - before, 1)
        return pace * ((self.total or 0) - self.done) if self.done > before else 0.0


def seconds(amount: float) -> str:
    """0.25 s, 4.2 s, 38 s, 3 min 05 s."""
    if amount < 60:
        digits = 2 if amount < 0.995 else 1 if amount < 9.95 else 0
        return f"{amount:.{digits}f} s"
    whole = round(amount)
    return f"{whole // 60} min {whole % 60:02d} s"
