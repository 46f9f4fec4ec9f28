"""Point, Frontier: the searched trade-off between cost and score, and the point that a budget picks on it.

The search makes one, a model folder holds it as `frontier.json`, prediction and serving pick from it. No torch here.
"""

import json
import math
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from numbers import Real
from pathlib import Path

from anyformer.budget import Budget
from anyformer.errors import AnyformerError, FolderError, InfeasibleBudget
from anyformer.pareto import Pair, area, front_indices, hypervolume
from anyformer.plan import Plan

SCHEMA = 1
DUST = 1e-9  # a ratio of 0.4 must meet 40%, and 0.891 is within 1% of 0.9, whatever the last bit says
_WRONG = (AnyformerError, KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError)


@dataclass(frozen=True)
class Point:
    """One plan with what it costs and what it scores.

    macs_ratio: share of the full model's MACs; score: higher is better; latency_ms: measured, None if it was not;
    loss_bound: calibrated upper bound on the share of the full model's score that is lost, None if there is none;
    lost: 95% interval of the points of score that it loses against the full model on the same examples.
    """

    plan: Plan
    macs_ratio: float
    score: float
    latency_ms: float | None = None
    loss_bound: float | None = None
    lost: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        if self.lost is not None:
            low, high = (float(value) for value in self.lost)
            if not low <= high:  # also false for NaN
                raise AnyformerError(f"a point's lost must be an interval, low and high; found {self.lost!r}")
            object.__setattr__(self, "lost", (low, high))
        for name in ("macs_ratio", "score", "latency_ms", "loss_bound"):
            value = getattr(self, name)
            if value is None and name in ("latency_ms", "loss_bound"):
                continue
            if not isinstance(value, Real) or not math.isfinite(value):
                raise AnyformerError(f"a point's {name} must be a finite number; found {value!r}")
            if name in ("macs_ratio", "latency_ms") and value <= 0:
                raise AnyformerError(f"a point's {name} must be above 0; found {value!r}")
            object.__setattr__(self, name, float(value))

    def to_dict(self) -> dict:
        named = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in named.items() if value is not None} | {"plan": self.plan.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping) -> "Point":
        return cls(**{**data, "plan": Plan.from_dict(data["plan"])})


@dataclass(frozen=True)
class Frontier:
    """points: by rising cost, only those that some budget can pick; metric: what the score is; model: hash of the
    model that was searched; device: fingerprint of the one that the latencies were measured on; n_examples: labelled
    ones that scores and bounds were reported on, 0 if it is not known; lengths: tokens of typical ones of them."""

    points: tuple[Point, ...]
    metric: str = ""
    model: str = ""
    device: str = ""
    n_examples: int = 0
    lengths: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        points = tuple(self.points)
        if not points:
            raise AnyformerError("a frontier needs at least one point; evaluate the full plan first")
        object.__setattr__(self, "points", _pickable(points))

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def full(self) -> Point:
        """The full model's point: the reference that losses are relative to."""
        return _full(self.points)

    @property
    def smallest(self) -> Point:
        return self.points[0]

    def pick(self, budget: Budget | str) -> Point:
        """The best point that the budget affords; of equally good ones the cheapest."""
        wanted = Budget.parse(budget)
        if wanted.kind == "full":
            return self.full
        if wanted.kind == "smallest":
            return self.smallest
        affordable = self._affordable(wanted)
        if not affordable:
            raise InfeasibleBudget(self._too_little(wanted))
        return affordable[0] if wanted.kind == "loss" else max(affordable, key=lambda point: point.score)

    def _affordable(self, budget: Budget) -> list[Point]:
        """The points within the budget's limit, by rising cost."""
        limit = budget.limit
        limit += DUST * max(limit, 1)
        if budget.kind == "share":
            return [point for point in self.points if point.macs_ratio <= limit]
        if budget.kind == "loss":
            full = self.full
            return [point for point in self.points if _loss(point, full) <= limit]
        return sorted((point for point in _measured(self.points) if _latency(point) <= limit), key=_latency)

    def _too_little(self, budget: Budget) -> str:
        """Why nothing meets the budget, and the cheapest point there is."""
        small = self.smallest
        cheapest = (
            f"the cheapest point takes {_percent(small.macs_ratio)} of the full model's MACs, score {small.score:.4g}"
        )
        if budget.kind == "latency":
            measured = _measured(self.points)
            if not measured:
                return f"no point has a latency, so {budget} cannot be met: measure them on this machine; {cheapest}"
            quick = min(measured, key=_latency)
            cheapest = f"the cheapest point takes {_latency(quick):.4g}ms, score {quick.score:.4g}"
        return f"no point meets {budget}: {cheapest}; ask for at least that, or search further"

    def merge(self, other: "Frontier") -> "Frontier":
        """The front of both frontiers' points; latencies of a device other than this frontier's are left out."""
        for name in ("model", "metric"):
            mine, theirs = getattr(self, name), getattr(other, name)
            if mine != theirs:
                raise AnyformerError(f"frontiers of different {name}s cannot be merged: found {mine!r} and {theirs!r}")
        device = self.device or other.device
        return replace(self, points=self._on(device) + other._on(device), device=device)

    def _on(self, device: str) -> tuple[Point, ...]:
        return self.points if self.device == device else tuple(replace(point, latency_ms=None) for point in self.points)

    def hypervolume(self, reference: Pair = (1.0, 0.0)) -> float:
        """What the points dominate, up to (macs_ratio, score) of the reference; the full model alone has 0."""
        return hypervolume(_pairs(self.points), reference)

    def area(self) -> float:
        """The mean of the best score over the costs from the smallest to the largest point (Kim and Cho 2021)."""
        return area(_pairs(self.points))

    def to_dict(self) -> dict:
        head = {"schema": SCHEMA, "metric": self.metric, "model": self.model, "device": self.device}
        head |= {"n_examples": self.n_examples, "lengths": list(self.lengths)}
        return head | {"points": [point.to_dict() for point in self.points]}

    @classmethod
    def from_dict(cls, data: Mapping) -> "Frontier":
        if data["schema"] != SCHEMA:
            raise AnyformerError(
                f"schema {data['schema']!r} is not known, expected {SCHEMA}: use the anyformer that wrote it"
            )
        texts = {name: data[name] for name in ("metric", "model", "device")}
        for name, text in texts.items():
            if not isinstance(text, str):
                raise AnyformerError(f"{name} must be text; found {text!r}")
        n_examples, lengths = data.get("n_examples", 0), tuple(data.get("lengths", ()))
        for count in (n_examples, *lengths):
            if type(count) is not int or count < 0:
                raise AnyformerError(f"n_examples and lengths must be counts; found {count!r}")
        return cls(
            tuple(Point.from_dict(point) for point in data["points"]), **texts, n_examples=n_examples, lengths=lengths
        )

    def save(self, path: str | Path) -> None:
        """Written beside its name and renamed, so that a reader never sees half a file."""
        target = Path(path)
        beside = target.with_name(f".{target.name}.{os.getpid()}")
        beside.write_text(json.dumps(self.to_dict(), indent=1) + "\n", encoding="utf-8")
        os.replace(beside, target)

    @classmethod
    def load(cls, path: str | Path) -> "Frontier":
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise FolderError(
                f"{path} cannot be read ({type(error).__name__}): search first, or copy the folder again"
            ) from None
        try:
            return cls.from_dict(json.loads(text))
        except _WRONG as error:
            reason = " ".join(str(error).split())[:200]
            raise FolderError(
                f"{path} is damaged ({type(error).__name__}: {reason}): search again, or copy it again"
            ) from None


def _pickable(points: tuple[Point, ...]) -> tuple[Point, ...]:
    """The points that some budget can pick, by rising cost: the fronts of MACs and latency against score and of MACs
    against loss, with the full and the smallest plan even where another dominates them."""
    known = sorted(points, key=_order)
    full = _full(known)
    measured = _measured(known)
    kept = {0, known.index(full)}
    kept.update(front_indices(_pairs(known)))
    kept.update(front_indices([(point.macs_ratio, -_loss(point, full)) for point in known]))
    quick = front_indices([(_latency(point), point.score) for point in measured])
    kept.update(known.index(measured[i]) for i in quick)
    return tuple(known[i] for i in sorted(kept))


def _order(point: Point) -> tuple[float, ...]:
    """By cost, the better first; of the same ones the measured and calibrated first."""
    bound = math.inf if point.loss_bound is None else point.loss_bound
    return (point.macs_ratio, -point.score, _latency(point), bound)


def _full(points: tuple[Point, ...] | list[Point]) -> Point:
    """The costliest point up to a ratio of 1 (exits that never happen can cost more), a full plan before others."""
    within = [point for point in points if point.macs_ratio <= 1 + DUST] or points
    return max(within, key=lambda point: (point.macs_ratio, point.plan == Plan.full(point.plan.n_layers), point.score))


def _loss(point: Point, full: Point) -> float:
    """The share of the full model's score that the point loses: its calibrated bound where it has one."""
    if point == full:
        return 0.0
    if point.loss_bound is not None:
        return max(0.0, point.loss_bound)
    lost = max(0.0, full.score - point.score)
    return lost / abs(full.score) if lost and full.score else (math.inf if lost else 0.0)


def _measured(points: tuple[Point, ...] | list[Point]) -> list[Point]:
    return [point for point in points if point.latency_ms is not None]


def _latency(point: Point) -> float:
    return math.inf if point.latency_ms is None else point.latency_ms


def _pairs(points: tuple[Point, ...] | list[Point]) -> list[Pair]:
    return [(point.macs_ratio, point.score) for point in points]


def _percent(share: float) -> str:
    """Rounded up, so that asking for it is enough."""
    return f"{math.ceil(round(share * 1e4, 6)) / 100:g}%"
