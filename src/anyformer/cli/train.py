"""`anyformer train`: fine-tune, then adapt, so that one checkpoint serves every budget."""

import threading
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Iterator
from dataclasses import Field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyformer.cli import options
from anyformer.cli.command import Command
from anyformer.cli.console import Console, seconds
from anyformer.cli.opening import go_offline_without_a_hub, silence
from anyformer.report.tables import table

if TYPE_CHECKING:
    from anyformer.train.config import TrainSettings
    from anyformer.train.stages import Trained

EXAMPLE = """\
anyformer train minilm --data imdb --max-length 256 --out out/reviews
anyformer train bert-base-uncased --data train.csv --text-column body --label-column stars --out out/stars
anyformer train minilm --data train.jsonl.xz --validation dev.jsonl.xz --task qa --recipe paper --out out/qa
anyformer train minilm --data train.csv --out out/stars --resume"""
KEYS = "out, task, metric, epochs, full_score, smallest_score, scores, seconds"


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="minilm, a hub id, a Hugging Face folder, or one of anyformer's")
    parser.add_argument("--data", metavar="D", required=True, help="imdb, rotten-tomatoes, a file, a folder, a hub id")
    parser.add_argument("--validation", metavar="D", help="records to judge by; unset: what the data has, or a tenth")
    parser.add_argument("--task", choices=options.TASKS, help="unset: as the columns say")
    parser.add_argument("--out", metavar="DIR", required=True, help="where the trained folder goes")
    parser.add_argument("--recipe", choices=("default", "paper"), default="default", help=f"settings {options.DEFAULT}")
    parser.add_argument("--settings", metavar="FILE.toml", help="[finetune], [adapt] and [run]; flags go over it")
    parser.add_argument("--resume", action="store_true", help="go on where a run into DIR was cut off")
    for section, names in _flags().items():
        group = parser.add_argument_group(TITLES[section])
        for flag, field in names:
            _add(group, flag, f"{section}.{field.name}", field)
    options.add_column_flags(parser)
    group = parser.add_argument_group("machine")
    group.add_argument("--device", choices=("auto", "cpu"), default="auto", help=f"where it runs {options.DEFAULT}")
    options.add_threads_flag(group)
    options.add_output_flags(parser)


TITLES = {"finetune": "fine-tuning", "adapt": "adapting", "run": "either stage"}


def _flags() -> dict[str, list[tuple[str, Field]]]:
    """A flag a setting; names that both stages have say which stage they mean."""
    from anyformer.train.config import Adapt, FineTune, Run

    sections = {"finetune": FineTune, "adapt": Adapt, "run": Run}
    times = Counter(field.name for settings in sections.values() for field in fields(settings))

    def flag(section: str, name: str) -> str:
        return f"--{section}-{name}" if times[name] > 1 else f"--{name}"

    return {
        section: [(flag(section, field.name).replace("_", "-"), field) for field in fields(settings)]
        for section, settings in sections.items()
    }


def _add(group: options.Flags, flag: str, target: str, field: Field) -> None:
    about = f"{field.metadata['help'].replace('%', '%%')} (default: {field.default})"
    if isinstance(field.default, bool):
        group.add_argument(flag, dest=target, action="store_true", default=None, help=about)
    elif field.metadata["choices"]:
        group.add_argument(flag, dest=target, choices=field.metadata["choices"], help=about)
    else:
        kind = type(field.default)
        group.add_argument(flag, dest=target, type=kind, metavar="N" if kind is int else "X", help=about)


def settings_of(args: Namespace) -> "TrainSettings":
    """The recipe, the file over it, the flags over both."""
    from anyformer.train.config import RECIPES, TrainSettings, read_toml

    settings = TrainSettings().with_changes(RECIPES[args.recipe])
    if args.settings:
        settings = settings.with_changes(read_toml(Path(args.settings)))
    given: dict[str, dict[str, Any]] = {}
    for section, name, value in _given(args):
        given.setdefault(section, {})[name] = value
    return settings.with_changes(given)


def _given(args: Namespace) -> Iterator[tuple[str, str, Any]]:
    for target, value in vars(args).items():
        if "." in target and value is not None:
            yield (*target.split(".", 1), value)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    settings = settings_of(args)
    silence()
    go_offline_without_a_hub(args.model)
    options.set_threads(args.threads)
    from anyformer.train.process import Process
    from anyformer.train.stages import train

    process = Process(args.device, settings.run.report_to, args.out, console.note)
    if settings.run.report_to != "none":  # what fails in a tracker's own thread is raised again in ours
        threading.excepthook = lambda _: None
    named = {"task": args.task, "validation": args.validation, "columns": options.named_columns(args)}
    result = train(args.model, args.data, settings, args.out, resume=args.resume, process=process, **named)
    console.result(shown(result))
    found = {name: round(score, 4) for name, score in result.scores.items()}
    return {
        "out": str(result.out),
        "task": result.model.about["task"],
        "metric": result.metric,
        "epochs": result.epochs,
        "full_score": found["full"],
        "smallest_score": found["smallest"],
        "scores": found,
        "seconds": round(result.seconds, 3),
    }


def shown(result: "Trained") -> str:
    rows = [[name, f"{result.scores[name]:.2f}"] for name in ("full", "middle", "smallest")]
    text = table(["plan", result.metric], rows)
    return f"{text}\n{result.epochs:g} epochs in {seconds(result.seconds)}; the model is in {result.out}"


COMMAND = Command("train", "fine-tune, then adapt: one checkpoint for every budget", EXAMPLE, KEYS, add_flags, run)
