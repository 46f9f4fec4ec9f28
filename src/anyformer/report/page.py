"""The trade-off as one HTML file that stands alone: no network, no fonts or scripts of others, opened from a disk.

`page` puts page.html, page.css and page.js together with the chart, the table and the data of every point as JSON.
Whatever a user wrote (texts, names) is escaped here or set as text by the script, whose hash is all that may run.
"""

import hashlib
import json
import shlex
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from anyformer.budget import Budget
from anyformer.frontier import Frontier, Point
from anyformer.plan import Plan
from anyformer.report import points
from anyformer.report.curves import curve
from anyformer.report.svg import chart

if TYPE_CHECKING:
    from anyformer.report.survivors import Survivors

WIDE, NARROW = (640, 380), (360, 320)
SAMPLES = {  # what predict and a pipeline are given, by the task
    "qa": ("--question 'Who?' --context 'Ada wrote it.'", '{"question": "Who?", "context": "Ada wrote it."}'),
    "image": ("--image photo.jpg", '"photo.jpg"'),
}
SAMPLE = ("--text 'a gem of a film'", '"a gem of a film"')


@dataclass(frozen=True)
class Source:
    """folder, file: as the user named them; head: class of the model."""

    folder: str
    file: str
    head: str = ""
    task: str = ""


def page(frontier: Frontier, source: Source, budget: Budget | None = None, texts: Sequence["Survivors"] = ()) -> str:
    """`texts` have one plan a point of the frontier."""
    picture = curve(frontier, budget)
    script, style = _part("page.js"), _part("page.css")
    values = {
        "title": picture.title,
        "subtitle": f"{source.folder}{f' ({source.head})' if source.head else ''}: {picture.subtitle}",
        "metric": picture.metric,
        "device": f"measured on {frontier.device}" if frontier.device else "measured",
        "last": str(len(frontier) - 1),
        "n_layers": str(frontier.full.plan.n_layers),
        "remake": f"anyformer show {shlex.quote(source.folder)} --plot {shlex.quote(source.file)} {SAMPLE[0]}",
    }
    made = {
        "style": style,
        "script": script,
        "script_hash": b64encode(hashlib.sha256(script.encode()).digest()).decode(),
        "charts": chart(picture, *WIDE, "wide") + chart(picture, *NARROW, "narrow"),
        "table": _table(frontier),
        "data": _json(data(frontier, source, picture.marked, texts)),
        "if_hollow": "" if all(dot.best for dot in picture.dots) else "; hollow: no better than a cheaper one",
        "with_intervals": _only(picture.with_intervals),
        "with_latency": _only(any(point.latency_ms for point in frontier)),
        "with_skips": _only(any(point.plan.layers for point in frontier)),
        "with_texts": _only(bool(texts)),
        "without_texts": _only(not texts and source.task not in SAMPLES),
    }
    return Template(_part("page.html")).substitute({name: escape(value) for name, value in values.items()} | made)


def data(frontier: Frontier, source: Source, start: int, texts: Sequence["Survivors"] = ()) -> dict[str, Any]:
    """What the page's script shows; all of it is text or numbers."""
    return {
        "start": start,
        "metric": frontier.metric or "score",
        "points": [_point(frontier, point, source) for point in frontier],
        "texts": [asdict(text) for text in texts],
    }


def _point(frontier: Frontier, point: Point, source: Source) -> dict[str, Any]:
    budget = points.budget_for(frontier, point)
    flags, sample = SAMPLES.get(source.task, SAMPLE)
    folder = json.dumps(source.folder, ensure_ascii=False)
    return {
        "share": points.share(point.macs_ratio),
        "score": f"{point.score:.2f}",
        "compared": _compared(frontier, point),
        **_promised(frontier, point),
        "latency": points.milliseconds(frontier, point),
        "plan": points.plan_in_words(point.plan),
        "layers": _layers(point.plan),
        "command": budget and f"anyformer predict {shlex.quote(source.folder)} --budget {shlex.quote(budget)} {flags}",
        "python": budget and f"anyformer.pipeline({folder}, budget={json.dumps(budget)})({sample})",
    }


def _compared(frontier: Frontier, point: Point) -> str:
    if point == frontier.full:
        return "the full model, the reference"
    words = f"{points.compared(points.lost(frontier, point))} the full model"
    return words if point.lost is None else f"{words}; 95% interval of the loss: {_minus(points.interval(*point.lost))}"


def _promised(frontier: Frontier, point: Point) -> dict[str, str]:
    if point == frontier.full:
        return {"bound": "0%", "promise": "it is the reference"}
    known = "of the full score, by a calibrated bound"
    return {"bound": points.bound(point), "promise": known if points.bound(point) else "the loss is measured only"}


def _layers(plan: Plan) -> list[dict[str, Any]]:
    """kept: the share of tokens that goes on after the layer; left: the share that leaves at it."""
    found, before = [], 1.0
    for i, keep in enumerate(plan.keep):
        runs = i in plan.running
        now = keep if runs else before
        found.append({"kept": round(now, 4), "left": round(before - now, 4), "runs": runs})
        before = now
    return found


def _table(frontier: Frontier) -> str:
    """Every point as a row, which also stands without the script; its MACs lead to the point."""
    columns = points.columns(frontier)
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in ("MACs", *columns))
    rows = [f"<thead><tr>{head}</tr></thead><tbody>"]
    for i, point in enumerate(frontier):
        cells = [cell(point) if name == "plan" else _minus(cell(point)) for name, cell in columns.items()]
        first = f'<th scope="row"><a href="#point={i + 1}">{points.share(point.macs_ratio)}</a></th>'
        rows.append(f'<tr data-point="{i}">{first}{"".join(f"<td>{escape(cell)}</td>" for cell in cells)}</tr>')
    return "\n".join([*rows, "</tbody>"])


def _json(value: Any) -> str:
    """JSON that ends no element: < > and & are written as escapes."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _minus(text: str) -> str:
    return text.replace("-", "−")


def _only(shown: bool) -> str:
    return "" if shown else " hidden"


def _part(name: str) -> str:
    return Path(__file__).with_name(name).read_text(encoding="utf-8")
