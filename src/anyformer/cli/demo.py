"""`anyformer demo`: the embedded encoder over real reviews, stock and padded against unpadded, in one run; a table, a
picture of where padding goes, and what to try next. No hub, no training."""

import json
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from anyformer.cli import options
from anyformer.cli.command import Command
from anyformer.cli.console import Console, Progress, seconds
from anyformer.cli.opening import silence
from anyformer.errors import AnyformerError, MissingExtra
from anyformer.report.padding import Bar, draw, padding_picture
from anyformer.report.tables import table

if TYPE_CHECKING:
    from anyformer.bench.padding import Comparison
    from anyformer.model import AdaptiveModel
    from anyformer.tasks import Feature

EXAMPLE = """\
anyformer demo
anyformer demo --data rotten-tomatoes --out out/short --threads 1"""
MODEL = "minilm"
BATCH = 8
TOLERANCE = 1e-4
SHARE_FOR_RUNNING = 0.9  # of the minutes; the rest is for reading, comparing and drawing
NEXT = """\
next:
  anyformer doctor                                    what this machine can do, what is installed
  anyformer demo --data rotten-tomatoes               the same on short texts
  anyformer predict distilbert/distilbert-base-uncased-finetuned-sst-2-english --text "a gem of a film"
                                                      any supported classifier of the hub, unpadded"""
KEYS = (
    "out, task, data, model, stock, unpadded, ratios, padding, n, largest_difference, same_nearest_neighbour, seconds"
)


def add_flags(parser: ArgumentParser) -> None:
    parser.add_argument("--out", metavar="DIR", default="out/demo", help="where the results go (default: %(default)s)")
    parser.add_argument(
        "--data", choices=("imdb", "rotten-tomatoes"), default="imdb", help="which reviews (default: %(default)s)"
    )
    parser.add_argument("--texts", type=options.count, metavar="N", default=1000, help="reviews (default: %(default)s)")
    parser.add_argument(
        "--minutes", type=options.minutes, metavar="M", default=8, help="stop after these (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, metavar="N", default=0, help="of the order of the reviews (default: 0)")
    options.add_threads_flag(parser)
    options.add_output_flags(parser)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    started = time.monotonic()
    options.set_threads(args.threads)
    out = options.local(args.out)
    out.mkdir(parents=True, exist_ok=True)
    console.note(f"[1/4] The model {MODEL} and reviews of {args.data}")
    model, pad_id, features = opened(args)
    console.note(f"[2/4] {len(features):,} reviews in random order, batches of {BATCH}: stock and unpadded take turns")
    found = measured(model, pad_id, features, args, console, started)
    console.note("[3/4] Are the embeddings the same?")
    result = {"out": str(out), "task": "embedding", "data": args.data, "model": MODEL, **figures(found)}
    check_same(result)
    console.result(shown(found, result))
    console.note("[4/4] The picture")
    result["files"] = written(found, args, out, console)
    result["seconds"] = round(time.monotonic() - started, 2)
    (out / "demo.json").write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    console.result(f"\nwritten: {', '.join(str(out / name) for name in result['files'])}, {out / 'demo.json'}")
    console.result(f"in {seconds(result['seconds'])}\n\n{NEXT}")
    return result


def opened(args: Namespace) -> tuple["AdaptiveModel", int, list["Feature"]]:
    """The bare encoder, unpadded, and the reviews as tokens."""
    silence()
    from transformers import AutoModel, AutoTokenizer

    from anyformer.data import read
    from anyformer.embedded import resolve_model
    from anyformer.model import AdaptiveModel
    from anyformer.tasks.classification import text_features
    from anyformer.tasks.texts import position_limit

    source = resolve_model(MODEL)
    hf = AutoModel.from_pretrained(source, attn_implementation="sdpa", use_safetensors=True).float().eval()
    tokenizer = AutoTokenizer.from_pretrained(source)
    records = sampled(read(args.data, "test").records, args.texts, args.seed)
    features = text_features(tokenizer, records, position_limit(tokenizer, hf.config), None, None)
    return AdaptiveModel.wrap(hf, tokenizer).eval(), tokenizer.pad_token_id, features


def sampled(records: Sequence[dict[str, Any]], n: int, seed: int) -> list[dict[str, Any]]:
    from random import Random

    return Random(seed).sample(list(records), min(n, len(records)))


def measured(
    model: "AdaptiveModel", pad_id: int, features: list["Feature"], args: Namespace, console: Console, started: float
) -> "Comparison":
    from anyformer.bench.padding import compare, random_batches

    batches = random_batches(features, BATCH, args.seed)
    until = started + args.minutes * 60 * SHARE_FOR_RUNNING
    with console.progress("[2/4] reviews", len(features)) as progress:
        found = compare(model, in_time(batches, until, progress), pad_id)
    if found.n_texts < len(features):
        console.warn(f"{args.minutes:g} minutes were enough for {found.n_texts:,} of {len(features):,} reviews")
    return found


def in_time(batches: Sequence[list["Feature"]], until: float, progress: Progress) -> Iterator[list["Feature"]]:
    """Batches until the time is over, at least one."""
    for b, batch in enumerate(batches):
        if b and time.monotonic() > until:
            return
        yield batch
        progress.advance(len(batch))


def figures(found: "Comparison") -> dict[str, Any]:
    import torch

    stock, unpadded = found.stock, found.unpadded
    sides = {
        name: {
            "seconds": round(side.total_s, 3),
            "texts_per_s": round(found.n_texts / side.total_s, 2),
            "tokens": side.n_tokens,
            "macs": side.macs,
        }
        for name, side in (("stock", stock), ("unpadded", unpadded))
    }
    ratios = {
        "time": round(stock.total_s / unpadded.total_s, 3),
        "time_median": round(found.median_gain, 3),
        "tokens": round(stock.n_tokens / unpadded.n_tokens, 3),
        "macs": round(stock.macs / unpadded.macs, 3),
    }
    return sides | {
        "ratios": ratios,
        "padding": round(found.padding, 4),
        "n": found.n_texts,
        "batch": BATCH,
        "threads": torch.get_num_threads(),
        "largest_difference": found.largest_difference,
        "same_nearest_neighbour": found.same_neighbour,
    }


def check_same(result: dict[str, Any]) -> None:
    if not result["largest_difference"] <= TOLERANCE:
        raise AnyformerError(
            f"the embeddings differ by {result['largest_difference']:.1e}, more than {TOLERANCE:.0e}: unpadded must "
            "give what the stock model gives; please report it with the output of anyformer doctor"
        )


def shown(found: "Comparison", result: dict[str, Any]) -> str:
    stock, own, ratios = result["stock"], result["unpadded"], result["ratios"]
    sides, (per, unit) = (found.stock, found.unpadded), macs_unit(found)
    rows = [
        ["time", seconds(stock["seconds"]), seconds(own["seconds"]), f"{ratios['time']:.2f}"],
        ["of a batch, median", *(f"{median(s.seconds) * 1e3:.0f} ms" for s in sides), f"{ratios['time_median']:.2f}"],
        ["texts a second", f"{stock['texts_per_s']:.1f}", f"{own['texts_per_s']:.1f}", f"{ratios['time']:.2f}"],
        ["tokens computed", f"{stock['tokens']:,}", f"{own['tokens']:,}", f"{ratios['tokens']:.2f}"],
        ["of them padding", f"{result['padding']:.0%}", "0%", ""],
        ["MACs", f"{stock['macs'] / per:.2f} {unit}", f"{own['macs'] / per:.2f} {unit}", f"{ratios['macs']:.2f}"],
    ]
    same = (
        f"largest difference of two embeddings {result['largest_difference']:.1e}; "
        f"the nearest neighbour is the same for {result['same_nearest_neighbour']:,} of {result['n']:,} reviews\n"
        "timed: the forward pass and the mean over tokens; tokenising, the same for both, is not"
    )
    threads = f"{result['threads']} thread" + ("s" if result["threads"] > 1 else "")
    title = f"{result['n']:,} reviews of {result['data']}, {MODEL}, fp32, {threads}, batches of {BATCH} in random order"
    return f"\n{title}\n\n{table(['', 'stock, padded', 'anyformer, unpadded', 'ratio'], rows)}\n\n{same}"


def macs_unit(found: "Comparison") -> tuple[float, str]:
    return (1e12, "T") if found.stock.macs >= 1e12 else (1e9, "G")


def written(found: "Comparison", args: Namespace, out: Path, console: Console) -> list[str]:
    stock, own, (per, unit) = found.stock, found.unpadded, macs_unit(found)
    bars = [
        Bar("tokens", stock.n_tokens / 1e3, own.n_tokens / 1e3, "thousand", ("fewer", "more"), found.padding),
        Bar("MACs", stock.macs / per, own.macs / per, unit, ("fewer", "more"), 1 - own.macs / stock.macs),
        Bar("time", stock.total_s, own.total_s, "s", ("faster", "slower")),
    ]
    title = f"{found.padding:.0%} of the tokens that a stock model computes here are padding"
    subtitle = (
        f"{found.n_texts:,} {args.data} reviews in random order, batches of {BATCH}, all-MiniLM-L6-v2; "
        "the embeddings are the same"
    )
    try:
        draw(padding_picture(title, subtitle, found.lengths, bars), out / "demo.png")
    except MissingExtra as missing:
        console.warn(str(missing))
        return []
    return ["demo.png"]


COMMAND = Command(
    "demo",
    "the same model padded and unpadded over real reviews, with a table and a picture",
    EXAMPLE,
    KEYS,
    add_flags,
    run,
)
