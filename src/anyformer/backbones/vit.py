"""ViT: pre-LN over image patches; every row has the same length, and no text comes in."""

from typing import Any

from torch import Tensor

from anyformer.backbones.base import Backbone, Batch, heads
from anyformer.length.significance import Attention
from anyformer.rows import Rows


class ViT(Backbone):
    @property
    def max_tokens(self) -> int | None:
        return self.base.embeddings.position_embeddings.shape[1]

    def find_layers(self) -> list[Any]:
        return list(self.base.layers)

    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        pixels = batch["pixel_values"].to(self.base.embeddings.patch_embeddings.projection.weight.dtype)
        interpolate = bool(batch.get("interpolate_pos_encoding"))
        x = self.base.embeddings(pixels, batch.get("bool_masked_pos"), interpolate)
        rows = Rows.of(x.new_ones(x.shape[:2]), step=step)
        return rows.pack(x), rows

    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        own, x = self.layers[i].attention, self.layers[i].layernorm_before(x)
        return (
            heads(own.q_proj(x), own.head_dim),
            heads(own.k_proj(x), own.head_dim),
            heads(own.v_proj(x), own.head_dim),
        )

    def attention(self, i: int, rows: Rows) -> Attention:
        own = self.layers[i].attention
        return Attention(own.scaling, own.attention_dropout if own.training else 0.0, eager=self.eager)

    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        return self.layers[i].dropout(self.layers[i].attention.o_proj(context)) + x

    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        layer = self.layers[i]
        return layer.dropout(layer.mlp(layer.layernorm_after(x))) + x

    def finish(self, x: Tensor) -> Tensor:
        return self.base.layernorm(x)
