"""The head above the encoder stays the model's own: what it reads, what it costs, and how it is called.

A call runs the model's own forward (head, loss, outputs) over a shell of it: the same parameters, with only the
encoder exchanged. The model itself is not written to, so two calls at the same time cannot meet.
"""

import copy
from collections.abc import Callable
from typing import Any

from torch import nn
from transformers import PreTrainedModel

from anyformer.run import Reads

POOLED = ("ForSequenceClassification", "ForImageClassification", "ForMultipleChoice", "ForNextSentencePrediction")


def reads_of(hf: PreTrainedModel) -> Reads:
    """A pooled head of the library reads the first token; anything we do not know reads all of them."""
    if hf.base_model is hf:
        return Reads(first=getattr(hf, "pooler", None) is not None, all=True)
    owner = next(c for c in type(hf).__mro__ if "forward" in vars(c))
    pooled = owner.__name__.endswith(POOLED) and owner.__module__.startswith("transformers.")
    return Reads(first=pooled, all=not pooled or getattr(hf.config, "classifier_pooling", "cls") == "mean")


def head_macs(hf: PreTrainedModel, reads: Reads, n_tokens: int) -> int:
    """The products of head and pooler: one vector a row where the head is pooled, else every token."""
    pooler = getattr(hf.base_model, "pooler", None)
    below = set() if hf.base_model is hf else set(hf.base_model.modules())
    above = set() if hf.base_model is hf else {m for m in hf.modules() if m not in below}
    if pooler is not None:
        above |= set(pooler.modules())
    products = sum(m.weight.numel() for m in above if isinstance(m, nn.Linear))
    return products if reads.first else products * n_tokens


def with_encoder(hf: PreTrainedModel, encoder: Callable) -> Callable[..., Any]:
    """The model's own forward with `encoder` in the place of its base model."""
    shell = object.__new__(type(hf))
    shell.__dict__.update(hf.__dict__)
    shell.__dict__[hf.base_model_prefix] = encoder
    shell.__dict__["config"] = copy.copy(hf.config)  # forwards with labels write problem_type into it
    return shell.forward
