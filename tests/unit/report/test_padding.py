"""The picture of padding: its data, and that it is drawn."""

import pytest

from anyformer.report.padding import SHOWN, Bar, draw, padding_picture

BARS = [
    Bar("tokens", 484.0, 272.0, "thousand", ("fewer", "more"), 0.44),
    Bar("time", 2.0, 2.5, "s", ("faster", "slower")),
]


def test_the_first_batches_are_shown_from_long_to_short():
    picture = padding_picture("t", "s", [(3, 9, 5)] * 40, BARS)
    assert picture.batches == ((9, 5, 3),) * SHOWN
    assert picture.n_batches == 40


@pytest.mark.parametrize(("bar", "gain"), [(BARS[0], "1.78× fewer"), (BARS[1], "1.25× slower")])
def test_a_gain_is_told_in_words(bar, gain):
    assert bar.gain == gain


def test_the_picture_is_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    draw(padding_picture("title", "subtitle", [(3, 9, 5), (7,)], BARS), tmp_path / "p.png")
    assert (tmp_path / "p.png").read_bytes()[:4] == b"\x89PNG"
