"""Pearson's and Spearman's correlation. Undefined (a side is constant) counts as no correlation: 0."""

import numpy as np

DUST = 1e-12  # a variance below this share of the mean square is rounding


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    return float(pearson_of(moments(a, b).sum(axis=0)))


def moments(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[a, b, a², b², ab, 1] of every pair, both measured from the mean of b.

    Moments of values far from 0 would lose the digits that tell them apart. Where b are the references, their mean is
    near the predictions' own, and it is the same for every plan, so that moments of two plans can be mixed.
    """
    a, b = a - b.mean(), b - b.mean()
    return np.column_stack([a, b, a * a, b * b, a * b, np.ones(len(a))])


def pearson_of(sums: np.ndarray) -> np.ndarray:
    """(..., 6) sums of moments -> (...) correlations."""
    a, b, aa, bb, ab, n = np.moveaxis(np.asarray(sums), -1, 0)
    spread = np.sqrt(_spread(n, a, aa) * _spread(n, b, bb))
    found = np.divide(n * ab - a * b, spread, out=np.zeros(spread.shape), where=spread > 0)
    return np.clip(found, -1, 1)


def _spread(n: np.ndarray, total: np.ndarray, squares: np.ndarray) -> np.ndarray:
    """n² times the variance; 0 where the values are the same up to rounding."""
    spread = n * squares - total * total
    return np.where(spread > DUST * n * squares, spread, 0.0)


def spearman(a: np.ndarray, b: np.ndarray) -> float:
    return pearson(ranks(a), ranks(b))


def ranks(values: np.ndarray) -> np.ndarray:
    """From 1; equal values share the mean of their ranks."""
    _, which, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[which]
