"""Which tokens stay, and where those that left are put back.

`select` knows nothing of models: scores in, a flag a slot out. `Left` is Drop-and-Restore (Kim and Cho 2021): a token
that leaves at layer i keeps its state from before layer i, and the final sequence is put together from all of them.
"""

from collections.abc import Sequence

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


class Left:
    """Collects tokens as they leave and restores the whole at the end."""

    def __init__(self) -> None:
        self._states: list[Tensor] = []
        self._cells: list[Tensor] = []

    def add(self, states: Tensor, rows: Rows, keep: Tensor, n_kept: int) -> None:
        gone = torch.nonzero_static(~keep, size=rows.total - n_kept).flatten()
        self._states.append(states.index_select(0, gone))
        self._cells.append(rows.cells[gone])

    def restore(self, states: Tensor, rows: Rows) -> tuple[Tensor, Tensor]:
        """All states of the batch, in no order, and the cell of each."""
        whole = torch.cat([*self._states, states[: rows.total]])
        return whole, torch.cat([*self._cells, rows.cells[: rows.total]])
