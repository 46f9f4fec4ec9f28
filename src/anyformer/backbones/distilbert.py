"""DistilBERT: BERT without token types, its parts under other names."""

from typing import Any

from torch import Tensor

from anyformer.backbones.base import Backbone, Batch, heads, packed_text, text_rows
from anyformer.length.significance import Attention
from anyformer.rows import Rows


class DistilBert(Backbone):
    @property
    def hidden(self) -> int:
        return self.config.dim

    @property
    def intermediate(self) -> int:
        return self.config.hidden_dim

    def find_layers(self) -> list[Any]:
        return list(self.base.transformer.layer)

    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        rows = text_rows(batch, self, reads_first, step)
        parts = packed_text(batch, rows)
        x = self.base.embeddings(parts.get("input_ids"), parts.get("inputs_embeds"), rows.positions[None])
        return x[0], rows

    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        own = self.layers[i].attention
        size = own.attention_head_size
        return heads(own.q_lin(x), size), heads(own.k_lin(x), size), heads(own.v_lin(x), size)

    def attention(self, i: int, rows: Rows) -> Attention:
        own = self.layers[i].attention
        return Attention(own.attention_head_size**-0.5, own.dropout.p if own.training else 0.0, eager=self.eager)

    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        return self.layers[i].sa_layer_norm(self.layers[i].attention.out_lin(context) + x)

    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        return self.layers[i].output_layer_norm(self.layers[i].ffn.ff_chunk(x) + x)
