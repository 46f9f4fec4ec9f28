"""A toy that was trained once, and labelled examples for it."""

from functools import lru_cache

import torch

from anyformer.data.splits import Splits
from anyformer.model import AdaptiveModel
from anyformer.train.config import TrainSettings
from anyformer.train.process import Process
from anyformer.train.stages import train
from tests.unit.train.made import checkpoint, texts

SETTINGS = TrainSettings.from_dict(
    {
        "finetune": {"epochs": 4, "learning_rate": 2e-3},
        "adapt": {"epochs": 1, "learning_rate": 1e-3},
        "run": {"precision": "fp32", "save_every": 0},
    }
)


@lru_cache
def trained(root) -> AdaptiveModel:
    """Not too good, so that plans differ."""
    torch.manual_seed(0)
    source = checkpoint(root / "checkpoint")
    splits = Splits("classification", texts(200), texts(40, seed=1), ("bad", "good"))
    return train(source, splits, SETTINGS, root / "model", process=Process("cpu", say=lambda line: None)).model


def examples(n=240, seed=2):
    return texts(n, seed)
