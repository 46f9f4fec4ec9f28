"""ModernBERT: pre-LN, rotary positions, a gated feed-forward block, and a sliding window on most layers."""

from typing import Any

import torch
from torch import Tensor

from anyformer.backbones.base import Backbone, Batch, packed_text, text_rows
from anyformer.length.significance import Attention
from anyformer.rows import Rows


class ModernBert(Backbone):
    ffn_products = 3

    @property
    def max_tokens(self) -> int | None:
        return None  # rotary positions have no end; beyond max_position_embeddings the stock model runs too

    def find_layers(self) -> list[Any]:
        return list(self.base.layers)

    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        rows = text_rows(batch, self, reads_first, step)
        parts = packed_text(batch, rows)
        return self.base.embeddings(parts.get("input_ids"), parts.get("inputs_embeds"))[0], rows

    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        layer = self.layers[i]
        q, k, v = layer.attn.Wqkv(layer.attn_norm(x)).unflatten(-1, (3, -1, layer.attn.head_dim)).unbind(-3)
        cos, sin = self._angles(layer.attention_type, x, rows)
        return _rotate(q, cos, sin), _rotate(k, cos, sin), v

    def _angles(self, kind: str, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        if ("angles", kind) not in rows.memo:
            cos, sin = self.base.rotary_emb(x[None], rows.positions[None], kind)
            rows.memo["angles", kind] = cos[0][:, None], sin[0][:, None]
        return rows.memo["angles", kind]

    def attention(self, i: int, rows: Rows) -> Attention:
        own = self.layers[i].attn
        dropout = own.attention_dropout if own.training else 0.0
        windowed = own.sliding_window is not None and rows.width > self.config.sliding_window
        return Attention(own.head_dim**-0.5, dropout, self._window if windowed else None, self.eager)

    def _window(self, q: Tensor, k: Tensor, columns: Tensor) -> Tensor:
        far = (columns[:, :, None] - columns[:, None, :]).abs() > self.config.sliding_window
        bias = torch.zeros(far.shape, dtype=q.dtype, device=q.device)
        return bias.masked_fill(far, torch.finfo(q.dtype).min / 2)[:, None]  # half: guests are hidden on top of it

    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        own = self.layers[i].attn
        return x + own.out_drop(own.Wo(context))

    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        return x + self.layers[i].mlp(self.layers[i].mlp_norm(x))

    def finish(self, x: Tensor) -> Tensor:
        return self.base.final_norm(x)


def _rotate(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    first, second = x.float().chunk(2, dim=-1)
    return (x.float() * cos + torch.cat((-second, first), dim=-1) * sin).to(x.dtype)
