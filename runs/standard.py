"""What standard fine-tuning makes of the demo's texts: as many epochs, the same seed, the same held-out reviews.

    python runs/standard.py --data imdb --minutes 8 --seed 0

For comparison with the table of `anyformer demo` of the same flags.
"""

import argparse
from random import Random

from anyformer.cli import demo
from anyformer.cli.opening import silence
from anyformer.data import load_labelled
from anyformer.data.splits import Splits, load_splits
from anyformer.plan import Plan
from anyformer.search.score import Jury
from anyformer.tasks import TaskSettings, labels_of_model, task_for
from anyformer.train.config import TrainSettings
from anyformer.train.process import Process
from anyformer.train.stages import train


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", choices=tuple(demo.LENGTHS), default="imdb")
    parser.add_argument("--minutes", type=float, default=8)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dropout", choices=("on", "off"), default="off")
    args = parser.parse_args()
    silence()
    length, splits = demo.LENGTHS[args.data], load_splits(args.data, "classification")
    texts = Random(args.seed).sample(splits.train, round(demo.PER_MINUTE[args.data] * args.minutes))
    few = Splits("classification", texts, splits.validation[-200:], splits.label_names)
    run = {"max_length": length, "seed": args.seed, "dropout": args.dropout, "save_every": 0}
    tune = {"epochs": 3, "learning_rate": 1e-4, "ramps": "off"}
    settings = TrainSettings.from_dict({"finetune": tune, "adapt": {"epochs": 0}, "run": run})
    model = train(demo.MODEL, few, settings, process=Process("cpu")).model
    labels = labels_of_model("classification", model.config)
    task = task_for("classification", model.tokenizer, labels, model.config, TaskSettings(max_length=length))
    jury = Jury(model, task, load_labelled(args.data, "classification")[: demo.REPORTED], "fp32")
    (tally,) = jury.tallies([Plan.full(model.n_layers)])
    print(f"standard, 3 epochs, seed {args.seed}: {float(task.score_of(tally.sum(0))):.2f}")


if __name__ == "__main__":
    main()
