"""The trade-off as a picture: what share of the full model's MACs a point takes, and what it scores.

`curve` makes the data, `draw` draws it with matplotlib (extra `demo`), the page draws the same as SVG (svg.py). Between
two points a budget gets the cheaper one, so the line is a step.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from textwrap import shorten
from typing import Any

from anyformer.budget import Budget
from anyformer.errors import MissingExtra
from anyformer.frontier import Frontier, Point
from anyformer.report.padding import FAINT, INK, OTHER, PADDING, WORDS
from anyformer.report.points import Finding, finding, share

DEVICE_SHOWN = 40  # characters
BAND = 0.01  # of the full model's score
SHADE = "#e9f1f7"
SHOWN_BELOW = 3  # widths of the band, at least
ROOM = 0.08  # of the scores' range, above and below
MACS = "share of the full model's MACs on the same texts, without padding"


@dataclass(frozen=True)
class Dot:
    """low, high: 95% interval of the score, as the full model's less what is lost; best: no cheaper point scores as
    much."""

    share: float
    score: float
    low: float | None
    high: float | None
    latency_ms: float | None
    best: bool


@dataclass(frozen=True)
class Curve:
    """dots: by rising cost; full: the full model's score; marked: the dot that stands out, mark: what it is."""

    title: str
    subtitle: str
    metric: str
    device: str
    dots: tuple[Dot, ...]
    full: float
    marked: int
    mark: str

    @property
    def band(self) -> float:
        """The lowest score within 1% of the full model's."""
        return self.full - BAND * abs(self.full)

    @property
    def with_intervals(self) -> bool:
        return any(dot.low is not None for dot in self.dots)

    @property
    def scores(self) -> tuple[float, float]:
        """From the lowest to the highest thing that is drawn, with room."""
        seen = [self.full, self.full - SHOWN_BELOW * (self.full - self.band), *(dot.score for dot in self.dots)]
        seen += [end for dot in self.dots for end in (dot.low, dot.high) if end is not None]
        low, high = min(seen), max(seen)
        room = ROOM * (high - low) or 1.0
        return low - room, high + room


def curve(frontier: Frontier, budget: Budget | None = None) -> Curve:
    """Marks the point that the budget picks; without one the point that the title is about."""
    found = finding(frontier)
    best = accumulate((point.score for point in frontier), max, initial=-math.inf)
    dots = tuple(
        _dot(point, frontier.full, point.score > before) for point, before in zip(frontier, best, strict=False)
    )
    point = found.point if budget is None else frontier.pick(budget)
    own = "the full model" if point == frontier.full else "the cheapest within 1%"
    return Curve(
        title=found.title,
        subtitle=_subtitle(frontier, found),
        metric=frontier.metric or "score",
        device=frontier.device,
        dots=dots,
        full=frontier.full.score,
        marked=frontier.points.index(point),
        mark=own if budget is None else f"picked by {budget}",
    )


def _dot(point: Point, full: Point, best: bool) -> Dot:
    low, high = (None, None) if point.lost is None or point == full else (full.score - end for end in point.lost[::-1])
    return Dot(point.macs_ratio, point.score, low, high, point.latency_ms, best)


def _subtitle(frontier: Frontier, found: Finding) -> str:
    on = f" on {frontier.n_examples:,} labelled examples" if frontier.n_examples else ""
    said = "by calibrated bounds on the loss" if found.calibrated else "no calibrated bound on the loss"
    return f"{frontier.metric or 'score'}{on}{f'; {said}' if len(frontier) > 1 else ''}"


def steps(dots: Sequence[Dot]) -> list[tuple[float, float]]:
    """(share, score) where the line turns, up to the full model's MACs."""
    best = [dot for dot in dots if dot.best]
    turns = [(best[0].share, best[0].score)]
    for before, now in pairwise(best):
        turns += [(now.share, before.score), (now.share, now.score)]
    return [*turns, (max(1.0, best[-1].share), best[-1].score)]


def draw(picture: Curve, path: Path) -> None:
    timed = [dot.latency_ms for dot in picture.dots if dot.latency_ms is not None]
    figure = _figure((11, 6.2))
    figure.text(0.035, 0.945, picture.title, fontsize=16, weight="bold", color=INK)
    figure.text(0.035, 0.9, picture.subtitle, fontsize=10.5, color=FAINT)
    axes = figure.add_axes((0.075, 0.115, 0.56 if timed else 0.895, 0.7))
    axes.plot(*zip(*((x * 100, y) for x, y in steps(picture.dots)), strict=True), color=WORDS, lw=1.5, zorder=2)
    _draw_dots(axes, picture, [dot.share * 100 for dot in picture.dots])
    axes.set_xlim(0, max(100, *(dot.share * 100 for dot in picture.dots)) * 1.03)
    axes.xaxis.set_major_formatter("{x:.0f}%")
    axes.set_xlabel(MACS, color=FAINT)
    axes.set_ylabel(picture.metric, color=FAINT)
    _draw_words(axes, picture)
    if timed:
        beside = figure.add_axes((0.69, 0.115, 0.28, 0.7))
        _draw_dots(beside, picture, [dot.latency_ms for dot in picture.dots])
        beside.set_xlim(0, max(timed) * 1.06)
        beside.set_yticklabels([])
        on = f", on {shorten(picture.device, DEVICE_SHOWN)}" if picture.device else ""
        beside.set_xlabel(f"latency, ms{on}", color=FAINT)
    figure.savefig(path, dpi=110)


def _figure(size: tuple[float, float]) -> Any:
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingExtra('a .png needs matplotlib: pip install "anyformer[demo]", or name a .html') from None
    figure = Figure(figsize=size, facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def _draw_dots(axes: Any, picture: Curve, places: Sequence[float | None]) -> None:
    """The reference, its band, and a dot with its interval for every point that has a place."""
    axes.axhspan(picture.band, picture.full, color=SHADE, lw=0, zorder=0)
    axes.axhline(picture.full, color=FAINT, lw=1, ls=(0, (4, 3)), zorder=1)
    for i, (dot, x) in enumerate(zip(picture.dots, places, strict=True)):
        if x is None:
            continue
        marked = i == picture.marked
        if dot.low is not None:
            axes.plot([x, x], [dot.low, dot.high], color=PADDING if marked else OTHER, lw=3, zorder=2)
        axes.plot([x], [dot.score], "o", ms=11 if marked else 6.5, zorder=4 if marked else 3, **_ink(dot, marked))
    axes.set_ylim(*picture.scores)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0, labelsize=9, colors=FAINT)


def _ink(dot: Dot, marked: bool) -> dict[str, Any]:
    if marked:
        return {"mfc": PADDING, "mec": INK, "mew": 1.2}
    return {"mfc": WORDS if dot.best else "white", "mec": WORDS, "mew": 1.2}


def _draw_words(axes: Any, picture: Curve) -> None:
    """The marked dot's figures, the reference's, and what the marks mean."""
    dot = picture.dots[picture.marked]
    right = dot.share > 0.8
    near = {"xytext": (8, 10), "ha": "right", "va": "bottom"} if right else {"xytext": (12, -16), "va": "top"}
    told = f"{share(dot.share)}, {dot.score:.2f}"
    axes.annotate(told, (dot.share * 100, dot.score), color=INK, textcoords="offset points", **near)
    above = {"xytext": (4, 4), "textcoords": "offset points"}
    axes.annotate(f"full model {picture.full:.2f}", (0, picture.full), color=FAINT, fontsize=9.5, **above)
    axes.plot([], [], "o", ms=9, label=picture.mark, **_ink(dot, True))
    others = [other for other in picture.dots if other != dot]
    for best, label in ((True, "other points"), (False, "no better than a cheaper one")):
        if any(other.best is best for other in others):
            axes.plot([], [], "o", ms=6.5, label=label, **_ink(replace(dot, best=best), False))
    if picture.with_intervals:
        axes.plot([], [], color=OTHER, lw=3, label="95% interval")
    axes.fill_between([], [], color=SHADE, label="within 1% of the full score")
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=5, frameon=False, fontsize=9, columnspacing=1.3)
