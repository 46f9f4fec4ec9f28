"""Flags that several commands share, and what they mean: output, model and machine, columns, settings of a stage.

The flags of a frozen dataclass of settings are made from its fields; nothing here imports torch until it is asked to.
"""

from argparse import ArgumentParser, ArgumentTypeError, Namespace, _ArgumentGroup
from collections.abc import Iterable
from dataclasses import MISSING, Field, fields
from pathlib import Path
from typing import Any, TypeVar, get_args, get_type_hints

from anyformer.errors import AnyformerError

DEVICES = ("auto", "cpu", "cuda", "mps")
PRECISIONS = ("fp32", "bf16", "int8")
TASKS = ("classification", "tagging", "qa", "image")
BUDGETS = "40%% of the full model's MACs, 12ms, loss<=1%%, full or smallest"
DEFAULT = "(default: %(default)s)"
PARTS = {
    "text": "the text",
    "text-pair": "the second text of a pair",
    "label": "the label",
    "tokens": "the words of a text (tagging)",
    "tags": "the tags of the words (tagging)",
    "question": "the question (qa)",
    "context": "the text that holds the answer (qa)",
    "answers": "the answers (qa)",
    "image": "the image (image)",
}
TARGETS = ("label", "tags", "answers")
Flags = ArgumentParser | _ArgumentGroup
S = TypeVar("S")


def count(text: str) -> int:
    """A whole number of at least 1."""
    if not (text.isascii() and text.isdigit()) or int(text) < 1:
        raise ArgumentTypeError(f"{text!r} is not a whole number of at least 1")
    return int(text)


def minutes(text: str) -> float:
    """A number above 0."""
    try:
        found = float(text)
    except ValueError:
        found = 0.0
    if not 0 < found < float("inf"):
        raise ArgumentTypeError(f"{text!r} is not a number above 0")
    return found


def add_output_flags(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--json", action="store_true", help="one JSON object as the last line of standard output")
    group.add_argument("--quiet", action="store_true", help="results and warnings only")


def add_machine_flags(parser: ArgumentParser) -> None:
    group = parser.add_argument_group("machine")
    group.add_argument("--device", choices=DEVICES, default="auto", help=f"where the model runs {DEFAULT}")
    group.add_argument("--precision", choices=PRECISIONS, default="fp32", help=f"of weights and products {DEFAULT}")
    add_threads_flag(group)


def add_threads_flag(group: Flags) -> None:
    group.add_argument("--threads", type=count, metavar="N", help="threads of the CPU; unset: as PyTorch chooses")


def add_model_flags(parser: ArgumentParser) -> None:
    parser.add_argument(
        "model", metavar="DIR", help="a folder that anyformer saved, a Hugging Face folder, a hub id, or minilm"
    )
    parser.add_argument("--task", choices=TASKS, help="what the model is for, where its head does not say it")
    parser.add_argument("--budget", metavar="B", help=f"what one input may cost: {BUDGETS}; unset: full")
    about = f"tokens that are run together; fewer take less memory {DEFAULT}"
    parser.add_argument("--batch-tokens", type=count, metavar="N", default=8192, help=about)


def add_column_flags(parser: ArgumentParser, labelled: bool = True) -> None:
    group = parser.add_argument_group("columns, where they have unusual names")
    for part, what in PARTS.items():
        if labelled or part not in TARGETS:
            group.add_argument(f"--{part}-column", metavar="NAME", help=what)


def named_columns(args: Namespace) -> dict[str, str]:
    """{part: column} of those that were named."""
    parts = (part.replace("-", "_") for part in PARTS)
    return {part: name for part in parts if (name := getattr(args, f"{part}_column", None))}


def add_settings_flags(parser: ArgumentParser, settings: type, title: str) -> None:
    """A flag a field: its name, its type, its default and its line of help."""
    group = parser.add_argument_group(title)
    kinds = get_type_hints(settings)
    for field in fields(settings):
        flag, about = f"--{field.name.replace('_', '-')}", str(field.metadata.get("help", "")).replace("%", "%%")
        if kinds[field.name] is bool:
            group.add_argument(flag, action="store_true", default=None, help=about)
        else:
            kind = _plain_type(kinds[field.name])
            named = (
                {"choices": field.metadata["choices"]} if field.metadata.get("choices") else {"metavar": _shown(kind)}
            )
            group.add_argument(flag, type=kind, help=f"{about}{_default(field)}", **named)


def settings_from(args: Namespace, settings: type[S]) -> S:
    """The settings with the flags that were given."""
    names: Iterable[str] = (field.name for field in fields(settings))  # type: ignore[arg-type]
    return settings(**{name: value for name in names if (value := getattr(args, name)) is not None})


def device_of(name: str) -> str:
    """auto: a GPU where there is one."""
    import torch

    there = {"cpu": True, "cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if name == "auto":
        return next(kind for kind in ("cuda", "mps", "cpu") if there[kind])
    if not there[name]:
        raise AnyformerError(f"device {name} is not there: PyTorch finds {', '.join(k for k in there if there[k])}")
    return name


def set_threads(n: int | None) -> None:
    if n is not None:
        import torch

        torch.set_num_threads(n)


def local(path: str) -> Path:
    return Path(path).expanduser()


def _plain_type(hint: Any) -> Any:
    """int of `int | None`."""
    inner = [one for one in get_args(hint) if one is not type(None)]
    return inner[0] if inner else hint


def _shown(kind: type) -> str:
    return {int: "N", float: "X"}.get(kind, "NAME")


def _default(field: Field) -> str:
    return "" if field.default in (None, MISSING) else f" (default: {field.default})"
