"""The trade-off as inline SVG: the same `Curve` that the PNG draws, for a page. Colours are the page's, by class.

Every dot is a group with its number, so that a page can show which one is chosen without drawing anything again.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape

from anyformer.report.curves import Curve, Dot, steps
from anyformer.report.points import share

LEFT, RIGHT, TOP, BOTTOM = 44, 20, 16, 30  # margins
N_TICKS = 6  # at most
TOUCHED = 14  # radius that takes a finger or a pointer


@dataclass(frozen=True)
class Frame:
    """From shares and scores to places."""

    width: int
    height: int
    most: float
    low: float
    high: float

    def x(self, value: float) -> float:
        return LEFT + (self.width - LEFT - RIGHT) * value / self.most

    def y(self, score: float) -> float:
        return TOP + (self.height - TOP - BOTTOM) * (self.high - score) / (self.high - self.low)


def chart(picture: Curve, width: int, height: int, name: str) -> str:
    """`name` is the class that says for which screens the chart is."""
    frame = Frame(width, height, max(1.0, *(dot.share for dot in picture.dots)), *picture.scores)
    about = escape(f"{picture.title}. {picture.metric} against the share of the full model's MACs.")
    parts = [f'<svg class="chart {name}" viewBox="0 0 {width} {height}" role="img" aria-label="{about}">']
    parts += _grid(picture, frame)
    parts += (_dot(i, dot, frame) for i, dot in enumerate(picture.dots))
    return "\n".join([*parts, "</svg>"])


def _grid(picture: Curve, frame: Frame) -> Iterator[str]:
    """Scores, shares, the reference with its band, and the step."""
    right, floor = frame.width - RIGHT, frame.height - BOTTOM
    top, band = frame.y(picture.full), frame.y(picture.band)
    yield f'<rect class="band" x="{LEFT}" y="{top:.1f}" width="{right - LEFT}" height="{band - top:.1f}"/>'
    for score in ticks(*picture.scores):
        y = frame.y(score)
        yield f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{y:.1f}" y2="{y:.1f}"/>'
        yield f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{score:g}</text>'
    yield f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{floor}" y2="{floor}"/>'
    for part in range(0, 101, 20):
        yield f'<text x="{frame.x(part / 100):.1f}" y="{floor + 20}" text-anchor="middle">{part}%</text>'
    yield f'<line class="full" x1="{LEFT}" x2="{right}" y1="{top:.1f}" y2="{top:.1f}"/>'
    yield f'<text class="ink" x="{LEFT + 6}" y="{top - 6:.1f}">full model {picture.full:.2f}</text>'
    turns = " ".join(f"{frame.x(x):.1f},{frame.y(y):.1f}" for x, y in steps(picture.dots))
    yield f'<polyline class="step" points="{turns}"/>'


def _dot(i: int, dot: Dot, frame: Frame) -> str:
    x, y, floor = frame.x(dot.share), frame.y(dot.score), frame.height - BOTTOM
    parts = [f'<g class="point{"" if dot.best else " hollow"}" data-point="{i}">']
    parts.append(f'<path class="guide" d="M{x:.1f} {floor}V{y:.1f}H{LEFT}"/>')
    if dot.low is not None and dot.high is not None:
        low, high = frame.y(dot.low), frame.y(dot.high)
        parts.append(f'<line class="interval" x1="{x:.1f}" x2="{x:.1f}" y1="{low:.1f}" y2="{high:.1f}"/>')
    parts.append(f'<circle class="ring" cx="{x:.1f}" cy="{y:.1f}" r="9"/>')
    parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="4.5"/>')
    parts.append(f'<circle class="touched" cx="{x:.1f}" cy="{y:.1f}" r="{TOUCHED}"/>')
    return "".join([*parts, f"<title>{share(dot.share)} of the MACs, {dot.score:.2f}</title></g>"])


def ticks(low: float, high: float) -> list[float]:
    """Round numbers between the two, some of them."""
    rough = (high - low) / N_TICKS
    unit = 10 ** math.floor(math.log10(rough))
    step = next(unit * n for n in (1, 2, 5, 10) if unit * n >= rough)
    return [round(i * step, 9) for i in range(math.ceil(low / step), math.floor(high / step) + 1)]
