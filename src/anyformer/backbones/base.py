"""What the loop must know of a model: how to embed, and the two blocks of layer i.

Attention block: project -> attend (ours, on Rows) -> attention_output. Feed-forward block: feed_forward. Tokens leave
between the two. A family names the modules that do it; nothing is copied, nothing is written on the model.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

from anyformer.errors import InputError
from anyformer.length.significance import Attention
from anyformer.rows import Rows

Batch = Mapping[str, Any]


class Backbone(ABC):
    """The parts of one base model (the encoder below the head)."""

    sees_padding = True  # a padded query still looks at the row's own tokens, as the stock model computes it
    ffn_products = 2  # matrices of hidden x intermediate in a feed-forward block (3 where it is gated)

    def __init__(self, base: nn.Module) -> None:
        self.base: Any = base
        self.config: Any = base.config
        self.layers: list[Any] = self.find_layers()

    @property
    def n_layers(self) -> int:
        return len(self.layers)

    @property
    def hidden(self) -> int:
        return self.config.hidden_size

    @property
    def intermediate(self) -> int:
        return self.config.intermediate_size

    @property
    def max_tokens(self) -> int | None:
        """The longest row that the position scheme knows, special tokens included; None where there is no end."""
        return self.config.max_position_embeddings

    @abstractmethod
    def find_layers(self) -> list[Any]:
        """The layers in the order in which they run."""

    @abstractmethod
    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        """Embedded tokens, (slots, hidden), and their layout."""

    @abstractmethod
    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value of layer i, (slots, heads, size) each; the norm before it in pre-LN models."""

    @abstractmethod
    def attention(self, i: int, rows: Rows) -> Attention:
        """Scale, dropout and what is added to the logits in layer i."""

    @abstractmethod
    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        """Output projection, residual, and the norm after it in post-LN models."""

    @abstractmethod
    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        """The feed-forward block of layer i with residual and norm."""

    def finish(self, x: Tensor) -> Tensor:
        """The norm after the last layer (pre-LN models); runs on the restored mixture."""
        return x

    def pool(self, states: Tensor) -> Tensor | None:
        """The base model's own pooler on (batch, width, hidden), where it has one."""
        pooler = getattr(self.base, "pooler", None)
        return None if pooler is None else pooler(states)

    @property
    def eager(self) -> bool:
        return self.config._attn_implementation == "eager"

    def extra_macs(self, n_tokens: int) -> int:
        """MACs that layer attention costs a row beside the closed form (relative position scores)."""
        return 0


def heads(x: Tensor, size: int) -> Tensor:
    return x.unflatten(-1, (-1, size))


def text_rows(batch: Batch, backbone: Backbone, reads_first: bool, step: int) -> Rows:
    """The rows of a text batch; a head that reads a padded first column gets it as a guest, as the stock model does."""
    tokens = batch.get("input_ids")
    shape = tokens.shape if tokens is not None else batch["inputs_embeds"].shape[:2]
    device = (tokens if tokens is not None else batch["inputs_embeds"]).device
    mask = batch.get("attention_mask")
    mask = torch.ones(shape, dtype=torch.bool, device=device) if mask is None else _checked_mask(mask, shape)
    _check_width(shape[1], backbone)
    guests = None
    if reads_first and backbone.sees_padding and not bool(mask[:, 0].all()):
        guests = torch.zeros_like(mask)
        guests[:, 0] = ~mask[:, 0]
    return Rows.of(mask, batch.get("position_ids"), guests, step)


def _checked_mask(mask: Tensor, shape: torch.Size) -> Tensor:
    if mask.shape != shape:
        raise InputError(f"attention_mask has shape {tuple(mask.shape)}; expected {tuple(shape)}, as the tokens have")
    mask = mask.bool()
    empty = (~mask.any(1)).nonzero().flatten().tolist()
    if empty:
        raise InputError(f"attention_mask of row {empty[0]} is all zeros: every row needs at least one token")
    return mask


def _check_width(width: int, backbone: Backbone) -> None:
    if width == 0:
        raise InputError("the batch has no tokens: every row needs at least one")
    if backbone.max_tokens is not None and width > backbone.max_tokens:
        raise InputError(
            f"{width} tokens a row, but the model knows {backbone.max_tokens} positions: cut the text first"
        )


def packed_text(batch: Batch, rows: Rows) -> dict[str, Tensor]:
    """What a text embedding layer takes, as one long row."""
    names = ("input_ids", "inputs_embeds", "token_type_ids")
    return {name: rows.pack(_full(batch[name], batch))[None] for name in names if batch.get(name) is not None}


def _full(tensor: Tensor, batch: Batch) -> Tensor:
    tokens = batch.get("input_ids")
    shape = (tokens if tokens is not None else batch["inputs_embeds"]).shape[:2]
    return tensor.expand(shape) if tensor.ndim == 2 else tensor


def counted_positions(batch: Batch, pad: int) -> Tensor | None:
    """Positions as RoBERTa and MPNet count them: from pad + 1, over the tokens that are not padding."""
    tokens = batch.get("input_ids")
    if batch.get("position_ids") is not None:
        return batch["position_ids"]
    if tokens is None:
        width = batch["inputs_embeds"].shape[1]
        return torch.arange(pad + 1, pad + 1 + width, device=batch["inputs_embeds"].device)[None]
    real = tokens.ne(pad).long()
    return real.cumsum(1) * real + pad
