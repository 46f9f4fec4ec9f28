"""The points of a frontier in words: what a plan does, what a point loses, which budget picks it; as a table, too.

Between the frontier and whatever shows it: the terminal, the picture and the page say the same because they ask here.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from anyformer.budget import Budget
from anyformer.errors import InfeasibleBudget
from anyformer.frontier import Frontier, Point
from anyformer.plan import Exit, Plan
from anyformer.report.tables import table, width

WITHIN = "loss<=1%"  # the budget that a headline is about
FEW_DROPS, FEW_LAYERS = 4, 12  # up to these a plan is told drop by drop, ratio by ratio
ASKED = {
    "share": "at most {:g}% of the full model's MACs",
    "latency": "at most {:g} ms",
    "loss": "at most {:g}% of the full model's score to be lost",
    "full": "the full model",
    "smallest": "the cheapest point",
}


@dataclass(frozen=True)
class Finding:
    """The cheapest point within 1% of the full model's score, and whether a calibrated bound says so."""

    point: Point
    title: str
    calibrated: bool


def finding(frontier: Frontier) -> Finding:
    point, full = frontier.pick(WITHIN), frontier.full
    if len(frontier) == 1:
        return Finding(point, "The full model is the only point yet", False)
    if point == full:
        bounded = all(other.loss_bound is not None for other in frontier if other != full)
        title = "No cheaper point can be promised to stay within 1% of the full score"
        return Finding(point, title if bounded else "No cheaper point stays within 1% of the full score", bounded)
    told = "" if point.loss_bound is not None else ", as measured"
    title = f"Within 1% of the full score at {share(point.macs_ratio)} of its MACs{told}"
    return Finding(point, title, point.loss_bound is not None)


def plan_in_words(plan: Plan) -> str:
    """60% after 0, 25% after 2; skips 4–5; entropy < 0.3."""
    parts = [_drops(plan)]
    if plan.layers is not None and len(plan.running) < plan.n_layers:
        parts.append(f"skips {', '.join(_runs(set(range(plan.n_layers)) - set(plan.running)))}")
    if plan.exit is not None:
        parts.append(_exit(plan.exit))
    if plan.score != "attention":
        parts.append(f"ranked by {plan.score}")
    return "; ".join(parts)


def budget_for(frontier: Frontier, point: Point) -> str | None:
    """The shortest budget that picks the point; None where it costs more than any budget may."""
    return next((str(budget) for budget in _candidates(frontier, point) if _picks(frontier, budget, point)), None)


def lost(frontier: Frontier, point: Point) -> float:
    """Points of score below the full model, as measured; negative where the point is better."""
    return frontier.full.score - point.score


def promise(frontier: Frontier, point: Point) -> str:
    """What holds on texts to come, and where nothing is promised, what was measured."""
    if point == frontier.full:
        return "it is the reference itself"
    if point.loss_bound is not None:
        return f"promised: at most {bound(point)} of the full score is lost (calibrated bound)"
    return f"measured: {compared(lost(frontier, point))} the full model; nothing is promised without a calibrated bound"


def picked_in_words(frontier: Frontier, budget: Budget, point: Point) -> str:
    """What was asked, what is had for it, what is promised."""
    asked = ASKED[budget.kind].format(budget.amount)
    took = [f"{share(point.macs_ratio)} of the MACs", f"{frontier.metric or 'score'} {point.score:.2f}"]
    if point.latency_ms is not None:
        took.append(f"{milliseconds(frontier, point)}{f' on {frontier.device}' if frontier.device else ''}")
    return f"asked: {asked}; picked: {', '.join(took)}; {promise(frontier, point)}"


def frontier_table(frontier: Frontier, picked: Point | None = None) -> str:
    """A line a point, by rising cost; the picked one is marked."""
    others = columns(frontier)
    rows = [[_marked(point, picked), *(cell(point) for cell in others.values())] for point in frontier]
    header = [f"{'MACs':>8}", *others]
    size = max(width(row[-1]) for row in (header, *rows))
    return table(*_filled_last(header, rows, size))


def share(value: float) -> str:
    return f"{value:.1%}"


def milliseconds(frontier: Frontier, point: Point) -> str:
    """As many decimals as the slowest point needs for three digits."""
    slowest = max((other.latency_ms or 0.0 for other in frontier), default=0.0)
    digits = 0 if slowest >= 100 else 1 if slowest >= 10 else 2
    return "" if point.latency_ms is None else f"{point.latency_ms:,.{digits}f} ms"


def bound(point: Point) -> str:
    """Rounded up, as it is a promise."""
    if point.loss_bound is None:
        return ""
    return f"{math.ceil(round(max(0.0, point.loss_bound) * 1e4, 6)) / 100:.2f}%"


def compared(points: float) -> str:
    """0.42 points below, 0.10 points above, level with."""
    if abs(points) < 0.005:
        return "level with"
    return f"{abs(points):.2f} points {'below' if points > 0 else 'above'}"


def interval(low: float, high: float) -> str:
    """-0.20 to 0.91; zero has no sign."""
    return f"{signed(low)} to {signed(high)}"


def signed(points: float) -> str:
    return f"{round(points, 2) + 0.0:.2f}"


def columns(frontier: Frontier) -> dict[str, Callable[[Point], str]]:
    """What a point's line says after its MACs, by its header; a column that no point fills is left out."""
    full = frontier.full
    every: dict[str, Callable[[Point], str]] = {
        frontier.metric or "score": lambda point: f"{point.score:.2f}",
        "loses": lambda point: "" if point == full else signed(lost(frontier, point)),
        "95% interval": lambda point: "" if point == full or not point.lost else interval(*point.lost),
        "bound": lambda point: "" if point == full else bound(point),
        "latency": lambda point: milliseconds(frontier, point),
        "plan": lambda point: plan_in_words(point.plan),
    }
    return {header: cell for header, cell in every.items() if any(cell(point) for point in frontier)}


def _marked(point: Point, picked: Point | None) -> str:
    return f"{'>' if point == picked else ' '} {share(point.macs_ratio):>6}"


def _filled_last(header: list[str], rows: list[list[str]], size: int) -> tuple[list[str], list[list[str]]]:
    """The last column to the left."""
    fill = [[*row[:-1], row[-1] + " " * (size - width(row[-1]))] for row in (header, *rows)]
    return fill[0], fill[1:]


def _drops(plan: Plan) -> str:
    if not plan.drops:
        return "all tokens"
    if len(plan.drops) <= FEW_DROPS:
        return ", ".join(f"{plan.keep[i] * 100:.3g}% after {i}" for i in plan.drops)
    ratios = [f"{plan.keep[i]:.2f}".removeprefix("0") for i in plan.running]
    if len(ratios) > FEW_LAYERS:
        ratios = [*ratios[: FEW_LAYERS - 2], "…", ratios[-1]]
    return " ".join(ratios)


def _exit(leave: Exit) -> str:
    low, high = min(leave.thresholds()), max(leave.thresholds())
    level = f"{low:g}" if low == high else f"{low:g}–{high:g}"
    return (
        f"exit at {leave.rule} {'<' if leave.rule == 'entropy' else '≥' if leave.rule == 'patience' else '>'} {level}"
    )


def _runs(layers: Iterable[int]) -> Iterator[str]:
    """1, 3–5."""
    ordered = sorted(layers)
    starts = [i for i in ordered if i - 1 not in ordered]
    ends = [i for i in ordered if i + 1 not in ordered]
    return (f"{a}" if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True))


def _candidates(frontier: Frontier, point: Point) -> Iterator[Budget]:
    """Budgets that the point just meets, the roundest of each kind first."""
    full = frontier.full
    if point == full:
        yield Budget("full")
    measured = max(0.0, lost(frontier, point)) / abs(full.score) if full.score else None
    loss = measured if point.loss_bound is None else max(0.0, point.loss_bound)
    yield from (Budget("share", amount) for amount in _rounded_up(point.macs_ratio * 100) if 0 < amount <= 100)
    yield from (Budget("latency", amount) for amount in _rounded_up(point.latency_ms))
    yield from (Budget("loss", amount) for amount in _rounded_up(None if loss is None else loss * 100) if amount <= 100)
    if point == frontier.smallest:
        yield Budget("smallest")


def _rounded_up(amount: float | None) -> Iterator[float]:
    """13, 12.4, 12.35, …"""
    if amount is not None:
        yield from (math.ceil(round(amount * 10**digits, 6)) / 10**digits for digits in range(5))


def _picks(frontier: Frontier, budget: Budget, point: Point) -> bool:
    try:
        return frontier.pick(budget) == point
    except InfeasibleBudget:
        return False
