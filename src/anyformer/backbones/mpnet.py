"""MPNet: post-LN; a bias by bucketed distance, shared by all layers, is added to the attention logits."""

import math
from typing import Any

from torch import Tensor

from anyformer.backbones.base import Backbone, Batch, counted_positions, heads, packed_text, text_rows
from anyformer.length.significance import Attention
from anyformer.rows import Rows

PAD = 1  # MPNet counts positions from PAD + 1 whatever its configuration says


class MPNet(Backbone):
    @property
    def max_tokens(self) -> int | None:
        return self.config.max_position_embeddings - PAD - 1

    def find_layers(self) -> list[Any]:
        return list(self.base.encoder.layer)

    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        rows = text_rows({**batch, "position_ids": counted_positions(batch, PAD)}, self, reads_first, step)
        return self.base.embeddings(**packed_text(batch, rows), position_ids=rows.positions[None])[0], rows

    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        own = self.layers[i].attention.attn
        size = own.attention_head_size
        return heads(own.q(x), size), heads(own.k(x), size), heads(own.v(x), size)

    def attention(self, i: int, rows: Rows) -> Attention:
        own = self.layers[i].attention.attn
        dropout = own.dropout.p if own.training else 0.0
        return Attention(1 / math.sqrt(own.attention_head_size), dropout, self._distance_bias, self.eager)

    def _distance_bias(self, q: Tensor, k: Tensor, columns: Tensor) -> Tensor:
        encoder = self.base.encoder
        buckets = encoder.relative_position_bucket(columns[:, None, :] - columns[:, :, None])
        return encoder.relative_attention_bias(buckets).permute(0, 3, 1, 2).to(q.dtype)

    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        own = self.layers[i].attention
        return own.LayerNorm(own.dropout(own.attn.o(context)) + x)

    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        return self.layers[i].output(self.layers[i].intermediate(x), x)
