"""Is a calibrated loss kept? Calibration sets drawn from cached results of a searched folder, and what they promise.

    python runs/promise.py out/demo/model --data imdb-test.jsonl --n 1000 --loss 1

The points of the folder's frontier answer all examples once. These examples are then the whole world: a point truly
loses what it loses on all of them. Each of 1,000 calibration sets is drawn from it with replacement; the pick for
`loss<=1%` is the cheapest point whose bound on that set allows it, and the promise is broken where the pick truly loses
more. Beside it the uncalibrated pick: the cheapest point that measured no more loss on the same set.
"""

import argparse
import json
from pathlib import Path

import numpy as np

import anyformer
from anyformer.data import load_labelled
from anyformer.pipeline import task_of
from anyformer.search.calibrate import bounds, paired
from anyformer.search.score import Jury
from anyformer.tasks import TaskSettings, labels_of_model, task_for


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--data", required=True)
    parser.add_argument("--n", type=int, default=1000, help="examples of a calibration set")
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--loss", type=float, default=1.0, help="percent of the full model's score")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--cache", type=Path, help="tallies, kept here and read again")
    args = parser.parse_args()
    model = anyformer.load(args.model).eval()
    name = task_of(model)
    limit = model.about.get("settings", {}).get("run", {}).get("max_length") or None
    labels = labels_of_model(name, model.config)
    task = task_for(name, model.tokenizer, labels, model.config, TaskSettings(max_length=limit))
    points = sorted(model.frontier, key=lambda point: -point.macs_ratio)
    if args.cache and args.cache.is_file():
        tallies = np.load(args.cache)
    else:
        tallies = np.stack(Jury(model, task, load_labelled(args.data, name), "fp32").tallies([p.plan for p in points]))
        if args.cache:
            np.save(args.cache, tallies)
    cost = np.array([point.macs_ratio for point in points])
    whole = task.score_of(tallies.sum(1))
    truth = (whole[0] - whole) / whole[0]
    limit = args.loss / 100
    random = np.random.default_rng(args.seed)
    kept, naive = [], []
    for _ in range(args.sets):
        drawn = tallies[:, random.integers(0, tallies.shape[1], args.n)]
        pairs = [paired(drawn[0], own, task.score_of) for own in drawn[1:]]
        promised = [0.0, *bounds(pairs)]
        kept.append(max(i for i, bound in enumerate(promised) if bound is not None and bound <= limit))
        naive.append(
            max([0, *(i + 1 for i, pair in enumerate(pairs) if pair.lost <= limit * (pair.lost + pair.score))])
        )
    found = {
        "examples": int(tallies.shape[1]),
        "points": [[round(c, 4), round(100 * t, 3)] for c, t in zip(cost.tolist(), truth.tolist(), strict=True)],
        "broken": float(np.mean(truth[kept] > limit + 1e-12)),
        "broken_uncalibrated": float(np.mean(truth[naive] > limit + 1e-12)),
        "macs": float(cost[kept].mean()),
        "macs_uncalibrated": float(cost[naive].mean()),
        "n": args.n,
        "sets": args.sets,
        "loss_percent": args.loss,
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
