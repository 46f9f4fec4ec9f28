"""`anyformer demo`, the main job on the embedded data: train once, search once, choose a budget; a table, pictures, and
what to try next. No hub. Stopped and started again, it goes on; a finished one begins anew and finds the same."""

import json
import shutil
import time
from argparse import ArgumentParser, Namespace
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

from anyformer.budget import Budget
from anyformer.cli import options
from anyformer.cli.command import Command
from anyformer.cli.console import Console, seconds
from anyformer.cli.opening import silence
from anyformer.errors import InfeasibleBudget, MissingExtra
from anyformer.frontier import Frontier, Point
from anyformer.report import points as words
from anyformer.report.tables import table

if TYPE_CHECKING:
    from anyformer.bench.budgets import Sides
    from anyformer.data.records import Record
    from anyformer.model import AdaptiveModel

EXAMPLE = """\
anyformer demo
anyformer demo --minutes 20 --out out/longer
anyformer demo --data rotten-tomatoes"""
KEYS = (
    "out, task, data, full{score, macs}, stock{score, seconds}, "
    "points[{budget, score, lost, macs_ratio, latency_ratio, faster_than_stock, plan}], n, minutes, files, seconds"
)
MODEL = "minilm"
BUDGETS = ("full", "loss<=1%", "80%", "60%", "40%", "smallest")
REPORTED = 1000  # held-out texts
NOT_DONE = "unfinished.json"
LENGTHS = {"imdb": 128, "rotten-tomatoes": 64}
PER_MINUTE = {"imdb": 350, "rotten-tomatoes": 700}  # training texts: what two cores of a plain processor manage
SEARCHED = 100  # labelled texts that the search reads, a minute


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", default="out/demo", help="where the results go (default: %(default)s)")
    parser.add_argument("--data", choices=tuple(LENGTHS), default="imdb", help="which reviews (default: %(default)s)")
    about = (
        "about how long it may take on two cores: how many texts are read, the same each time (default: %(default)s)"
    )
    parser.add_argument("--minutes", type=options.minutes, metavar="M", default=8, help=about)
    parser.add_argument("--seed", type=int, metavar="N", default=0, help="of everything that is drawn (default: 0)")
    options.add_threads_flag(parser)
    options.add_output_flags(parser)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    started = time.monotonic()
    options.set_threads(args.threads)
    silence()
    out = options.local(args.out)
    resumed = begun_before(out, args)
    console.note(
        "an unfinished demo lies here: it goes on" if resumed else f"the main job, in about {args.minutes:g} minutes"
    )
    console.note(f"[1/3] Train once: {MODEL} on reviews of {args.data}, then under plans that drop tokens")
    model = trained(args, out, resumed, console)
    console.note("[2/3] Search once: which plans are worth their cost")
    frontier = searched(args, out, resumed, model, console)
    records = held_out(args)
    console.note(f"[3/3] Choose a budget: the picks on {len(records):,} reviews that nothing above has seen")
    picks = {budget: point for budget in BUDGETS if (point := picked(frontier, budget))}
    sides = judged(args, model, records, picks, console)
    result = figures(args, out, model, sides, picks) | {"seconds": round(time.monotonic() - started, 2)}
    console.result(shown(args, result, picks))
    result["files"] = drawn(out, frontier, model, records, console)
    (out / "demo.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    (out / NOT_DONE).unlink()
    console.result(f"\nwritten: {', '.join(str(out / name) for name in (*result['files'], 'demo.json', 'model'))}")
    console.result(f"in {seconds(result['seconds'])}\n\n{following(out)}")
    return result


def begun_before(out: Path, args: Namespace) -> bool:
    """Whether an unfinished demo of the same flags lies there; anything else in its place is cleared away."""
    own = {"data": args.data, "minutes": args.minutes, "seed": args.seed}
    try:
        if json.loads((out / NOT_DONE).read_text()) == own:
            return True
    except (OSError, ValueError):
        pass
    shutil.rmtree(out / "model", ignore_errors=True)
    out.mkdir(parents=True, exist_ok=True)
    (out / NOT_DONE).write_text(json.dumps(own))
    return False


def trained(args: Namespace, out: Path, resumed: bool, console: Console) -> "AdaptiveModel":
    from anyformer.data.splits import Splits, load_splits
    from anyformer.folder import MANIFEST
    from anyformer.model import load
    from anyformer.train.config import TrainSettings
    from anyformer.train.process import Process
    from anyformer.train.stages import train

    folder = out / "model"
    if resumed and (folder / MANIFEST).is_file():
        return load(folder)
    splits = load_splits(args.data, "classification")
    wanted = min(len(splits.train), round(PER_MINUTE[args.data] * args.minutes))
    few = Splits(
        "classification", Random(args.seed).sample(splits.train, wanted), splits.validation[-200:], splits.label_names
    )
    settings = TrainSettings.from_dict(
        {
            "finetune": {"epochs": 2, "learning_rate": 1e-4},
            "adapt": {"epochs": 1, "learning_rate": 1e-4},
            "run": {"max_length": LENGTHS[args.data], "seed": args.seed, "dropout": "off", "save_every": 60},
        }
    )
    process = Process("cpu", say=lambda line: console.note(f"[1/3] {line}"))
    return train(MODEL, few, settings, folder, resume=resumed, process=process).model


def searched(args: Namespace, out: Path, resumed: bool, model: "AdaptiveModel", console: Console) -> Frontier:
    from anyformer.cli.machine import cores
    from anyformer.search.config import SearchSettings
    from anyformer.search.stages import Means, run_search

    settings = SearchSettings(
        iterations=4,
        population=10,
        mutations=8,
        crossovers=8,
        racing=0.25,
        seed=args.seed,
        examples=round(SEARCHED * args.minutes),
    )
    means = Means(min(2, cores()), resumed, lambda line: console.note(f"[2/3] {line}"))
    return run_search(model, args.data, settings, out / "model", means=means).frontier


def held_out(args: Namespace) -> list["Record"]:
    from anyformer.data import load_labelled

    return load_labelled(args.data, "classification")[:REPORTED]


def picked(frontier: Frontier, budget: str) -> Point | None:
    try:
        return frontier.pick(budget)
    except InfeasibleBudget:
        return None


def judged(
    args: Namespace, model: "AdaptiveModel", records: list["Record"], picks: dict[str, Point], console: Console
) -> "Sides":
    from anyformer.bench.budgets import compare
    from anyformer.tasks import TaskSettings, labels_of_model, task_for

    labels = labels_of_model("classification", model.config)
    limits = TaskSettings(max_length=LENGTHS[args.data])
    task = task_for("classification", model.tokenizer, labels, model.config, limits)
    plans = {str(plan.to_dict()): plan for plan in (point.plan for point in picks.values())}
    with console.progress("[3/3] reviews", len(records)) as progress:
        return compare(model, task, records, plans, advance=progress.advance)


def figures(
    args: Namespace, out: Path, model: "AdaptiveModel", sides: "Sides", picks: dict[str, Point]
) -> dict[str, Any]:
    """All of it of the reviews that nothing has seen."""
    from anyformer.bench.budgets import STOCK
    from anyformer.search.calibrate import paired
    from anyformer.search.stages import share_of_macs
    from anyformer.tasks.tallies import mean_points

    share = share_of_macs(model, sides.lengths)
    keys = {budget: str(point.plan.to_dict()) for budget, point in picks.items()}
    full = sides.sides[keys["full"]].tallies
    found = []
    for budget, point in picks.items():
        pair = paired(full, sides.sides[keys[budget]].tallies, mean_points)
        own = {"budget": budget, "score": round(pair.score, 3), "macs_ratio": round(share(point.plan), 4)}
        own |= {"lost": [0.0, 0.0] if keys[budget] == keys["full"] else [round(pair.low, 3), round(pair.high, 3)]}
        own |= {"latency_ratio": round(sides.times(keys[budget], keys["full"]), 4)}
        own |= {"faster_than_stock": round(sides.times(STOCK, keys[budget]), 3), "plan": point.plan.to_dict()}
        found.append(own)
    macs = sum(model.full_macs(n) for n in sides.lengths) // len(sides.lengths)
    stock = sides.sides[STOCK]
    stock_score = float(mean_points(stock.tallies.sum(0)))
    return {
        "out": str(out),
        "task": "classification",
        "data": args.data,
        "full": {"score": found[0]["score"], "macs": macs},
        "stock": {"score": round(stock_score, 3), "seconds": round(stock.total_s, 3)},
        "points": found,
        "n": len(sides.lengths),
        "minutes": args.minutes,
    }


def shown(args: Namespace, result: dict[str, Any], picks: dict[str, Point]) -> str:
    rows = [["stock, padded", f"{result['stock']['score']:.1f}", "", "", "", "1.0×", "all tokens"]]
    for point in result["points"]:
        low, high = point["lost"]
        lost = "" if point["budget"] == "full" else f"{low:.1f} to {high:.1f}"
        times = f"{point['latency_ratio']:.2f}", f"{point['faster_than_stock']:.1f}×"
        plan = words.plan_in_words(picks[point["budget"]].plan)
        rows.append([point["budget"], f"{point['score']:.1f}", lost, f"{point['macs_ratio']:.0%}", *times, plan])
    header = ["budget", "accuracy", "points lost, 95%", "MACs", "time, of full", "over stock", "tokens left"]
    width = max(len(row[-1]) for row in rows)
    rows = [[*row[:-1], row[-1].ljust(width)] for row in rows]
    cut = f"cut at {LENGTHS[args.data]} tokens, batches of 8, fp32"
    title = f"{result['n']:,} reviews of {args.data} that nothing has seen, {cut}"
    return f"\n{title}\n\n{table([*header[:-1], header[-1].ljust(width)], rows)}"


def drawn(
    out: Path, frontier: Frontier, model: "AdaptiveModel", records: list["Record"], console: Console
) -> list[str]:
    """The trade-off as a picture, and as a page on which two of the reviews lose their tokens."""
    from anyformer.report import curves
    from anyformer.report.page import Source, page
    from anyformer.report.survivors import survivors

    texts = survivors(model, [point.plan for point in frontier], [record["text"] for record in records[:2]])
    source = Source(str(out / "model"), str(out / "demo.html"), model.about.get("class", ""), "classification")
    (out / "demo.html").write_bytes(page(frontier, source, Budget.parse("60%"), texts).encode("utf-8", "replace"))
    try:
        curves.draw(curves.curve(frontier), out / "demo.png")
    except MissingExtra as missing:
        console.warn(str(missing))
        return ["demo.html"]
    return ["demo.png", "demo.html"]


def following(out: Path) -> str:
    return f"""\
next:
  anyformer predict {out}/model --budget 40% --text "a gem of a film" "two hours too long"
  anyformer show {out}/model --plot show.html --text "a text of your own"
  anyformer train minilm --data yours.csv --text-column body --label-column stars --out out/yours"""


COMMAND = Command(
    "demo",
    "train, search and choose a budget on embedded reviews, with a table and pictures",
    EXAMPLE,
    KEYS,
    add_flags,
    run,
)
