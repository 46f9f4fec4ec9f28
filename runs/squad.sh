#!/usr/bin/env bash
# Questions and answers, end to end, with ramps that rank the tokens. `bash runs/squad.sh DATA [OUT]`, where DATA holds
# squad/train.jsonl.xz and squad/dev.jsonl.xz (or wherever those lie); hours on two cores, minutes on a GPU.
# The study over recipes and seeds is `python runs/study.py --tasks squad`.
set -euo pipefail
data=${1:?where squad/train.jsonl.xz lies}
out=${2:-out/squad}
anyformer train minilm --task qa --data "$data/squad/train.jsonl.xz" --validation "$data/squad/dev.jsonl.xz" \
    --out "$out/ours" --finetune-epochs 1 --adapt-epochs 2 --finetune-learning-rate 1e-4 --adapt-learning-rate 1e-4
anyformer evaluate "$out/ours" --data "$data/squad/dev.jsonl.xz"
python runs/study.py --model minilm --data "$data" --out "$out/study" --tasks squad --seeds 0 --recipes standard,paper,ours
python runs/study.py --out "$out/study" --table
