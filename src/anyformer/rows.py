"""Rows: the one layout of the loop. All tokens of all examples stand end to end; nothing is padded.

A `Rows` is the layout alone; the states are plain tensors whose first axis has one entry a slot. Dropping tokens is
`rows.take(keep, lengths)`, and the same pick works on every tensor that travels along.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor


def grid(n: int, step: int) -> int:
    """The next multiple of step, of smaller ones where n is small: kernels are prepared once for each new number of
    rows, so keep those few, and compute no more than a sixteenth for nothing."""
    step = min(step, max(1, n // 16))
    return -(-n // step) * step


@dataclass(frozen=True)
class Rows:
    """lengths: tokens of each row, known on the host; cells: where each token stood in the batch as it came
    (row * width + column); positions: what its position scheme counts; guests: tokens that look but are not seen
    (the padded first column that a pooled head reads); step: slots come in multiples of it."""

    lengths: tuple[int, ...]
    cells: Tensor
    positions: Tensor
    width: int
    guests: Tensor | None = None
    step: int = 1
    memo: dict = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def of(cls, mask: Tensor, positions: Tensor | None = None, guests: Tensor | None = None, step: int = 1) -> "Rows":
        """The rows of a (batch, width) mask: every cell that is set, and the guests beside them."""
        seen = mask.bool() if guests is None else mask.bool() | guests
        lengths = tuple(seen.sum(1).tolist())
        width = seen.shape[1]
        cells = _first_true(seen.flatten(), sum(lengths), step)
        columns = cells % width if positions is None else positions.expand(seen.shape).flatten()[cells]
        return cls(lengths, cells, columns, width, None if guests is None else guests.flatten()[cells], step)

    @property
    def total(self) -> int:
        return sum(self.lengths)

    @property
    def columns(self) -> Tensor:
        return self.cells % self.width

    def pack(self, padded: Tensor) -> Tensor:
        """(batch, width, …) to (slots, …)."""
        return padded.flatten(0, 1).index_select(0, self.cells)

    def unpack(self, packed: Tensor, fill: float = 0.0) -> Tensor:
        """(slots, …) back to (batch, width, …); cells without a token get `fill`."""
        flat = packed.new_full((len(self.lengths) * self.width, *packed.shape[1:]), fill)
        return flat.index_copy(0, self.cells[: self.total], packed[: self.total]).unflatten(0, (-1, self.width))

    def take(self, keep: Tensor, lengths: Sequence[int]) -> tuple["Rows", Tensor]:
        """The rows of the kept slots, in order, and the pick that brings any tensor along."""
        pick = _first_true(keep, sum(lengths), self.step)
        guests = None if self.guests is None else self.guests[pick]
        return Rows(tuple(lengths), self.cells[pick], self.positions[pick], self.width, guests, self.step), pick

    def split(self, packed: Tensor) -> tuple[Tensor, ...]:
        """One tensor a row."""
        tail = packed.shape[0] - self.total
        return packed.split([*self.lengths, tail])[:-1] if tail else packed.split(list(self.lengths))

    def join(self, pieces: Sequence[Tensor]) -> Tensor:
        """The inverse of split; the tail up to the grid is zero."""
        tail = grid(self.total, self.step) - self.total
        if not tail and len(pieces) == 1:
            return pieces[0]
        return torch.cat([*pieces, pieces[0].new_zeros((tail, *pieces[0].shape[1:]))] if tail else list(pieces))

    def firsts(self) -> Tensor:
        """The slot of each row's first token."""
        lengths = torch.tensor((0, *self.lengths[:-1]), device="cpu")
        return lengths.cumsum(0).to(self.cells.device)

    def groups(self, alike: float, short: int, cells: int) -> list["Rows"]:
        """Neighbouring rows that are run together: each at least `alike` times as long as the first, and none longer,
        or all of at most `short` tokens; at most `cells` pairs of tokens in all, but one row at least. Made once a
        layout."""
        key = ("groups", alike, short, cells)
        if key not in self.memo:
            self.memo[key] = list(self._cut(alike, short, cells))
        return self.memo[key]

    def _cut(self, alike: float, short: int, cells: int) -> Iterator["Rows"]:
        first, start, n = 0, 0, len(self.lengths)
        for b in range(1, n + 1):
            longest = max(self.lengths[first], short)
            full = (b - first + 1) * longest**2 > cells
            least = 0 if longest <= short else alike * longest
            if b == n or full or not least <= self.lengths[b] <= longest:
                end = start + sum(self.lengths[first:b])
                guests = None if self.guests is None else self.guests[start:end]
                part = self.cells[start:end], self.positions[start:end]
                yield Rows(self.lengths[first:b], *part, self.width, guests)
                first, start = b, end

    def square(self) -> "Square":
        """The same tokens in a (batch, longest) square, for what wants one; made once a layout."""
        if "square" not in self.memo:
            self.memo["square"] = Square.of(self)
        return self.memo["square"]


@dataclass(frozen=True)
class Square:
    """Rows in a rectangle as wide as the longest of them *now*: spots (slots,), filled (batch, longest)."""

    spots: Tensor
    filled: Tensor
    total: int

    @classmethod
    def of(cls, rows: Rows) -> "Square":
        longest = max(rows.lengths)
        lengths = torch.tensor(rows.lengths)
        filled = torch.arange(longest) < lengths[:, None]
        spots = filled.flatten().nonzero().flatten()
        device = rows.cells.device
        return cls(spots.to(device), filled.to(device), rows.total)

    def spread(self, packed: Tensor, fill: float = 0.0) -> Tensor:
        """(slots, …) to (batch, longest, …)."""
        flat = packed.new_full((self.filled.numel(), *packed.shape[1:]), fill)
        return flat.index_copy(0, self.spots, packed[: self.total]).unflatten(0, self.filled.shape)

    def gather(self, square: Tensor, slots: int) -> Tensor:
        """(batch, longest, …) to (slots, …); the tail is zero."""
        packed = square.flatten(0, 1).index_select(0, self.spots)
        if slots == self.total:
            return packed
        return torch.cat([packed, packed.new_zeros((slots - self.total, *packed.shape[1:]))])


def _first_true(flags: Tensor, count: int, step: int) -> Tensor:
    """Indices of the first `count` set flags, ascending, padded with 0 up to the grid; nothing waits for the device."""
    found = torch.nonzero_static(flags, size=count).flatten()
    tail = grid(count, step) - count
    return torch.cat([found, found.new_zeros(tail)]) if tail else found
