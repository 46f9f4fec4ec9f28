"""`anyformer COMMAND …`: finds the command, hands it its flags and a console, and turns what goes wrong into one line.

Exit codes: 0 done; 2 a mistake that the user can mend; 130 stopped by Ctrl-C; 1 a defect of ours. A new command is a
file beside this one that ends in `COMMAND`, and its name in NAMES.
"""

import os
import sys
import warnings
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Sequence
from importlib import import_module
from io import TextIOWrapper
from typing import Any, NoReturn

from anyformer import __version__
from anyformer.cli.command import Command
from anyformer.cli.console import Console
from anyformer.errors import AnyformerError

NAMES = ("demo", "train", "search", "show", "predict", "evaluate", "doctor")
ABOUT = "Train a transformer once, run it at any compute budget."
MISTAKE, DEFECT, INTERRUPTED, CLOSED_PIPE = 2, 1, 130, 141
TRACEBACK = "ANYFORMER_TRACEBACK"


def main(argv: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal that has no word for a character gets its code
    who = " ".join(["anyformer", *(name for name in given[:1] if name in NAMES)])
    try:
        with warnings.catch_warnings():
            if not sys.warnoptions:
                warnings.simplefilter("ignore")
            return run(given)
    except SystemExit as done:  # argparse, after --help or --version
        return done.code if isinstance(done.code, int) else 0
    except KeyboardInterrupt:
        return say(who, "stopped by Ctrl-C", INTERRUPTED)
    except BrokenPipeError:  # the reader of our output has gone: nothing is left to be said to it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except (AnyformerError, OSError) as error:
        return say(who, in_words(error), MISTAKE)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        kind = f"{type(error).__name__}: {error}"
        return say(who, f"a defect of anyformer ({kind}); with {TRACEBACK}=1 it shows where, please report it", DEFECT)


def run(argv: Sequence[str]) -> int:
    args = parser(argv).parse_args(argv)
    console = Console(args.quiet, args.json)
    console.finish(args.command.run(args, console))
    return 0


def parser(argv: Sequence[str] = ()) -> ArgumentParser:
    """All commands by name; flags of the one that argv names, as some take long to put together."""
    top = OneLine("anyformer", description=ABOUT, formatter_class=RawDescriptionHelpFormatter)
    top.add_argument("--version", action="version", version=f"anyformer {__version__}")
    below = top.add_subparsers(metavar="COMMAND", required=True, title="commands", parser_class=OneLine)
    for command in commands():
        own = below.add_parser(
            command.name,
            help=command.summary,
            description=f"{command.summary[0].upper()}{command.summary[1:]}.",
            epilog=f"example:\n{indented(command.example)}\n\nJSON keys:\n{indented(command.keys)}",
            formatter_class=RawDescriptionHelpFormatter,
        )
        own.set_defaults(command=command)
        if command.name in argv:
            command.add_flags(own)
            own.usage = " ".join([own.prog, *positionals(own), "[flags]"])
    return top


def positionals(parser: ArgumentParser) -> list[str]:
    return [str(action.metavar or action.dest) for action in parser._actions if not action.option_strings]


def commands() -> list[Command]:
    return [import_module(f"anyformer.cli.{name}").COMMAND for name in NAMES]


class OneLine(ArgumentParser):
    """Mistakes in flags are mistakes like any other: one line, exit code 2."""

    def __init__(self, prog: str | None = None, **settings: Any) -> None:
        super().__init__(prog, allow_abbrev=False, **settings)

    def error(self, message: str) -> NoReturn:
        if message.endswith("required: COMMAND"):
            message = f"name a command: {', '.join(NAMES)}"
        raise AnyformerError(f"{message} (see {self.prog} --help)")


def in_words(error: Exception) -> str:
    if isinstance(error, OSError) and not isinstance(error, AnyformerError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def say(who: str, what: str, code: int) -> int:
    print(f"{who}: {' '.join(what.split())}", file=sys.stderr)
    return code


def indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


if __name__ == "__main__":
    sys.exit(main())
