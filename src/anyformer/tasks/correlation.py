"""Pearson's and Spearman's correlation. Undefined (a side is constant) counts as no correlation: 0."""

import numpy as np

DUST = 1e-10  # of the mean square: a variance below is the rounding of sums, or of a model's float32


def pearson(a: np.ndarray, b: np.ndarray) -> float:
    return float(pearson_of(moments(a, b).sum(axis=0)))


def moments(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """[a, b, a², b², ab, 1, size] of every pair; its size is its part of the spread of b, the references.

    They are not measured from the means, which are others in every part of the data, so that parts can be joined.
    float64 has the digits for it: 13 of a correlation of values from 0 to 5, 7 where the means are 1,000 spreads off.
    """
    return np.column_stack([a, b, a * a, b * b, a * b, np.ones(len(a)), (b - b.mean()) ** 2])


def pearson_of(sums: np.ndarray) -> np.ndarray:
    """(..., 7) sums of moments -> (...) correlations."""
    a, b, aa, bb, ab, n, _ = np.moveaxis(np.asarray(sums), -1, 0)
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
