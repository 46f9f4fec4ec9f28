"""Where padding goes, as a picture: the batches of a run as bars of words and padding, and what each side took.

`padding_picture` makes the data, `draw` draws it and knows nothing of runs. matplotlib comes with the extra `demo`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anyformer.errors import MissingExtra

SHOWN = 16  # batches that are drawn one by one
WORDS, PADDING, OTHER, INK, FAINT = "#1f6fae", "#f2b27a", "#c4c4c4", "#222222", "#666666"
BAR, STEP = 0.3, 0.34  # height of a bar, and how far below the stock model's ours stands
ROOMY = 0.45  # a bar as wide as this holds its number
Lengths = Sequence[Sequence[int]]


@dataclass(frozen=True)
class Bar:
    """One amount on both sides. `words`: for less and for more of it; `wasted`: the share of the stock model's that
    went to padding, where it is known."""

    name: str
    stock: float
    unpadded: float
    unit: str
    words: tuple[str, str]
    wasted: float | None = None

    @property
    def gain(self) -> str:
        ratio = self.stock / self.unpadded
        return f"{ratio:.2f}× {self.words[0]}" if ratio >= 1 else f"{1 / ratio:.2f}× {self.words[1]}"


@dataclass(frozen=True)
class PaddingPicture:
    title: str
    subtitle: str
    batches: tuple[tuple[int, ...], ...]
    n_batches: int
    bars: tuple[Bar, ...]


def padding_picture(title: str, subtitle: str, lengths: Lengths, bars: Sequence[Bar]) -> PaddingPicture:
    """The first batches of the run, the texts of each from long to short."""
    batches = tuple(tuple(sorted(batch, reverse=True)) for batch in lengths[:SHOWN])
    return PaddingPicture(title, subtitle, batches, len(lengths), tuple(bars))


def draw(picture: PaddingPicture, path: Path) -> None:
    figure = _figure((11, 6.2))
    figure.text(0.035, 0.945, picture.title, fontsize=16, weight="bold", color=INK)
    figure.text(0.035, 0.9, picture.subtitle, fontsize=10.5, color=FAINT)
    _draw_batches(figure.add_axes((0.075, 0.1, 0.48, 0.74)), picture)
    _draw_bars(figure.add_axes((0.645, 0.1, 0.325, 0.74)), picture.bars)
    figure.savefig(path, dpi=110)


def _figure(size: tuple[float, float]) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra('pictures need matplotlib: pip install "anyformer[demo]"') from None
    figure = Figure(figsize=size, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _draw_batches(axes: Any, picture: PaddingPicture) -> None:
    """One bar a text, one block a batch."""
    places, words, padding = [], [], []
    for b, batch in enumerate(picture.batches):
        size = len(batch)
        for row, n in enumerate(batch):
            places.append(b + (row + 0.5) / size * 0.82)
            words.append(n)
            padding.append(batch[0] - n)
    height = 0.82 / max(len(batch) for batch in picture.batches)
    axes.barh(places, words, height, color=WORDS, label="tokens of the texts")
    axes.barh(
        places, padding, height, left=words, color=PADDING, label="padding: computed by the stock model, not here"
    )
    axes.set_ylim(len(picture.batches), -0.2)
    axes.set_xlim(0, max(batch[0] for batch in picture.batches) * 1.01)
    axes.set_yticks([b + 0.41 for b in range(len(picture.batches))], [str(b + 1) for b in range(len(picture.batches))])
    axes.set_ylabel(f"the first {len(picture.batches)} of {picture.n_batches} batches, a line a text", color=FAINT)
    axes.set_xlabel("tokens", color=FAINT)
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.995), ncols=2, frameon=False, fontsize=10, borderpad=0.2)
    _plain(axes)


def _draw_bars(axes: Any, bars: Sequence[Bar]) -> None:
    """Each amount as a share of the stock model's, with the number in or beside it."""
    for i, bar in enumerate(bars):
        own, known = bar.unpadded / bar.stock, bar.wasted is not None
        words = 1 - bar.wasted if bar.wasted is not None else 0.0
        axes.barh([i], [1.0], BAR, color=PADDING if known else OTHER)
        axes.barh([i, i + STEP], [words, own], BAR, color=WORDS)
        axes.text(0.0, i - 0.2, bar.name, fontsize=12, weight="bold", color=INK, va="bottom")
        axes.text(1.0, i - 0.2, bar.gain, fontsize=12, color=INK, va="bottom", ha="right")
        stock = f"stock  {_amount(bar.stock, bar.unit)}"
        _write(axes, words if 0 < words < ROOMY else 0.0, i, stock, dark=words < ROOMY)
        _write(
            axes, own if own < ROOMY else 0.0, i + STEP, f"anyformer  {_amount(bar.unpadded, bar.unit)}", own < ROOMY
        )
    axes.set_ylim(len(bars) - 0.4, -0.45)
    axes.set_xlim(0, max(1.0, *(bar.unpadded / bar.stock for bar in bars)))
    axes.set_axis_off()


def _write(axes: Any, x: float, y: float, text: str, dark: bool) -> None:
    axes.text(x + 0.015, y, text, va="center", fontsize=10, color=INK if dark else "white")


def _plain(axes: Any) -> None:
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0, labelsize=9, colors=FAINT)


def _amount(value: float, unit: str) -> str:
    """Three digits that count."""
    digits = 0 if value >= 100 else 1 if value >= 10 else 2
    return f"{value:,.{digits}f} {unit}"
