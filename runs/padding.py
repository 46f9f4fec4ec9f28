"""Where padding goes: the embedded encoder over real reviews, stock and padded against unpadded, taking turns.

    python runs/padding.py --threads 1 --out out/padding

Embeds reviews (the mean of a text's token states) in random-order batches, checks that both sides give the same, prints
time, tokens and MACs of each, and draws the picture of the README.
"""

import argparse
import json
from pathlib import Path
from random import Random
from statistics import median

import torch
from transformers import AutoModel, AutoTokenizer
from transformers.utils import logging

from anyformer import AdaptiveModel
from anyformer.bench.padding import compare, random_batches
from anyformer.data import read
from anyformer.embedded import resolve_model
from anyformer.report.padding import Bar, draw, padding_picture
from anyformer.report.tables import table
from anyformer.tasks.classification import text_features
from anyformer.tasks.texts import position_limit

BATCH, TOLERANCE = 8, 1e-4


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=("imdb", "rotten-tomatoes"), default="imdb")
    parser.add_argument("--texts", type=int, default=1000)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/padding"))
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    logging.disable_progress_bar()
    source = resolve_model("minilm")
    hf = AutoModel.from_pretrained(source, attn_implementation="sdpa", use_safetensors=True).float().eval()
    tokenizer = AutoTokenizer.from_pretrained(source)
    records = Random(args.seed).sample(read(args.data, "test").records, args.texts)
    features = text_features(tokenizer, records, position_limit(tokenizer, hf.config), None, None)
    batches = random_batches(features, BATCH, args.seed)
    found = compare(AdaptiveModel.wrap(hf, tokenizer).eval(), batches, tokenizer.pad_token_id)
    stock, own = found.stock, found.unpadded
    rows = [
        ["time", f"{stock.total_s:.2f} s", f"{own.total_s:.2f} s", f"{stock.total_s / own.total_s:.2f}"],
        [
            "of a batch, median",
            *(f"{median(s.seconds) * 1e3:.0f} ms" for s in (stock, own)),
            f"{found.median_gain:.2f}",
        ],
        ["tokens", f"{stock.n_tokens:,}", f"{own.n_tokens:,}", f"{stock.n_tokens / own.n_tokens:.2f}"],
        ["MACs", f"{stock.macs / 1e12:.3f} T", f"{own.macs / 1e12:.3f} T", f"{stock.macs / own.macs:.2f}"],
    ]
    print(table(["", "stock, padded", "anyformer, unpadded", "ratio"], rows))
    same = f"the same nearest neighbour for {found.same_neighbour} of {found.n_texts}"
    print(
        f"{found.padding:.0%} of stock's tokens are padding; largest difference {found.largest_difference:.1e}; {same}"
    )
    if found.largest_difference > TOLERANCE:
        raise SystemExit("the embeddings differ: unpadded must give what the stock model gives")
    args.out.mkdir(parents=True, exist_ok=True)
    bars = [
        Bar("tokens", stock.n_tokens / 1e3, own.n_tokens / 1e3, "thousand", ("fewer", "more"), found.padding),
        Bar("MACs", stock.macs / 1e12, own.macs / 1e12, "T", ("fewer", "more"), 1 - own.macs / stock.macs),
        Bar("time", stock.total_s, own.total_s, "s", ("faster", "slower")),
    ]
    title = f"{found.padding:.0%} of the tokens that a stock model computes here are padding"
    subtitle = f"{found.n_texts:,} {args.data} reviews in random order, batches of {BATCH}; the embeddings are the same"
    draw(padding_picture(title, subtitle, found.lengths, bars), args.out / "padding.png")
    summary = {"time": stock.total_s / own.total_s, "threads": args.threads, "difference": found.largest_difference}
    (args.out / "padding.json").write_text(json.dumps(summary) + "\n")


if __name__ == "__main__":
    main()
