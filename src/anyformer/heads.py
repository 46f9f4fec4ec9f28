"""The head above the encoder stays the model's own: what it reads, what it costs, and how it is called.

A call runs the model's own forward (head, loss, outputs) over a shell of it: the same parameters, with only the
encoder exchanged. The model itself is not written to, so two calls at the same time cannot meet.
"""

import copy
from collections.abc import Callable, Mapping
from typing import Any

from torch import Tensor, nn
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


def kind_of(hf: PreTrainedModel) -> str:
    """What the head says: a class or a measure of a row, a tag of each token, a span; "states" without a head."""
    names = [c.__name__ for c in type(hf).__mro__]
    if any(name.endswith("ForQuestionAnswering") for name in names):
        return "span"
    if any(name.endswith("ForTokenClassification") for name in names):
        return "tag"
    if any(name.endswith(POOLED) for name in names):
        return "measure" if hf.config.num_labels == 1 else "class"
    return "states"


def head_products(hf: PreTrainedModel) -> int:
    """Multiply-accumulates of head and pooler for one vector."""
    pooler = getattr(hf.base_model, "pooler", None)
    below = set(hf.base_model.modules())
    above = set() if hf.base_model is hf else {m for m in hf.modules() if m not in below}
    if pooler is not None:
        above |= set(pooler.modules())
    return sum(m.weight.numel() for m in above if isinstance(m, nn.Linear))


def question_mask(batch: Mapping[str, Any], separator: int | None) -> Tensor | None:
    """The tokens before the context of a question-answering row: a ramp that looks for answers must not drop them."""
    types, tokens = batch.get("token_type_ids"), batch.get("input_ids")
    mask = batch.get("attention_mask")
    if types is not None:
        question = types == 0
    elif tokens is not None and separator is not None:
        question = (tokens == separator).cumsum(1) == 0
    else:
        return None
    return question if mask is None else question & mask.bool()


def with_encoder(hf: PreTrainedModel, encoder: Callable) -> Callable[..., Any]:
    """The model's own forward with `encoder` in the place of its base model."""
    shell = object.__new__(type(hf))
    shell.__dict__.update(hf.__dict__)
    shell.__dict__[hf.base_model_prefix] = encoder
    shell.__dict__["config"] = copy.copy(hf.config)  # forwards with labels write problem_type into it
    return shell.forward
