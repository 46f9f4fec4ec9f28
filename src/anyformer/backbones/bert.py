"""BERT and what is built like it: RoBERTa, XLM-RoBERTa, ELECTRA. Absolute positions, post-LN."""

from typing import Any

from torch import Tensor

from anyformer.backbones.base import Backbone, Batch, counted_positions, heads, packed_text, text_rows
from anyformer.length.significance import Attention
from anyformer.rows import Rows


class BertLayers(Backbone):
    """The layers that the four share; abstract, for the embeddings differ."""

    def find_layers(self) -> list[Any]:
        return list(self.base.encoder.layer)

    def project(self, i: int, x: Tensor, rows: Rows) -> tuple[Tensor, Tensor, Tensor]:
        own = self.layers[i].attention.self
        size = own.attention_head_size
        return heads(own.query(x), size), heads(own.key(x), size), heads(own.value(x), size)

    def attention(self, i: int, rows: Rows) -> Attention:
        own = self.layers[i].attention.self
        return Attention(own.scaling, own.dropout.p if own.training else 0.0, eager=self.eager)

    def attention_output(self, i: int, context: Tensor, x: Tensor) -> Tensor:
        return self.layers[i].attention.output(context, x)

    def feed_forward(self, i: int, x: Tensor) -> Tensor:
        return self.layers[i].feed_forward_chunk(x)


class Bert(BertLayers):
    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        rows = text_rows(batch, self, reads_first, step)
        return self.base.embeddings(**packed_text(batch, rows), position_ids=rows.positions[None])[0], rows


class Electra(BertLayers):
    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        rows = text_rows(batch, self, reads_first, step)
        x = self.base.embeddings(**packed_text(batch, rows), position_ids=rows.positions[None])[0]
        project = getattr(self.base, "embeddings_project", None)
        return x if project is None else project(x), rows


class Roberta(BertLayers):
    @property
    def max_tokens(self) -> int | None:
        return self.config.max_position_embeddings - self.config.pad_token_id - 1

    def embed(self, batch: Batch, reads_first: bool, step: int) -> tuple[Tensor, Rows]:
        counted = counted_positions(batch, self.config.pad_token_id)
        rows = text_rows({**batch, "position_ids": counted}, self, reads_first, step)
        return self.base.embeddings(**packed_text(batch, rows), position_ids=rows.positions[None])[0], rows
