"""A toy that trains in seconds: a tokenizer of made-up words, a tiny BERT, texts whose label is in their words."""

import json
import random

from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

GOOD, BAD, REST = ["fine", "grand", "lovely"], ["dull", "poor", "weak"], [f"w{i}" for i in range(30)]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tokenizer():
    vocab = {word: i for i, word in enumerate(SPECIAL + GOOD + BAD + REST)}
    made = Tokenizer(models.WordLevel(vocab, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = {"unk_token": "[UNK]", "pad_token": "[PAD]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **names)


def checkpoint(folder, layers=3, **settings):
    """A folder as a hub model lies there."""
    sizes = {"hidden_size": 32, "num_hidden_layers": layers, "num_attention_heads": 4, "intermediate_size": 64}
    config = BertConfig(vocab_size=41, **sizes, **settings)
    BertForSequenceClassification(config).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def texts(n, seed=0):
    """Longer and shorter texts; the label is 1 where good words are more."""
    rng, found = random.Random(seed), []
    for _ in range(n):
        label = rng.randint(0, 1)
        words = rng.choices(REST, k=rng.randint(2, 20)) + rng.choices(GOOD if label else BAD, k=rng.randint(1, 3))
        rng.shuffle(words)
        found.append({"text": " ".join(words), "label": "good" if label else "bad"})
    return found


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    return path
