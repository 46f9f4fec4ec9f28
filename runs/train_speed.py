"""How fast is adapting? Rows a second of our adapt step against Trainer's standard fp32 step, on the same ragged texts.

    python runs/train_speed.py --steps 6 --rounds 3

MiniLM, IMDB reviews cut at 384 tokens, micro-batches of 32 rows drawn as `anyformer train` draws them. Trainer pads
each batch to its longest and trains in fp32, as it does out of the box; ours runs the full model and three sub-models a
step, in the precision that `auto` takes on this device. The two take turns in one process; the ratio is of medians.
"""

import argparse
import resource
import statistics
import time
from types import SimpleNamespace

import torch
from transformers import AutoModelForSequenceClassification, Trainer, TrainingArguments

from anyformer.data.splits import load_splits
from anyformer.embedded import resolve_model
from anyformer.train.config import TrainSettings
from anyformer.train.loop import make_optimizer, optimiser_step, set_rate, step_settings
from anyformer.train.process import Process
from anyformer.train.schedule import make_schedule
from anyformer.train.stages import make_trainee


def trainer_step(model: torch.nn.Module, out: str):
    """Trainer's own training_step, clip and update, on a batch as a padding collator makes it."""
    arguments = TrainingArguments(out, report_to=[], use_cpu=not torch.cuda.is_available(), learning_rate=1e-5)
    trainer = Trainer(model=model, args=arguments)
    trainer.current_gradient_accumulation_steps = 1  # what train() sets before its first step
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, fused=True)

    def step(batch: dict) -> None:
        model.train()
        trainer.training_step(model, dict(batch))
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=6)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=("ours", "trainer"), help="one side alone, for its peak memory")
    args = parser.parse_args()
    settings = TrainSettings.from_dict({"run": {"max_length": 384, "eval_rows": 1}})
    process = Process()
    splits = load_splits("imdb", "classification")
    few = SimpleNamespace(task="classification", train=splits.train[:2000], validation=splits.validation[:1])
    few.label_names = splits.label_names
    trainee = make_trainee("minilm", few, settings, process, None)
    schedule = make_schedule([f.n_tokens for f in trainee.features], 1, settings.run, "adapt")
    how, optimizer = step_settings(settings.adapt, process, settings.run), make_optimizer(trainee.model, settings.adapt)
    set_rate(optimizer, 1e-5)
    stock = AutoModelForSequenceClassification.from_pretrained(resolve_model("minilm")).to(process.device)
    standard = trainer_step(stock, "out/speed")

    def ours(s: int) -> None:
        optimiser_step(trainee, settings.adapt, how, schedule, s, "adapt")
        torch.nn.utils.clip_grad_norm_(trainee.model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    def theirs(s: int) -> None:
        (micro,) = schedule.steps[s]
        standard(trainee.task.collate([trainee.features[i] for i in micro]))

    sides = {"ours": ours, "trainer": theirs}
    sides = {name: step for name, step in sides.items() if args.only in (None, name)}
    for step in sides.values():
        step(0)
    rates: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(args.rounds):
        for s in range(1, args.steps + 1):
            at = turn * args.steps + s
            for name, step in sides.items():
                begun = time.perf_counter()
                step(at)
                if process.device.type == "cuda":
                    torch.cuda.synchronize()
                rates[name].append(len(schedule.steps[at][0]) / (time.perf_counter() - begun))
    for name, found in rates.items():
        print(f"{name}: {statistics.median(found):.1f} rows/s, {min(found):.1f} to {max(found):.1f}")
    if not args.only:
        each = [a / b for a, b in zip(rates["ours"], rates["trainer"], strict=True)]
        print(f"ratio: {statistics.median(each):.2f} (median of {len(each)} pairs, {min(each):.2f} to {max(each):.2f})")
    print(f"peak memory {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    main()
