"""Honest scores: what a plan loses against the full model, with an interval, and how much may be promised.

Last step of the search, on examples that it has not seen; `loss<=1%` is picked by its bounds. Both models answer the
same examples, so what is judged is the difference of each example, not two scores:

    w_i(θ) = a_i - θ b_i,   θ is refuted where   Σw + z √Σw² + (z² - 1)/3 · Σw³/Σw²  <  0

For the points lost a_i = u_i - v_i and b_i = 1; for the share lost b_i = u_i, which judges (1 - θ) full - plan, so the
full model's score is as uncertain as the plan's (Fieller 1954). u_i and v_i are what an example is worth to the full
model and to the plan, found by leaving it out (jackknife), so one formula serves means, F1 and correlations.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import accumulate
from statistics import NormalDist

import numpy as np

from anyformer.errors import InputError

FEWEST = 50  # examples below which nothing is promised
ONE_SIDED, TWO_SIDED = NormalDist().inv_cdf(0.95), NormalDist().inv_cdf(0.975)
WHOLE = 100.0  # points that an example of the usual size is worth
FARTHEST = 200.0  # points between the best and the worst score: correlations go from -100 to 100

ScoreOf = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Paired:
    """A plan against the full model on the same examples.

    score: the plan's; lost: points that it loses, within [low, high] with 95% confidence; bound: the share of the full
    model's score that it loses is below this with 95% confidence, None with fewer than FEWEST examples.
    """

    score: float
    lost: float
    low: float
    high: float
    bound: float | None


def paired(full: np.ndarray, plan: np.ndarray, score_of: ScoreOf) -> Paired:
    """Tallies of the two models, one row an example, judged by the score that `score_of` makes of their sums.

    For caution one more example is counted as lost wholly (for `low`: as gained). A loss that is rare does not show in
    every set of examples: a plan that loses 1% agrees with the full model on a third of all sets of 100, so n times the
    same answer must not give a bound of 0. It gives about 3/n, as the rule of three does. Rare losses are skewed too:
    the third term is the skew (Cornish and Fisher 1938) of weights as the Bayesian bootstrap draws them (Rubin 1981).
    With these weights one more lost example is exact where all losses are whole (Gaffke 2005).

    Of sets whose true loss was at the limit, n from 50 to 1,000, normal quantiles promised too much in up to 13%, with
    the added example in up to 5.4%, with the skew as well in up to 5%: for means (accuracy, answers). So it is for F1,
    but 9% where the largest examples are lost wholly and no others, and up to 7% for correlations.
    """
    if full.shape != plan.shape or not len(full):
        raise InputError(f"tallies of shape {full.shape} and {plan.shape}: the same examples are needed, at least one")
    full_score, full_worth = worths(full, score_of)
    plan_score, plan_worth = worths(plan, score_of)
    points, whole = full_score - plan_score, _whole(full[:, -1])
    lost = np.append(full_worth - plan_worth, whole)
    gained = np.append(plan_worth - full_worth, whole)
    gain, loss = (_limit(own, np.ones(len(own)), TWO_SIDED, FARTHEST) for own in (gained, lost))
    share = _limit(lost, np.append(full_worth, whole), ONE_SIDED, most=1.0)
    bound = max(0.0, share) if len(full) >= FEWEST else None
    return Paired(plan_score, points, min(-gain, points), max(loss, points), bound)  # min, max: against rounding


def bounds(paired_in_order: Iterable[Paired]) -> list[float | None]:
    """What may be promised of each point, from the costliest (the next to the full model, which loses nothing and is
    not tested) to the cheapest: the largest bound so far; nothing from the first point on that has none.

    Fixed-sequence testing (Maurer et al. 1995; Angelopoulos et al. 2021): for a loss x a point counts only if every
    costlier one has passed at x. Whoever promises x and picks the cheapest point with bound <= x, or any such point,
    errs only if the first point of the order that truly loses more than x has passed. That is one test, of one point
    that was known beforehand, so it happens in at most 5% of all sets of examples, however many points there are. It
    holds for each x by itself. The order and the points must come from other examples than the tallies (the half that
    was searched on), else the first such point was not known beforehand.
    """
    return list(accumulate((one.bound for one in paired_in_order), _worse))


def worths(tallies: np.ndarray, score_of: ScoreOf) -> tuple[float, np.ndarray]:
    """The score, and in points what each example is worth to it: (n - 1) times what leaving it out takes from the mean
    of the scores without one, around the score (jackknife). For a mean these are the values themselves."""
    sums = tallies.sum(axis=0)
    score = float(score_of(sums))
    without = score_of(sums - tallies)
    return score, score + (len(tallies) - 1) * (without.mean() - without)


def _whole(sizes: np.ndarray) -> float:
    """What an example is worth that is lost wholly, out of the sizes of all (the last column of the tallies). Sizes
    count by size: a large example is worth more and, as more can go wrong in it, is lost more often."""
    return float(WHOLE * len(sizes) * (sizes @ sizes) / sizes.sum() ** 2) if sizes.any() else WHOLE


def _limit(a: np.ndarray, b: np.ndarray, z: float, most: float) -> float:
    """The smallest θ from which on all are refuted, at most `most`. The skew is taken where Σw = 0, which leaves
    (Σw + skew)² = z² Σw², a quadratic equation in θ: k θ² - 2 h θ + j = 0."""
    total_a, total_b, spread = a.sum(), b.sum(), z * z
    k = total_b**2 - spread * (b @ b)
    if total_b <= 0 or k <= 0:  # Σb may itself be 0: no share is too large
        return most
    w = a - total_a / total_b * b
    squares = w @ w
    above = total_a + ((spread - 1) / 3 * (w * w @ w) / squares if squares > 0 else 0.0)
    h, j = above * total_b - spread * (a @ b), above**2 - spread * (a @ a)
    return float(min(most, (h + np.sqrt(max(0.0, h * h - k * j))) / k))


def _worse(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else max(one, other)
