"""Budget: what the user can pay (`40%` of the full model's MACs, `12ms` on this machine) or will lose (`loss<=1%`).

It stands between what a user types and `Frontier.pick`, which turns it into a plan. No torch here.
"""

import math
import re
from dataclasses import dataclass

from anyformer.errors import BudgetError

KINDS = ("share", "latency", "loss", "full", "smallest")
EXAMPLES = "write 40%, 12ms, loss<=1%, full or smallest"
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?"
_LIMIT = re.compile(rf"(?P<loss>loss\s*(?:<=|≤))?\s*(?P<amount>{_NUMBER})?\s*(?P<unit>.*)", re.ASCII)
_SHOWN = 40  # characters of a wrong budget that an error repeats


@dataclass(frozen=True)
class Budget:
    """kind: one of KINDS; amount: the number as typed, percent for share and loss, milliseconds for latency."""

    kind: str
    amount: float | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise BudgetError(f"budget kind {self.kind!r} is not known; choose one of {', '.join(KINDS)}")
        if self.kind in ("full", "smallest"):
            if self.amount is not None:
                raise BudgetError(f"the budget {self.kind} takes no number; found {self.amount!r}")
            return
        object.__setattr__(self, "amount", _checked_amount(self.kind, self.amount))

    @property
    def limit(self) -> float:
        """The amount as it is compared: a share of 1 for share and loss, milliseconds for latency."""
        if self.amount is None:
            raise BudgetError(f"the budget {self.kind} has no limit to compare with")
        return self.amount if self.kind == "latency" else self.amount / 100

    @classmethod
    def parse(cls, text: "str | Budget") -> "Budget":
        if isinstance(text, Budget):
            return text
        if not isinstance(text, str):
            raise BudgetError(f"a budget is text, not {type(text).__name__} {_shown(text)}: {EXAMPLES}")
        plain = text.strip().lower()
        if not plain:
            raise BudgetError(f"the budget is empty: {EXAMPLES}")
        return cls(plain) if plain in ("full", "smallest") else cls(*_limit(plain, text))

    def __str__(self) -> str:
        if self.amount is None:
            return self.kind
        number = repr(self.amount).removesuffix(".0")
        return {"share": f"{number}%", "latency": f"{number}ms", "loss": f"loss<={number}%"}[self.kind]


def _limit(plain: str, text: str) -> tuple[str, float]:
    """The kind and the amount of a budget with a number."""
    found = _LIMIT.fullmatch(plain)
    if found is None or not (found["loss"] or found["amount"]):
        raise BudgetError(f"budget {_shown(text)} cannot be read: {EXAMPLES}")
    loss, amount, unit = found["loss"], found["amount"], found["unit"]
    if loss and (amount is None or unit != "%"):
        raise BudgetError(f"budget {_shown(text)} needs a percentage after loss<=: write loss<=1%")
    if not unit:
        raise BudgetError(f"budget {_shown(text)} has no unit, % of the full model's MACs or ms: {EXAMPLES}")
    if unit not in ("%", "ms"):
        raise BudgetError(f"budget {_shown(text)} has the unit {_shown(unit)}: expected % or ms; {EXAMPLES}")
    return "loss" if loss else {"%": "share", "ms": "latency"}[unit], float(amount)


def _checked_amount(kind: str, amount: float | None) -> float:
    if not isinstance(amount, int | float) or isinstance(amount, bool):
        raise BudgetError(f"a {kind} budget needs a number; found {_shown(amount)}")
    found = float(amount) + 0.0  # -0.0 becomes 0.0
    if kind == "loss" and not 0 <= found <= 100:  # the comparisons are also false for NaN
        raise BudgetError(
            f"budget loss<={amount:g}% must lie between 0% and 100% of the full model's score: write loss<=1%"
        )
    if kind == "share" and not 0 < found <= 100:
        raise BudgetError(f"budget {amount:g}% must be above 0% and at most 100% of the full model's MACs: write 40%")
    if kind == "latency" and not (found > 0 and math.isfinite(found)):
        raise BudgetError(f"budget {amount:g}ms must be above 0ms and finite: write 12ms")
    return found


def _shown(found: object) -> str:
    text = repr(found)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
