#!/usr/bin/env bash
# Sentiment of reviews, end to end: standard fine-tuning and ours, equally long, then both under plans they were or were
# not adapted to. `bash runs/sentiment.sh [rotten-tomatoes|imdb] [OUT]`; about half an hour on two cores for short texts.
set -euo pipefail
data=${1:-rotten-tomatoes}
out=${2:-out/sentiment-$data}
length=128
[ "$data" = imdb ] && length=384

echo "== standard: four epochs on labels"
anyformer train minilm --data "$data" --out "$out/standard" --max-length $length --finetune-epochs 4 --adapt-epochs 0

echo "== ours: one epoch on labels, three adapting"
anyformer train minilm --data "$data" --out "$out/ours" --max-length $length --finetune-epochs 1 --adapt-epochs 3

echo "== the test part under the same plans"
python - "$data" "$length" "$out/standard" "$out/ours" <<'PYTHON'
import sys

import anyformer
from anyformer import Plan
from anyformer.data import load_labelled
from anyformer.tasks import TaskSettings, evaluate, labels_of_model, prepare, task_for

data, length, *folders = sys.argv[1:]
plans = {"full": None, "20% a layer": Plan.constant(0.2, 6), "30% a layer": Plan.constant(0.3, 6)}
plans |= {"to 25% after layer 2": Plan.at({2: 0.25}, 6)}
for folder in folders:
    model = anyformer.load(folder).eval()
    settings = TaskSettings(max_length=int(length))
    task = task_for("classification", model.tokenizer, labels_of_model("classification", model.config), model.config, settings)
    test = prepare(task, load_labelled(data, "classification"))
    lengths = [feature.n_tokens for feature in test.features]
    for name, plan in plans.items():
        score = evaluate(task, lambda batch: model.call(batch, model.resolve(plan))[0], test)["accuracy"]
        macs = model.shape.ratio(model.resolve(plan), lengths)
        print(f"{folder:32} {name:22} {macs:5.0%} of the MACs: {score:.2f}", flush=True)
PYTHON
