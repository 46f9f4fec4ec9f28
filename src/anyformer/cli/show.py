"""`anyformer show`: the frontier of a folder as a table and a picture, what a budget would pick, and which tokens of a
text survive. Only --text loads the model."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyformer.budget import Budget
from anyformer.cli import options
from anyformer.cli.command import Command
from anyformer.cli.console import Console
from anyformer.cli.opening import silence
from anyformer.errors import AnyformerError, FolderError
from anyformer.folder import ABOUT, FRONTIER, read_frontier, verify
from anyformer.frontier import Frontier, Point
from anyformer.report import points

if TYPE_CHECKING:
    from anyformer.report.survivors import Survivors

EXAMPLE = """\
anyformer show out/model --budget "loss<=1%"
anyformer show out/model --plot out/model.png
anyformer show out/model --plot out/model.html --text "a gem of a film" "two hours too long\""""
KEYS = "points[{…, loses, budget}], picked, metric, n_examples, device, budget, plot, texts[{tokens, left}]"
PLOTS = (".png", ".html")


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("model", metavar="DIR", help="a folder that anyformer saved and searched")
    parser.add_argument("--budget", metavar="B", help=f"what would be picked for it: {options.BUDGETS}")
    parser.add_argument("--plot", metavar="FILE", help="a picture, .png, or a page to explore, .html")
    about = (
        "texts whose tokens are followed through the layers: under the picked point here, under every one on the page"
    )
    parser.add_argument("--text", metavar="T", nargs="+", action="extend", help=about)
    options.add_output_flags(parser)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    budget = None if args.budget is None else Budget.parse(args.budget)
    plot = None if args.plot is None else checked_plot(args.plot)
    frontier, about = opened(options.local(args.model))
    picked = None if budget is None else frontier.pick(budget)
    texts = followed(args.model, frontier, args.text) if args.text else []
    if n_cut := sum(text.is_cut for text in texts):
        console.warn(f"texts cut at {max(len(text.tokens) for text in texts)} tokens: {n_cut}")
    if plot:
        draw(plot, frontier, budget, args, about, texts)
    console.result(shown(frontier, budget, picked))
    shown_at = frontier.points.index(picked or points.finding(frontier).point)
    for text in texts:
        console.result(f"\n{survival(text, frontier, shown_at)}")
    if plot:
        console.result(f"\nwritten: {plot}")
    return {
        "points": [described(frontier, point) for point in frontier],
        "picked": None if picked is None else described(frontier, picked),
        "metric": frontier.metric,
        "n_examples": frontier.n_examples,
        "device": frontier.device,
        "budget": args.budget,
        "plot": None if plot is None else str(plot),
        "texts": [{"tokens": [asdict(token) for token in one.tokens], "left": one.left[shown_at]} for one in texts],
    }


def opened(folder: Path) -> tuple[Frontier, dict[str, Any]]:
    """The frontier of a folder that is as it was written, and what is known of its model, which stays where it is."""
    verify(folder)
    frontier = read_frontier(folder)
    if frontier is None:
        raise FolderError(f"{folder} has no {FRONTIER}: `anyformer search {folder} --data …` makes one")
    return frontier, json.loads((folder / ABOUT).read_text(encoding="utf-8"))


def checked_plot(path: str) -> Path:
    plot = options.local(path)
    if plot.suffix.lower() not in PLOTS:
        raise AnyformerError(f"--plot {path}: the name must end in {' or '.join(PLOTS)}, found {plot.suffix or 'none'}")
    if plot.is_dir() or not plot.parent.is_dir():
        raise AnyformerError(f"--plot {path}: {'it is a folder' if plot.is_dir() else f'there is no {plot.parent}'}")
    return plot


def followed(model: str, frontier: Frontier, texts: list[str]) -> list["Survivors"]:
    """Through the model itself, under the plan of every point."""
    silence()
    from anyformer.pipeline import open_model
    from anyformer.report.survivors import survivors

    return survivors(open_model(model).eval(), [point.plan for point in frontier], texts)


def draw(
    plot: Path,
    frontier: Frontier,
    budget: Budget | None,
    args: Namespace,
    about: dict[str, Any],
    texts: list["Survivors"],
) -> None:
    if plot.suffix.lower() == ".png":
        from anyformer.report import curves

        return curves.draw(curves.curve(frontier, budget), plot)
    from anyformer.report.page import Source, page

    source = Source(args.model, args.plot, about.get("class", ""), about.get("task", ""))
    plot.write_bytes(page(frontier, source, budget, texts).encode("utf-8", "replace"))


def described(frontier: Frontier, point: Point) -> dict[str, Any]:
    """The point as its file has it, with what it loses and the budget that picks it."""
    own = {"loses": round(points.lost(frontier, point), 4), "budget": points.budget_for(frontier, point)}
    return point.to_dict() | own


def shown(frontier: Frontier, budget: Budget | None, picked: Point | None) -> str:
    head = f"{points.finding(frontier).title}\n\n{points.frontier_table(frontier, picked)}"
    on = f", on {frontier.n_examples:,} labelled examples" if frontier.n_examples else ""
    tail = f"MACs: share of the full model's on the same texts, without padding{on}"
    asked = f"\n{points.picked_in_words(frontier, budget, picked)}" if budget and picked else ""
    return f"{head}\n\n{tail}{asked}"


def survival(text: "Survivors", frontier: Frontier, at: int) -> str:
    """The text as it comes in, and after each layer at which tokens of it leave."""
    lines = [f"at {points.share(frontier.points[at].macs_ratio)} of the MACs", f"  comes in  {text.after(at, -1)}"]
    layers = sorted({layer for layer in text.left[at] if layer < text.n_layers})
    return "\n".join([*lines, *(f"  after {layer:<3} {text.after(at, layer)}" for layer in layers)])


COMMAND = Command(
    "show", "the frontier as a table and a picture; what a budget would pick", EXAMPLE, KEYS, add_flags, run
)
