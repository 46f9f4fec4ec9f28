"""`anyformer search`: from a trained folder and labelled examples to the frontier that budgets pick from."""

from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

from anyformer.cli import options
from anyformer.cli.command import Command
from anyformer.cli.console import Console, seconds
from anyformer.cli.opening import go_offline_without_a_hub, silence
from anyformer.errors import AnyformerError
from anyformer.report.tables import table

EXAMPLE = """\
anyformer search out/reviews --data imdb
anyformer search out/stars --data reviews.csv --text-column body --label-column stars
anyformer search out/qa --data dev.jsonl.xz --workers 2 --racing 0.25
anyformer search out/reviews --data imdb --objective latency --resume"""
KEYS = "out, points[{plan, macs_ratio, score, lost, loss_bound, latency_ms}], evaluations, area, metric, n, seconds"


def add_flags(parser: ArgumentParser) -> None:
    from anyformer.search.config import SearchSettings

    parser.add_argument("model", metavar="DIR", help="a folder that anyformer train wrote")
    about = "labelled examples that the training has not seen; of its own data the held-out part is taken"
    parser.add_argument("--data", metavar="D", required=True, help=about)
    parser.add_argument("--resume", action="store_true", help="go on where a search of DIR was cut off")
    about = "processes that judge plans, or ray; unset: one a core"
    parser.add_argument("--workers", metavar="N", help=about)
    options.add_settings_flags(parser, SearchSettings, "how it is searched")
    options.add_column_flags(parser)
    group = parser.add_argument_group("machine")
    group.add_argument("--device", choices=options.DEVICES, default="auto", help=f"where it runs {options.DEFAULT}")
    options.add_output_flags(parser)


def workers_of(given: str | None, device: str) -> int | str:
    """A core each on a CPU; a GPU is shared by none."""
    from anyformer.cli.machine import cores

    if given is None:
        return cores() if device == "cpu" else 1
    if given == "ray":
        return given
    if not given.isdigit() or int(given) < 1:
        raise AnyformerError(f"--workers {given!r}: give a number of processes, or ray")
    return int(given)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    from anyformer.search.config import SearchSettings

    settings = options.settings_from(args, SearchSettings)
    silence()
    go_offline_without_a_hub(args.model)
    device = options.device_of(args.device)
    from anyformer.model import load
    from anyformer.search.stages import Means, run_search

    means = Means(workers_of(args.workers, device), args.resume, console.note)
    folder = Path(args.model)
    found = run_search(
        load(folder).to(device), args.data, settings, folder, means=means, columns=options.named_columns(args)
    )
    frontier = found.frontier
    rows = [[f"{p.macs_ratio:.0%}", f"{p.score:.2f}", _lost(p.lost), _bound(p.loss_bound)] for p in frontier.points]
    console.result(table(["MACs", frontier.metric, "points lost, 95%", "promised loss"], rows))
    said = f"{found.evaluations:,} plans on {found.n_searched:,} examples, reported on {frontier.n_examples:,} others"
    console.result(f"{said}; in {seconds(found.seconds)}. The frontier is in {folder}: anyformer show {folder}")
    return {
        "out": str(folder),
        "points": [point.to_dict() for point in frontier.points],
        "evaluations": found.evaluations,
        "area": round(frontier.area(), 6),
        "metric": frontier.metric,
        "n": frontier.n_examples,
        "seconds": round(found.seconds, 3),
    }


def _lost(interval: tuple[float, float] | None) -> str:
    return "" if interval is None else f"{interval[0]:.1f} to {interval[1]:.1f}"


def _bound(bound: float | None) -> str:
    return "none" if bound is None else f"≤ {bound:.1%}"


COMMAND = Command("search", "the trade-off of score and cost, once, for every budget", EXAMPLE, KEYS, add_flags, run)
