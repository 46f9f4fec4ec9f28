#!/usr/bin/env bash
# A toy from end to end, in seconds: a tiny random BERT with a tokenizer of a few words, its folder, predictions and a
# score from the command line. It says whether the pieces fit together; its figures mean nothing.
set -euo pipefail

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
export OMP_NUM_THREADS=1 HF_HUB_OFFLINE=1

echo "== a model, a frontier of two points, and 200 labelled texts, in a folder"
python - "$out" <<'PYTHON'
import json
import sys
from pathlib import Path
from random import Random

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

from anyformer import AdaptiveModel, Frontier, Plan, Point

out, random = Path(sys.argv[1]), Random(0)
torch.manual_seed(0)
words = "[PAD] [UNK] [CLS] [SEP] good great fine bad poor dull the a film plot actor scene was is and but".split()
backend = Tokenizer(models.WordLevel({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
backend.pre_tokenizer = pre_tokenizers.Whitespace()
backend.post_processor = processors.TemplateProcessing(
    single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
)
special = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
tokenizer = PreTrainedTokenizerFast(tokenizer_object=backend, model_max_length=64, **special)
config = BertConfig(
    vocab_size=len(words), hidden_size=32, num_hidden_layers=4, num_attention_heads=4, intermediate_size=64,
    max_position_embeddings=64, id2label={0: "neg", 1: "pos"},
)
model = AdaptiveModel.wrap(BertForSequenceClassification(config).eval(), tokenizer)
half = Plan.at({1: 0.4}, 4)
model.frontier = Frontier((Point(half, 0.6, 50.0), Point(Plan.full(4), 1.0, 51.0)), metric="accuracy")
model.save(out / "model")
with (out / "test.jsonl").open("w") as file:
    for i in range(200):
        text = [random.choice(words[10:]) for _ in range(random.randint(3, 60))]
        label = i % 2
        text.insert(random.randrange(len(text)), random.choice(words[4:7] if label else words[7:10]))
        file.write(json.dumps({"text": " ".join(text), "label": ["neg", "pos"][label]}) + "\n")
PYTHON

echo "== predict: two texts, then the file under a budget"
anyformer predict "$out/model" --text "the film was good" "the plot was dull" --quiet
anyformer predict "$out/model" --input "$out/test.jsonl" --output "$out/predictions.jsonl" --budget 60%
[ "$(wc -l <"$out/predictions.jsonl")" -eq 200 ]

echo "== evaluate: the full model, and within the budget"
anyformer evaluate "$out/model" --data "$out/test.jsonl" --quiet
anyformer evaluate "$out/model" --data "$out/test.jsonl" --budget 60% --quiet --json | tee "$out/half.json"
python -c "import json, sys; r = json.load(sys.stdin); assert r['n'] == 200 and r['macs_ratio'] < 0.75, r" <"$out/half.json"

echo "== a mistake is one line and exit code 2"
code=0
anyformer predict "$out/model" --text a --budget 1% || code=$?
[ "$code" -eq 2 ]

echo "== doctor"
anyformer doctor --quiet
echo "== tiny: all of it worked"
