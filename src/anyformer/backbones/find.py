"""From a model to its adapter, by the model type that its configuration names."""

from importlib import import_module

from torch import nn

from anyformer.backbones.base import Backbone
from anyformer.errors import UnsupportedModel

FAMILIES = {
    "albert": ("albert", "Albert"),
    "bert": ("bert", "Bert"),
    "deberta-v2": ("deberta", "Deberta"),
    "distilbert": ("distilbert", "DistilBert"),
    "electra": ("bert", "Electra"),
    "modernbert": ("modernbert", "ModernBert"),
    "mpnet": ("mpnet", "MPNet"),
    "roberta": ("bert", "Roberta"),
    "vit": ("vit", "ViT"),
    "xlm-roberta": ("bert", "Roberta"),
}


def find_backbone(model: nn.Module) -> Backbone:
    config = getattr(model, "config", None)
    kind = getattr(config, "model_type", None)
    if kind not in FAMILIES:
        raise UnsupportedModel(
            f"{type(model).__name__} (model type {kind!r}) has no adapter; supported: {', '.join(FAMILIES)}. "
            "docs/how/add-a-family.md shows how to add one"
        )
    if getattr(config, "is_decoder", False):
        raise UnsupportedModel(f"{type(model).__name__} is configured as a decoder; tokens can leave an encoder only")
    module, name = FAMILIES[kind]
    return getattr(import_module(f"anyformer.backbones.{module}"), name)(model.base_model)
