"""The packed layout: round trips, and a take of a take."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from anyformer.rows import Rows, grid


@st.composite
def masks(draw):
    batch, width = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    rows = [draw(st.lists(st.booleans(), min_size=width, max_size=width).filter(any)) for _ in range(batch)]
    return torch.tensor(rows)


@st.composite
def kept(draw, rows):
    flags = [draw(st.lists(st.booleans(), min_size=n, max_size=n).filter(any)) for n in rows.lengths]
    tail = [False] * (grid(rows.total, rows.step) - rows.total)
    return torch.tensor([flag for row in flags for flag in row] + tail), tuple(sum(f) for f in flags)


steps = st.sampled_from([1, 4, 16])


@given(masks(), steps)
def test_unpack_undoes_pack(mask, step):
    rows = Rows.of(mask, step=step)
    padded = torch.arange(mask.numel() * 3.0).reshape(*mask.shape, 3)
    packed = rows.pack(padded)
    assert packed.shape[0] == grid(int(mask.sum()), step)
    assert torch.equal(rows.unpack(packed, fill=-1.0), torch.where(mask[..., None], padded, -1.0))


@given(masks(), steps)
def test_join_undoes_split_and_gather_undoes_spread(mask, step):
    rows = Rows.of(mask, step=step)
    packed = rows.pack(torch.arange(float(mask.numel())).reshape(mask.shape) + 1)
    packed[rows.total :] = 0
    pieces = rows.split(packed)
    assert tuple(map(len, pieces)) == rows.lengths
    assert torch.equal(rows.join(pieces), packed)
    square = rows.square()
    assert torch.equal(square.gather(square.spread(packed), len(packed)), packed)


@given(masks(), steps, st.data())
def test_a_take_of_a_take_is_one_take(mask, step, data):
    rows = Rows.of(mask, step=step)
    x = torch.arange(float(len(rows.cells)))
    keep, lengths = data.draw(kept(rows))
    once, pick = rows.take(keep, lengths)
    keep_again, lengths_again = data.draw(kept(once))
    twice, pick_again = once.take(keep_again, lengths_again)
    both = torch.zeros_like(keep)
    both[pick[: once.total][keep_again[: once.total]]] = True
    direct, pick_both = rows.take(both, lengths_again)
    assert torch.equal(x[pick][pick_again][: twice.total], x[pick_both][: twice.total])
    assert torch.equal(twice.cells[: twice.total], direct.cells[: twice.total])
    assert twice.lengths == direct.lengths


@given(masks())
def test_columns_are_ascending_in_each_row_and_firsts_are_first(mask):
    rows = Rows.of(mask)
    for b, columns in enumerate(rows.split(rows.columns)):
        assert torch.equal(columns, mask[b].nonzero().flatten())
    assert torch.equal(rows.columns[rows.firsts()], mask.long().argmax(1))


def test_guests_have_a_slot_but_are_marked():
    mask = torch.tensor([[False, True, True], [True, True, False]])
    guests = torch.tensor([[True, False, False], [False, False, False]])
    rows = Rows.of(mask, guests=guests)
    assert rows.lengths == (3, 2)
    assert rows.guests.tolist() == [True, False, False, False, False]
