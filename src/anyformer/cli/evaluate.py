"""`anyformer evaluate`: score and cost of a model on a labelled set, under one budget."""

import time
from argparse import ArgumentParser, Namespace
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from anyformer.cli import options
from anyformer.cli.command import Command
from anyformer.cli.console import Console, seconds
from anyformer.cli.opening import open_pipeline
from anyformer.report.tables import table

if TYPE_CHECKING:
    from anyformer.data import Record
    from anyformer.pipeline import Pipeline
    from anyformer.tasks import Predicted, Prepared, Task

EXAMPLE = """\
anyformer evaluate out/model --data imdb --budget 40%
anyformer evaluate out/model --data test.csv.gz --text-column body --label-column stars --json"""
KEYS = "score, metric, scores, macs_ratio, exit_layers[examples a layer], n, macs, tokens, budget, seconds"


def add_flags(parser: ArgumentParser) -> None:
    from anyformer.tasks.base import TaskSettings

    options.add_model_flags(parser)
    parser.add_argument(
        "--data", metavar="D", required=True, help="labelled: imdb, rotten-tomatoes, a file, a folder or a hub id"
    )
    options.add_settings_flags(parser, TaskSettings, "how inputs are read")
    options.add_column_flags(parser)
    options.add_machine_flags(parser)
    options.add_output_flags(parser)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    from anyformer.data import load_named
    from anyformer.tasks import Notes, prepare

    pipe = open_pipeline(args, console)
    records, names = load_named(args.data, pipe.task.name, options.named_columns(args))
    pipe = named(pipe, names, console)
    check_labels(pipe.task, records)
    notes, started = Notes(), time.monotonic()
    prepared = prepare(pipe.task, records, args.batch_tokens, notes)
    found = predictions(pipe, prepared, console)
    for line in notes.lines():
        console.warn(line)
    result = {**judged(pipe, found), "budget": args.budget or "full", "seconds": round(time.monotonic() - started, 3)}
    console.result(shown(result))
    return result


def named(pipe: "Pipeline", names: Sequence[str], console: Console) -> "Pipeline":
    """A model whose labels nobody named takes the names of the data, in the order of its ids."""
    from anyformer.tasks.labels import named_by

    own = getattr(pipe.task, "labels", ())
    labels = named_by(own, names)
    if labels == own:
        return pipe
    listed = ", ".join(labels[:20])
    console.warn(f"the model does not name its labels: they are taken for the data's, in its order: {listed}")
    return replace(pipe, task=replace(pipe.task, labels=labels))  # type: ignore[type-var]


def check_labels(task: "Task", records: Sequence["Record"]) -> None:
    """Before the model runs, not after."""
    from anyformer.tasks.labels import checked_class_id

    names = getattr(task, "labels", ())
    if names and task.name in ("classification", "image"):
        for i, record in enumerate(records):
            checked_class_id(record, i, names)


def predictions(pipe: "Pipeline", prepared: "Prepared", console: Console) -> list["Predicted"]:
    from anyformer.tasks import run_prepared

    forward = pipe.forward()
    with console.progress("evaluation", len(prepared.features)) as progress:

        def counted(batch: dict[str, Any]) -> Any:
            out = forward(batch)
            progress.advance(len(next(iter(batch.values()))))
            return out

        return run_prepared(pipe.task, counted, prepared)


def judged(pipe: "Pipeline", found: Sequence["Predicted"]) -> dict[str, Any]:
    """exit_layers: how many examples left after each layer."""
    scores = pipe.task.score([one.prediction for one in found], [one.record for one in found])
    left = Counter(one.exit_layer for one in found)
    return {
        "score": scores[pipe.task.metric],
        "metric": pipe.task.metric,
        "macs_ratio": round(sum(one.macs or 0 for one in found) / sum(pipe.full_macs(one) for one in found), 6),
        "exit_layers": [left[i] for i in range(pipe.model.n_layers)],
        "n": len(found),
        "scores": scores,
        "macs": round(sum(one.macs or 0 for one in found) / len(found)),
        "tokens": round(sum(sum(one.n_tokens) for one in found) / len(found), 2),
    }


def shown(result: dict[str, Any]) -> str:
    scores = [[name, f"{score:.2f}"] for name, score in result["scores"].items()]
    layers = [(i, n) for i, n in enumerate(result["exit_layers"]) if n]
    mean_layer = sum(i * n for i, n in layers) / result["n"]
    rows = [
        *scores,
        ["budget", result["budget"]],
        ["MACs, of the full model's", f"{result['macs_ratio']:.1%}"],
        ["MACs an example", f"{result['macs'] / 1e6:,.0f} M"],
        ["tokens an example", f"{result['tokens']:.1f}"],
        ["left after layer, on average", f"{mean_layer:.1f} of 0 to {len(result['exit_layers']) - 1}"],
        ["examples", f"{result['n']:,}"],
        ["time", seconds(result["seconds"])],
    ]
    return table(["", ""], rows)


COMMAND = Command("evaluate", "score and cost on a labelled set", EXAMPLE, KEYS, add_flags, run)
