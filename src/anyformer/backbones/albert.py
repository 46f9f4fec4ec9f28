"""ALBERT: factorised embeddings; one layer, or a few, run many times under different numbers."""

from typing import Any

from torch import Tensor

from anyformer.backbones.base import Backbone, Batch, heads, packed_text, text_rows
from anyformer.length.significance import Attention
from anyformer.rows import Rows


class Albert(Backbone):
    def find_layers(self) -> list[Any]:
        groups = self.base.encoder.albert_layer_groups
        n = self.config.num_hidden_layers
        return [layer for i in range(n) for layer in groups[int(i / (n / len(groups)))].albert_layers]

    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        rows = text_rows(batch, self, reads_first, step)
        x = self.base.embeddings(**packed_text(batch, rows), position_ids=rows.positions[None])[0]
        return self.base.encoder.embedding_hidden_mapping_in(x), rows

    def pool(self, states: Tensor) -> Tensor | None:
        if self.base.pooler is None:
            return None
        return self.base.pooler_activation(self.base.pooler(states[:, 0]))

    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        own = self.layers[i].attention
        size = own.attention_head_size
        return heads(own.query(x), size), heads(own.key(x), size), heads(own.value(x), size)

    def attention(self, i: int, rows: Rows) -> Attention:
        own = self.layers[i].attention
        return Attention(own.scaling, own.attention_dropout.p if own.training else 0.0, eager=self.eager)

    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        own = self.layers[i].attention
        return own.LayerNorm(x + own.output_dropout(own.dense(context)))

    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        return self.layers[i].full_layer_layer_norm(self.layers[i].ff_chunk(x) + x)
