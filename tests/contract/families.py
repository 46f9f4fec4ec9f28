"""Tiny random models of every family, and ragged batches for them."""

from dataclasses import dataclass, field

import torch
import transformers
from transformers import PreTrainedModel

SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 4,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "vocab_size": 100,
}
TEXT_HEADS = ("SequenceClassification", "TokenClassification", "QuestionAnswering")


@dataclass(frozen=True)
class Family:
    name: str
    prefix: str
    config: dict
    heads: tuple[str, ...] = TEXT_HEADS
    embeds: bool = True
    extra: dict = field(default_factory=dict)

    def build(self, head: str, **settings) -> PreTrainedModel:
        torch.manual_seed(0)
        settings = {"num_labels": 2 if head == "QuestionAnswering" else 3} | settings
        config = getattr(transformers, f"{self.prefix}Config")(**self.config, **settings)
        model = getattr(transformers, f"{self.prefix}For{head}")(config).eval()
        _spread(model)
        return model


def _spread(model: PreTrainedModel) -> None:
    """Fresh models attend almost evenly; larger weights make every path matter."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn(parameter.shape, generator=generator) * 0.08)


FAMILIES = [
    Family("bert", "Bert", SMALL),
    Family(
        "distilbert",
        "DistilBert",
        {"dim": 32, "n_layers": 4, "n_heads": 4, "hidden_dim": 64, "vocab_size": 100},
    ),
    Family("roberta", "Roberta", SMALL | {"max_position_embeddings": 514, "type_vocab_size": 1}),
    Family("electra", "Electra", SMALL | {"embedding_size": 16}),
    Family("albert", "Albert", SMALL | {"embedding_size": 16, "inner_group_num": 1, "num_hidden_groups": 2}),
    Family("mpnet", "MPNet", SMALL | {"max_position_embeddings": 514}),
    Family("deberta", "DebertaV2", SMALL),
    Family(
        "deberta-v3",
        "DebertaV2",
        SMALL
        | {
            "relative_attention": True,
            "pos_att_type": ["p2c", "c2p"],
            "position_buckets": 8,
            "max_relative_positions": -1,
            "position_biased_input": False,
            "share_att_key": True,
            "norm_rel_ebd": "layer_norm",
        },
    ),
    Family(
        "deberta-own-projections",
        "DebertaV2",
        SMALL | {"relative_attention": True, "pos_att_type": ["c2p", "p2c"], "type_vocab_size": 0},
    ),
    Family(
        "modernbert",
        "ModernBert",
        SMALL
        | {
            "local_attention": 8,
            "global_attn_every_n_layers": 2,
            "pad_token_id": 0,
            "cls_token_id": 1,
            "sep_token_id": 2,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
    ),
    Family(
        "modernbert-mean",
        "ModernBert",
        SMALL
        | {
            "classifier_pooling": "mean",
            "local_attention": 8,
            "pad_token_id": 0,
            "cls_token_id": 1,
            "sep_token_id": 2,
            "bos_token_id": 1,
            "eos_token_id": 2,
        },
        heads=("SequenceClassification",),
    ),
    Family("xlm-roberta", "XLMRoberta", SMALL | {"max_position_embeddings": 514, "type_vocab_size": 1}),
    Family(
        "vit",
        "ViT",
        {
            "hidden_size": 32,
            "num_hidden_layers": 4,
            "num_attention_heads": 4,
            "intermediate_size": 64,
            "image_size": 16,
            "patch_size": 4,
        },
        heads=("ImageClassification",),
    ),
]
CASES = [(family, head) for family in FAMILIES for head in family.heads]
IDS = [f"{family.name}-{head}" for family, head in CASES]
LENGTHS = (13, 1, 24, 2, 7, 18)


def batch_of(family: Family, lengths=LENGTHS, side: str = "right", seed: int = 2) -> dict[str, torch.Tensor]:
    """A ragged batch; the padding holds the family's pad token."""
    generator = torch.Generator().manual_seed(seed)
    if family.prefix == "ViT":
        return {"pixel_values": torch.randn((len(lengths), 3, 16, 16), generator=generator)}
    pad = 1 if family.prefix in ("Roberta", "XLMRoberta", "MPNet") else 0
    width = max(lengths)
    ids = torch.full((len(lengths), width), pad)
    mask = torch.zeros((len(lengths), width), dtype=torch.long)
    for b, n in enumerate(lengths):
        at = slice(0, n) if side == "right" else slice(width - n, width)
        ids[b, at] = torch.randint(5, 100, (n,), generator=generator)
        mask[b, at] = 1
    return {"input_ids": ids, "attention_mask": mask}


def select_rows(batch: dict, index) -> dict:
    return {name: tensor[index] for name, tensor in batch.items()}


def alone(batch: dict, row: int) -> dict:
    """One row of a right-padded batch without its padding."""
    if "pixel_values" in batch:
        return {"pixel_values": batch["pixel_values"][row : row + 1]}
    n = int(batch["attention_mask"][row].sum())
    return {name: tensor[row : row + 1, :n] for name, tensor in batch.items()}


def outputs(out) -> list[torch.Tensor]:
    """The scores of any head."""
    return [out[name] for name in ("logits", "start_logits", "end_logits") if name in out]
