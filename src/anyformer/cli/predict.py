"""`anyformer predict`: texts or a file in, predictions with what they cost out, as JSON lines, a chunk at a time."""

import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from anyformer.cli import options
from anyformer.cli.command import Command
from anyformer.cli.console import Console, seconds
from anyformer.cli.lines import Lines
from anyformer.cli.opening import open_pipeline
from anyformer.errors import AnyformerError

if TYPE_CHECKING:
    from anyformer.data import Record
    from anyformer.pipeline import Pipeline
    from anyformer.tasks import Predicted

EXAMPLE = """\
anyformer predict out/model --text "a gem of a film" "two hours too long" --budget 40%
anyformer predict out/model --question "Who wrote it?" --context "It was written by Ada."
anyformer predict out/model --input reviews.jsonl --output predictions.jsonl"""
KEYS = "predictions[{…, macs_ratio, exit_layer}], n, macs_ratio, budget, out"


def add_flags(parser: ArgumentParser) -> None:
    from anyformer.tasks.base import TaskSettings

    options.add_model_flags(parser)
    group = parser.add_argument_group("what to predict for, one of")
    many = {"nargs": "+", "action": "extend"}
    group.add_argument("--text", metavar="T", help="texts", **many)  # type: ignore[arg-type]
    group.add_argument("--text-pair", metavar="T", help="second texts, one for each", **many)  # type: ignore[arg-type]
    group.add_argument("--question", metavar="Q", help="questions", **many)  # type: ignore[arg-type]
    group.add_argument("--context", metavar="C", help="texts that hold the answers, one for each", **many)  # type: ignore[arg-type]
    group.add_argument("--image", metavar="FILE", help="image files", **many)  # type: ignore[arg-type]
    group.add_argument("--input", metavar="FILE", help=".jsonl .csv .tsv .parquet, each also .gz or .xz; or imdb")
    parser.add_argument(
        "--output", metavar="FILE", help="JSON lines, in the order of the input; unset: standard output"
    )
    options.add_settings_flags(parser, TaskSettings, "how inputs are read")
    options.add_column_flags(parser, labelled=False)
    options.add_machine_flags(parser)
    options.add_output_flags(parser)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    from anyformer.tasks import Notes

    given = typed_inputs(args)
    lines = Lines(args.output, spooled=console.as_json)
    pipe = open_pipeline(args, console)
    records = pipe.records(given) if given else file_records(args, pipe.task.name)
    notes, totals, started = Notes(), Totals(), time.monotonic()
    with lines, console.progress("predictions", shown=not lines.on_terminal) as progress:
        for one in pipe.stream(records, notes, args.batch_tokens):
            lines.write(totals.add(one, pipe))
            progress.advance()
    for line in notes.lines():
        console.warn(line)
    where = f", in {args.output}" if args.output else ""
    taken = seconds(time.monotonic() - started)
    console.note(f"{totals.n:,} predictions in {taken} at {totals.ratio:.1%} of the full model's MACs{where}")
    summary = {"n": totals.n, "macs_ratio": totals.ratio, "budget": args.budget or "full", "out": args.output}
    return {"predictions": lines.read(), **summary}


class Totals:
    """What all predictions cost together."""

    def __init__(self) -> None:
        self.n = self.macs = self.full = 0

    @property
    def ratio(self) -> float:
        return round(self.macs / self.full, 6) if self.full else 1.0

    def add(self, one: "Predicted", pipe: "Pipeline") -> dict[str, Any]:
        """The prediction as it is written, with what it cost of the full plan."""
        macs, full = one.macs or 0, pipe.full_macs(one)
        self.n, self.macs, self.full = self.n + 1, self.macs + macs, self.full + full
        named = {"id": one.record["id"]} if "id" in one.record else {}
        return {**named, **one.prediction, "macs_ratio": round(macs / full, 6), "exit_layer": one.exit_layer}


def typed_inputs(args: Namespace) -> list[Any]:
    """The inputs that stand on the command line; none where there is a file."""
    kinds = {"--text": args.text, "--question": args.question, "--image": args.image, "--input": args.input}
    given = [flag for flag, value in kinds.items() if value]
    if len(given) != 1:
        found = " and ".join(given) or "none of them"
        raise AnyformerError(f"give one of --text, --question with --context, --image or --input; found {found}")
    for first, second, flags in (
        (args.text, args.text_pair, "--text and --text-pair"),
        (args.question, args.context, "--question and --context"),
    ):
        if (second or flags.startswith("--question")) and len(first or ()) != len(second or ()):
            raise AnyformerError(f"{flags} go together, one for each; found {len(first or ())} and {len(second or ())}")
    if args.text:
        pairs = args.text_pair or [None] * len(args.text)
        return [t if p is None else {"text": t, "text_pair": p} for t, p in zip(args.text, pairs, strict=True)]
    if args.question:
        return [{"question": q, "context": c} for q, c in zip(args.question, args.context, strict=True)]
    return [{"image": path} for path in args.image or ()]


def file_records(args: Namespace, task: str) -> Iterator["Record"]:
    """The records of a file under the task's names, one at a time; an `id` goes along, labels are not read."""
    from anyformer.data import load_inputs

    for given, record in load_inputs(args.input, task, options.named_columns(args)):
        yield {**record, "id": given["id"]} if "id" in given else record


COMMAND = Command("predict", "predictions with what they cost, of texts or of a file", EXAMPLE, KEYS, add_flags, run)
