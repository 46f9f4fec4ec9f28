"""Which tokens stay, and where those that left are put back.

`select` knows nothing of models: scores in, a flag a slot out. `Left` is Drop-and-Restore (Kim and Cho 2021): a token
that leaves at layer i keeps its state from before layer i, and the final sequence is put together from all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from anyformer.rows import Rows


def select(score: Tensor, rows: Rows, lengths: Sequence[int], protected: Tensor | None = None) -> Tensor:
    """The `lengths[b]` slots of each row with the highest score, protected ones first; ties keep the earlier."""
    if protected is not None:
        score = score.masked_fill(protected, torch.inf)
    square = rows.square()
    order = square.spread(score, fill=-torch.inf).argsort(dim=1, descending=True, stable=True)
    wanted = torch.tensor(lengths, device="cpu").to(order.device)[:, None]
    stays = torch.arange(order.shape[1], device=order.device) < wanted
    kept = torch.zeros_like(stays).scatter(1, order, stays)
    return square.gather(kept, score.shape[0])


@dataclass(frozen=True)
class Left:
    """The tokens that left, by the layer at which they did: their states and where they stood."""

    states: tuple[Tensor, ...] = ()
    cells: tuple[Tensor, ...] = ()

    def joined(self, states: Tensor, rows: Rows, keep: Tensor, n_kept: int) -> "Left":
        """With those that leave now."""
        gone = torch.nonzero_static(~keep, size=rows.total - n_kept).flatten()
        return Left((*self.states, states.index_select(0, gone)), (*self.cells, rows.cells[gone]))

    def restore(self, states: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        """All states of the batch, in no order, and the cell of each."""
        whole = torch.cat([*self.states, states[: rows.total]])
        return whole, torch.cat([*self.cells, rows.cells[: rows.total]])


NONE = Left()
