"""Plan, Exit, Space: what one forward pass does, and which plans there are to draw from. No torch here.

A plan keeps l_i = max(min(n, 2), ceil(keep_i * n)) of a row's own n tokens after layer i (mechanisms of the
Length-Adaptive Transformer, Kim and Cho 2021). Ratios are of each row's real length, so padding never counts.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from random import Random

from anyformer.errors import PlanError

EXIT_RULES = ("entropy", "confidence", "patience", "learned", "predicted")
SCORES = ("attention", "ramp", "both")
FEWEST_TOKENS = 2
DUST = 6  # decimals of keep * n that count: 0.7 * 10 must be 7 tokens, not 8
FEW_DROPS = 3


@dataclass(frozen=True)
class Exit:
    """The rule by which a row leaves early, and its threshold (one for all layers, or one a layer)."""

    rule: str
    threshold: float | tuple[float, ...]

    def __post_init__(self) -> None:
        if self.rule not in EXIT_RULES:
            raise PlanError(f"exit rule {self.rule!r} is not known; choose one of {', '.join(EXIT_RULES)}")
        if isinstance(self.threshold, Iterable):
            object.__setattr__(self, "threshold", tuple(float(t) for t in self.threshold))
        for value in self.thresholds():
            self._check(value)

    def thresholds(self) -> tuple[float, ...]:
        return self.threshold if isinstance(self.threshold, tuple) else (self.threshold,)

    def _check(self, value: float) -> None:
        if not math.isfinite(value) or value < 0:
            raise PlanError(f"exit threshold {value!r} must be a number of 0 or more")
        if self.rule == "patience" and value != int(value):
            raise PlanError(f"patience counts agreements in a row: {value!r} must be a whole number")
        if self.rule in ("confidence", "learned", "predicted") and value > 1:
            raise PlanError(f"{self.rule} is a probability: threshold {value!r} must lie in [0, 1]")

    def to_dict(self) -> dict:
        threshold = list(self.threshold) if isinstance(self.threshold, tuple) else self.threshold
        return {"rule": self.rule, "threshold": threshold}

    @classmethod
    def from_dict(cls, data: Mapping) -> "Exit":
        return cls(data["rule"], data["threshold"])


@dataclass(frozen=True)
class Plan:
    """keep: the share of a row's own tokens that leaves each layer; layers: those that run (None: all);
    exit: how rows may leave early; score: what ranks the tokens."""

    keep: tuple[float, ...]
    layers: tuple[int, ...] | None = None
    exit: Exit | None = None
    score: str = "attention"

    def __post_init__(self) -> None:
        object.__setattr__(self, "keep", _checked_keep(self.keep))
        if self.layers is not None:
            object.__setattr__(self, "layers", _checked_layers(self.layers, len(self.keep)))
        if self.score not in SCORES:
            raise PlanError(f"score {self.score!r} is not known; choose one of {', '.join(SCORES)}")
        if self.exit is not None and not isinstance(self.exit, Exit):
            raise PlanError(f"exit must be an Exit, not {type(self.exit).__name__}")

    @property
    def n_layers(self) -> int:
        return len(self.keep)

    @property
    def running(self) -> tuple[int, ...]:
        """The layers that run, in order."""
        return tuple(range(self.n_layers)) if self.layers is None else self.layers

    @property
    def drops(self) -> tuple[int, ...]:
        """The running layers after whose attention tokens leave."""
        found, before = [], 1.0
        for i in self.running:
            if self.keep[i] < before:
                found.append(i)
            before = self.keep[i]
        return tuple(found)

    def segments(self) -> tuple[tuple[int, ...], ...]:
        """Runs of layers between two places where something leaves: tokens after the attention of a dropping
        layer, rows after any layer but the last when the plan has an exit."""
        running = self.running
        ends = set(running) if self.exit else set(self.drops)
        found: list[tuple[int, ...]] = []
        start = 0
        for at, layer in enumerate(running):
            if layer in ends or at == len(running) - 1:
                found.append(running[start : at + 1])
                start = at + 1
        return tuple(found)

    def counts(self, n_tokens: int) -> tuple[int, ...]:
        """How many of a row's n tokens leave each layer; a layer that does not run drops nothing."""
        found, before = [], n_tokens
        running = set(self.running)
        for i, keep in enumerate(self.keep):
            if i in running:
                before = min(before, max(min(n_tokens, FEWEST_TOKENS), math.ceil(round(keep * n_tokens, DUST))))
            found.append(before)
        return tuple(found)

    @classmethod
    def full(cls, n_layers: int) -> "Plan":
        return cls((1.0,) * _checked_depth(n_layers))

    @classmethod
    def constant(cls, rate: float, n_layers: int) -> "Plan":
        """Drops the same share at every layer: keep_i = (1 - rate)^i, i = 1 … n."""
        _checked_rate(rate, "rate")
        return cls(tuple((1 - rate) ** i for i in range(1, _checked_depth(n_layers) + 1)))

    @classmethod
    def smallest(cls, p: float, n_layers: int) -> "Plan":
        """The smallest plan that LengthDrop with bound p can draw."""
        return cls.constant(p, n_layers)

    @classmethod
    def at(cls, drops: Mapping[int, float], n_layers: int) -> "Plan":
        """Drops at these layers only, counted from 0: Plan.at({1: .5, 3: .25}, 6)."""
        _checked_depth(n_layers)
        for layer in drops:
            if not isinstance(layer, int) or not 0 <= layer < n_layers:
                raise PlanError(f"a drop at layer {layer!r}: layers of this model are 0 to {n_layers - 1}")
        keep, now = [], 1.0
        for i in range(n_layers):
            now = drops.get(i, now)
            keep.append(now)
        return cls(tuple(keep))

    @classmethod
    def from_counts(cls, counts: Iterable[int], n_tokens: int) -> "Plan":
        return cls(tuple(min(c / n_tokens, 1.0) if c > 0 else 0.0 for c in counts))

    def to_dict(self) -> dict:
        data: dict = {"keep": list(self.keep)}
        if self.layers is not None:
            data["layers"] = list(self.layers)
        if self.exit is not None:
            data["exit"] = self.exit.to_dict()
        if self.score != "attention":
            data["score"] = self.score
        return data

    @classmethod
    def from_dict(cls, data: Mapping) -> "Plan":
        unknown = set(data) - {"keep", "layers", "exit", "score"}
        if unknown or "keep" not in data:
            raise PlanError(f"a plan has keep, layers, exit and score; found {', '.join(sorted(data)) or 'nothing'}")
        leave = data.get("exit")
        return cls(
            data["keep"], data.get("layers"), Exit.from_dict(leave) if leave else None, data.get("score", "attention")
        )


@dataclass(frozen=True)
class Space:
    """Which plans training samples and search mutates.

    every: LengthDrop as published, each layer may drop up to the share p of what reached it.
    few: one to three dropping layers, down to `floor` of the tokens; faster on every engine, as a drop costs a score.
    Early layers know too little to choose: half the tokens go there at most (floor 1/8), three quarters by a third of
    the depth; and none go at the last layer.
    """

    n_layers: int
    kind: str = "every"
    p: float = 0.2
    floor: float = 0.125

    def __post_init__(self) -> None:
        _checked_depth(self.n_layers)
        if self.kind not in ("every", "few"):
            raise PlanError(f"space {self.kind!r} is not known; choose every or few")
        _checked_rate(self.p, "p")
        if not 0 < self.floor <= 1:
            raise PlanError(f"floor {self.floor!r} must lie in (0, 1]")

    def full(self) -> Plan:
        return Plan.full(self.n_layers)

    def smallest(self) -> Plan:
        if self.kind == "every":
            return Plan.smallest(self.p, self.n_layers)
        n = self.n_layers
        steps = {n // 12: 4 * self.floor, n // 3: 2 * self.floor, n // 2: self.floor}
        return Plan.at({layer: min(1.0, share) for layer, share in steps.items()}, n)

    def sample(self, random: Random) -> Plan:
        return self._every(random) if self.kind == "every" else self._few(random)

    def _every(self, random: Random) -> Plan:
        keep, now = [], 1.0
        for _ in range(self.n_layers):
            now = random.uniform((1 - self.p) * now, now)
            keep.append(now)
        return Plan(tuple(keep))

    def _few(self, random: Random) -> Plan:
        """The ratios are log-uniform between floor and 1, so that halving is as likely early as late."""
        candidates = range(self.n_layers // 12, max(self.n_layers - 1, 1))
        layers = sorted(random.sample(candidates, random.randint(1, min(FEW_DROPS, len(candidates)))))
        ratios = sorted((self.floor ** random.random() for _ in layers), reverse=True)
        least = self.smallest().keep
        return Plan.at({i: max(r, least[i]) for i, r in zip(layers, ratios, strict=True)}, self.n_layers)


def _checked_depth(n_layers: int) -> int:
    if not isinstance(n_layers, int) or n_layers < 1:
        raise PlanError(f"a model has at least one layer; found {n_layers!r}")
    return n_layers


def _checked_rate(rate: float, name: str) -> None:
    if not 0 <= rate < 1:
        raise PlanError(f"{name} {rate!r} must lie in [0, 1): it is the share of tokens that a layer drops")


def _checked_keep(keep: Iterable[float]) -> tuple[float, ...]:
    try:
        found = tuple(float(k) for k in keep)
    except (TypeError, ValueError):
        raise PlanError(f"keep must be numbers, one a layer; found {keep!r}") from None
    if not found:
        raise PlanError("keep is empty: it needs one number a layer, Plan.full(n_layers) keeps everything")
    before = 1.0
    for i, now in enumerate(found):
        if not 0 < now <= 1:  # also false for NaN
            raise PlanError(f"keep[{i}] is {now!r}: it must be above 0 and at most 1")
        if now > before:
            raise PlanError(
                f"keep[{i}] is {now!r} after {before!r}: a token that left cannot come back, keep must not increase"
            )
        before = now
    return found


def _checked_layers(layers: Iterable[int], n_layers: int) -> tuple[int, ...]:
    try:
        found = tuple(int(i) for i in layers)
    except (TypeError, ValueError):
        raise PlanError(f"layers must be layer numbers; found {layers!r}") from None
    if not found or list(found) != sorted(set(found)) or found[0] < 0 or found[-1] >= n_layers:
        raise PlanError(f"layers {found!r} must be increasing numbers between 0 and {n_layers - 1}, at least one")
    return found
