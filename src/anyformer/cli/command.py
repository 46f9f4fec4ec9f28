"""Command: what main.py knows of a command. `run` does the work, says it through the console, and returns what `--json`
prints: a value may be an iterator, which is then written as a list without being held."""

from argparse import ArgumentParser, Namespace
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from anyformer.cli.console import Console


@dataclass(frozen=True)
class Command:
    """keys: of the JSON object, in words."""

    name: str
    summary: str
    example: str
    keys: str
    add_flags: Callable[[ArgumentParser], None]
    run: Callable[[Namespace, Console], dict[str, Any]]
