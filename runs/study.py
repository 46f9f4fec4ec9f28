"""Does it learn? Standard fine-tuning, the paper's recipe and ours, trained equally long, on several tasks and seeds.

    python runs/study.py --model minilm --data DATA --out OUT --tasks sst2,rte --seeds 0,1,2 --jobs 12

DATA holds TASK/train.jsonl.xz and TASK/dev.jsonl.xz (or test). A tenth of train, held out by content, chooses the best
checkpoint; dev or test is read once, at the end. Every run is a process of its own; its result is one JSON file in OUT,
which is not made again where it is there. `--table` prints what OUT holds: mean and spread over seeds, MACs unpadded.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

TASKS = {  # task, report split, epochs of fine-tuning, of adapting, batch rows, learning rate, max length
    "squad": ("qa", "dev", 1, 2, 32, 1e-4, 384),
    "imdb": ("classification", "test_a", 1, 2, 32, 5e-5, 384),
    "sst2": ("classification", "dev", 1, 3, 64, 5e-5, 128),
    "wnut17": ("tagging", "test", 4, 8, 16, 1e-4, 128),
    "stsb": ("classification", "dev", 3, 6, 16, 5e-5, 128),
    "rotten-tomatoes": ("classification", "test", 1, 3, 32, 5e-5, 128),
    "rte": ("classification", "dev", 3, 6, 16, 5e-5, 256),
}
RECIPES = ("standard", "paper", "ours")


def settings_of(task: str, recipe: str, seed: int, changes: dict) -> dict:
    from anyformer.train.config import PAPER

    _, _, tune, adapt, rows, rate, length = TASKS[task]
    run = {"seed": seed, "batch_rows": rows, "max_length": length, "save_every": 0, "eval_rows": 2000}
    first, second = {"epochs": tune, "learning_rate": rate}, {"epochs": adapt, "learning_rate": rate}
    if recipe == "standard":
        first, second = first | {"epochs": tune + adapt, "ramps": "off"}, {"epochs": 0}
    if recipe == "paper":
        first, second = PAPER["finetune"] | first, PAPER["adapt"] | second
    made = {"finetune": first, "adapt": second, "run": run}
    return {section: values | changes.get(section, {}) for section, values in made.items()}


def plans(n: int) -> dict:
    from anyformer.plan import Plan

    found = {"full": Plan.full(n)} | {f"{rate}%": Plan.constant(rate / 100, n) for rate in (10, 20, 30)}
    found["one drop"] = Plan.at({n // 2 - 1: 0.25}, n)
    found["two drops"] = Plan.at({n // 6 - 1: 0.6, n // 2 - 1: 0.25}, n)
    return found


def one(args: argparse.Namespace, task: str, recipe: str, seed: int) -> None:
    import torch

    from anyformer.data.splits import load_splits
    from anyformer.plan import Plan
    from anyformer.tasks.base import TaskSettings
    from anyformer.tasks.find import labels_of_model, task_for
    from anyformer.tasks.predicting import prepare
    from anyformer.train.config import TrainSettings
    from anyformer.train.loop import Trainee, scores
    from anyformer.train.process import Process
    from anyformer.train.stages import train

    torch.set_num_threads(1)
    name, report, *_ = TASKS[task]
    changes = json.loads(args.changes)
    settings = TrainSettings.from_dict(settings_of(task, recipe, seed, changes))
    process = Process()
    result = train(args.model, load_splits(args.data / task / "train.jsonl.xz", name), settings, process=process)
    file = args.data / task / f"{report}.jsonl.xz"
    records = load_splits(file, name, validation=file).validation
    limits = TaskSettings(max_length=settings.run.max_length)
    model = result.model
    ready = task_for(name, model.tokenizer, labels_of_model(name, model.config), model.config, limits)
    prepared = prepare(ready, records, max_tokens=65536)
    trainee = Trainee(model, ready, [], prepared, settings.run, process, {})
    lengths = [feature.n_tokens for feature in prepared.features]
    rows = {}
    ramped = model.ramps is not None and model.kind in ("span", "tag")
    for kind in ("attention", "ramp", "both") if ramped else ("attention",):
        todo = {label: Plan(plan.keep, score=kind) for label, plan in plans(model.n_layers).items()}
        for label, score in scores(trainee, todo).items():
            rows[f"{label} {kind}"] = {"score": score, "macs": model.shape.ratio(todo[label], lengths)}
    found = {"task": task, "recipe": recipe, "seed": seed, "changes": changes, "rows": rows, "n": len(records)}
    found |= {"seconds": result.seconds, "history": result.history, "mean_tokens": statistics.mean(lengths)}
    target = args.out / f"{task}-{recipe}-{seed}.json"
    target.with_suffix(".new").write_text(json.dumps(found))
    os.replace(target.with_suffix(".new"), target)


def every(args: argparse.Namespace) -> None:
    """Starts the runs, so many at a time, the longest tasks first."""
    names = args.recipes.split(",")
    waiting = [(t, r, int(s)) for t in args.tasks.split(",") for s in args.seeds.split(",") for r in names]
    waiting = [job for job in waiting if not (args.out / f"{job[0]}-{job[1]}-{job[2]}.json").exists()]
    running: dict[subprocess.Popen, tuple] = {}
    begun = time.monotonic()
    while waiting or running:
        while waiting and len(running) < args.jobs:
            task, recipe, seed = job = waiting.pop(0)
            command = [
                sys.executable,
                __file__,
                "--model",
                args.model,
                "--data",
                str(args.data),
                "--out",
                str(args.out),
            ]
            command += ["--changes", args.changes, "--one", f"{task},{recipe},{seed}"]
            log = (args.out / f"{task}-{recipe}-{seed}.log").open("w")
            running[subprocess.Popen(command, stdout=log, stderr=log)] = job
        time.sleep(0.5)
        for process in [p for p in running if p.poll() is not None]:
            job = running.pop(process)
            print(f"{time.monotonic() - begun:.0f} s: {job} ended with {process.returncode}", flush=True)


def table(out: Path) -> None:
    found: dict[tuple, dict[str, list]] = {}
    for file in sorted(out.glob("*.json")):
        run = json.loads(file.read_text())
        for row, values in run["rows"].items():
            found.setdefault((run["task"], run["recipe"]), {}).setdefault(row, []).append(values)
    for (task, recipe), rows in found.items():
        cells = []
        for row, values in rows.items():
            scores = [value["score"] for value in values]
            spread = statistics.stdev(scores) if len(scores) > 1 else 0.0
            cells.append(
                f"{row} [{values[0]['macs']:.2f}] {statistics.mean(scores):.2f}±{spread:.2f} (n={len(scores)})"
            )
        print(f"{task} {recipe}: " + " | ".join(cells))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", default="minilm")
    parser.add_argument("--data", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tasks", default=",".join(TASKS))
    parser.add_argument("--recipes", default=",".join(RECIPES))
    parser.add_argument("--seeds", default="0,1,2")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--changes", default="{}", help="settings over the recipe's, as JSON {section: {name: value}}")
    parser.add_argument("--one", help="TASK,RECIPE,SEED: run just this")
    parser.add_argument("--table", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    if args.table:
        table(args.out)
    elif args.one:
        task, recipe, seed = args.one.split(",")
        one(args, task, recipe, int(seed))
    else:
        every(args)


if __name__ == "__main__":
    main()
