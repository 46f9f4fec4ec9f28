"""docs/reference/cli.md, made from the commands' own flags: `python -m anyformer.cli.reference [--check]`.

`--check` fails where the page is not what would be written; `make check` runs it.
"""

import sys
from argparse import Action, ArgumentParser, _ArgumentGroup
from collections.abc import Sequence
from pathlib import Path

from anyformer.cli.command import Command
from anyformer.cli.main import ABOUT, commands
from anyformer.report.tables import markdown

PAGE = Path(__file__).parents[3] / "docs" / "reference" / "cli.md"
COMMAND = "python -m anyformer.cli.reference"
HEAD = f"""\
<!-- Made by `{COMMAND}`; change the commands, not this page. -->
# Command line

{ABOUT} `anyformer COMMAND …`; `python -m anyformer` is the same.

Results go to standard output, everything else to standard error. With `--json` the last line of standard output is one
JSON object and nothing else is there. Exit codes: 0 done; 2 a mistake, said in one line; 130 stopped by Ctrl-C.
"""


def main(argv: Sequence[str] | None = None) -> int:
    wanted = page()
    if "--check" in (sys.argv[1:] if argv is None else argv):
        found = PAGE.read_text(encoding="utf-8") if PAGE.is_file() else ""
        if found != wanted:
            print(f"docs/reference/{PAGE.name} is not what the commands say: run {COMMAND}", file=sys.stderr)
        return int(found != wanted)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(wanted, encoding="utf-8")
    return 0


def page() -> str:
    listed = markdown(["command", "does"], [[f"[`{c.name}`](#{c.name})", c.summary] for c in commands()])
    return "\n".join([HEAD, listed, "", *(section(command) for command in commands())])


def section(command: Command) -> str:
    parser = ArgumentParser(command.name, add_help=False)
    command.add_flags(parser)
    parts = [f"## {command.name}\n\n{command.summary[0].upper()}{command.summary[1:]}.\n"]
    parts.append(f"```sh\n{command.example}\n```\n")
    parts.append(f"JSON keys: {command.keys}.\n")
    parts += [text for group in parser._action_groups if (text := group_table(group))]
    return "\n".join(parts)


def group_table(group: _ArgumentGroup) -> str:
    rows = [[f"`{written(action)}`", about(action)] for action in group._group_actions]
    if not rows:
        return ""
    title = "" if group.title in ("positional arguments", "options") else f"{group.title}:\n\n"
    kind = "argument" if group.title == "positional arguments" else "flag"
    return f"{title}{markdown([kind, 'meaning'], rows)}\n"


def written(action: Action) -> str:
    """--text T …, --device auto|cpu."""
    if not action.option_strings:
        return str(action.metavar or action.dest)
    if action.nargs == 0:
        return ", ".join(action.option_strings)
    value = "|".join(map(str, action.choices)) if action.choices else str(action.metavar or action.dest.upper())
    return f"{', '.join(action.option_strings)} {value}{' …' if action.nargs == '+' else ''}"


def about(action: Action) -> str:
    return (action.help or "") % {"default": action.default}


if __name__ == "__main__":
    sys.exit(main())
