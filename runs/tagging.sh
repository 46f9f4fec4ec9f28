#!/usr/bin/env bash
# Named entities, end to end: trained, judged, and the three recipes side by side. `bash runs/tagging.sh DATA [OUT]`, where
# DATA holds wnut17/{train,dev,test}.jsonl.xz; about an hour on two cores.
set -euo pipefail
data=${1:?where wnut17/train.jsonl.xz lies}
out=${2:-out/tagging}
anyformer train minilm --task tagging --data "$data/wnut17/train.jsonl.xz" --validation "$data/wnut17/dev.jsonl.xz" \
    --out "$out/ours" --max-length 128 --finetune-epochs 4 --adapt-epochs 8 --batch-rows 16 \
    --finetune-learning-rate 1e-4 --adapt-learning-rate 1e-4
anyformer evaluate "$out/ours" --data "$data/wnut17/test.jsonl.xz"
python runs/study.py --model minilm --data "$data" --out "$out/study" --tasks wnut17 --seeds 0 --recipes standard,paper,ours
python runs/study.py --out "$out/study" --table
