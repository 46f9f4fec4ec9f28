"""DeBERTa-v2 and v3: post-LN; content-to-position and position-to-content scores beside the usual ones.

With δ the bucketed distance, K_r and Q_r the projected relative embeddings (He et al. 2021):
    A_ij = (q_i·k_j + q_i·K_r[δ(i,j)] + k_j·Q_r[δ(i,j)]) / sqrt(size * (1 + number of position terms)).
"""

import math
from typing import Any

import torch
from torch import Tensor
from transformers.models.deberta_v2.modeling_deberta_v2 import make_log_bucket_position

from anyformer.backbones.base import Backbone, Batch, heads, packed_text, text_rows
from anyformer.errors import UnsupportedModel
from anyformer.length.significance import Attention, Bias
from anyformer.rows import Rows


class Deberta(Backbone):
    sees_padding = False  # in the stock model a padded query sees all padding: a head reads the first real token here

    def find_layers(self) -> list[Any]:
        if self.base.encoder.conv is not None:
            raise UnsupportedModel("DeBERTa with a convolution layer (conv_kernel_size > 0) is not supported: use v3")
        return list(self.base.encoder.layer)

    @property
    def max_tokens(self) -> int | None:
        return self.config.max_position_embeddings if self.config.position_biased_input else None

    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        rows = text_rows(batch, self, reads_first, step)
        return self.base.embeddings(**packed_text(batch, rows), position_ids=rows.positions[None])[0], rows

    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        own = self.layers[i].attention.self
        size = own.attention_head_size
        return heads(own.query_proj(x), size), heads(own.key_proj(x), size), heads(own.value_proj(x), size)

    def attention(self, i: int, rows: Rows) -> Attention:
        own = self.layers[i].attention.self
        scale = 1 / math.sqrt(own.attention_head_size * (1 + len(_terms(own))))
        bias = self._position_scores(own, scale) if own.relative_attention else None
        return Attention(scale, own.dropout.p if own.training else 0.0, bias, self.eager)

    def _position_scores(self, own: Any, scale: float) -> Bias:
        """The relative embeddings are projected here, once a layer, whatever the number of rows."""
        span, size = own.pos_ebd_size, own.attention_head_size
        table = own.pos_dropout(self.base.encoder.get_rel_embedding())[: 2 * span]
        shared = own.share_att_key
        terms = _terms(own)
        keys = heads((own.key_proj if shared else own.pos_key_proj)(table), size) if "c2p" in terms else None
        queries = heads((own.query_proj if shared else own.pos_query_proj)(table), size) if "p2c" in terms else None

        def bias(q: Tensor, k: Tensor, columns: Tensor) -> Tensor:
            distance = _bucketed(columns[:, :, None] - columns[:, None, :], own)[:, None].expand(-1, q.shape[1], -1, -1)
            total = torch.zeros((), dtype=q.dtype, device=q.device)
            if keys is not None:
                seen = torch.einsum("bhqe,rhe->bhqr", q, keys)
                total = total + seen.gather(-1, (distance + span).clamp(0, 2 * span - 1))
            if queries is not None:
                seen = torch.einsum("bhke,rhe->bhkr", k, queries)
                back = (span - distance).clamp(0, 2 * span - 1)
                total = total + seen.gather(-1, back).transpose(-1, -2)
            return total * scale

        return bias

    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        return self.layers[i].attention.output(context, x)

    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        return self.layers[i].output(self.layers[i].intermediate(x), x)

    def extra_macs(self, n_tokens: int) -> int:
        own = self.layers[0].attention.self
        if not own.relative_attention:
            return 0
        return len(_terms(own)) * n_tokens * 2 * own.pos_ebd_size * own.all_head_size


def _terms(own: Any) -> tuple[str, ...]:
    return tuple(term for term in ("c2p", "p2c") if term in own.pos_att_type)


def _bucketed(distance: Tensor, own: Any) -> Tensor:
    if own.position_buckets > 0 and own.max_relative_positions > 0:
        return make_log_bucket_position(distance, own.position_buckets, own.max_relative_positions).long()
    return distance
