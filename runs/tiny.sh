#!/usr/bin/env bash
# A toy from end to end, in a minute: a tiny random BERT with a tokenizer of a few words learns to tell good from bad, is
# adapted to plans, and is predicted with and scored under a budget. It says whether the pieces fit together.
set -euo pipefail

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1

echo "== a random model, and texts of which one word decides"
python - "$out" <<'PYTHON'
import json
import sys
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast
from transformers.utils.logging import disable_progress_bar

disable_progress_bar()
torch.manual_seed(0)
out, random = Path(sys.argv[1]), Random(0)
words = "[PAD] [UNK] [CLS] [SEP] good great fine bad poor dull the a film plot actor scene was is and but".split()
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
backend.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)
special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=64, **special)
tokenizer.save_pretrained(out / "random")
BertModel(BertConfig(
    vocab_size=len(words), hidden_size=64, num_hidden_layers=4, num_attention_heads=4, intermediate_size=128,
    max_position_embeddings=64,
)).save_pretrained(out / "random")

for name, n in (("train", 800), ("validation", 200), ("test", 200)):
    with (out / f"{name}.jsonl").open("w") as file:
        for i in range(n):
            text = [random.choice(words[10:]) for _ in range(random.randint(3, 40))]
            text.insert(random.randrange(len(text)), random.choice(words[4:7] if i % 2 else words[7:10]))
            file.write(json.dumps({"text": " ".join(text), "label": ["neg", "pos"][i % 2]}) + "\n")
PYTHON

echo "== train: fine-tune, then adapt"
anyformer train "$out/random" --data "$out/train.jsonl" --validation "$out/validation.jsonl" --out "$out/model" --quiet \
    --finetune-epochs 5 --adapt-epochs 2 --finetune-learning-rate 1e-3 --adapt-learning-rate 1e-3 --precision fp32

echo "== search: the frontier, stopped in the middle and gone on with"
quick=(--iterations 3 --population 8 --mutations 10 --crossovers 10 --workers 1 --quiet)
timeout -s KILL 6 anyformer search "$out/model" --data "$out/validation.jsonl" "${quick[@]}" >/dev/null || true
anyformer search "$out/model" --data "$out/validation.jsonl" "${quick[@]}" --resume
anyformer show "$out/model" --budget 70% --plot "$out/model.html" --text "the film was good"

echo "== predict: two texts, then a file under a budget"
anyformer predict "$out/model" --text "the film was good" "the plot was dull" --quiet
anyformer predict "$out/model" --input "$out/test.jsonl" --output "$out/predictions.jsonl" --budget 70%
[ "$(wc -l <"$out/predictions.jsonl")" -eq 200 ]

echo "== evaluate: the full model, and within the budget"
anyformer evaluate "$out/model" --data "$out/test.jsonl" --quiet
anyformer evaluate "$out/model" --data "$out/test.jsonl" --budget 70% --quiet --json | tee "$out/half.json"
python -c "
import json, sys
found = json.load(sys.stdin)
assert found['n'] == 200 and found['macs_ratio'] < 0.75 and found['score'] > 80, found
" <"$out/half.json"

echo "== a mistake is one line and exit code 2"
code=0
anyformer predict "$out/model" --text a --budget 1% || code=$?
[ "$code" -eq 2 ]

echo "== all of it worked"
