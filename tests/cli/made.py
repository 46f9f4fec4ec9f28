"""Tiny trained folders for the commands: a model of every text task with the made tokenizer, saved as ours are."""

import torch
import transformers
from transformers import BertConfig

from anyformer.frontier import Frontier, Point
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from tests.unit.tasks.made import made_tokenizer

N_LAYERS, POSITIONS = 3, 64
HALF = Plan.at({0: 0.5}, N_LAYERS)
FRONTIER = Frontier((Point(HALF, 0.6, 80.0), Point(Plan.full(N_LAYERS), 1.0, 90.0)), metric="accuracy")
HEADS = {
    "classification": ("BertForSequenceClassification", {"id2label": {0: "neg", 1: "pos"}}),
    "tagging": ("BertForTokenClassification", {"id2label": {0: "O", 1: "B-PER", 2: "I-PER"}}),
    "qa": ("BertForQuestionAnswering", {}),
}


def made_model(task="classification"):
    torch.manual_seed(0)
    tokenizer = made_tokenizer(POSITIONS)
    head, labels = HEADS[task]
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=32,
        num_hidden_layers=N_LAYERS,
        num_attention_heads=4,
        intermediate_size=64,
        max_position_embeddings=POSITIONS,
        **labels,
    )
    model = AdaptiveModel.wrap(getattr(transformers, head)(config).eval(), tokenizer)
    model.frontier = FRONTIER
    return model
