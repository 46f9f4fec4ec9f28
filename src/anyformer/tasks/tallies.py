"""What each record adds to the main score: tallies (n_records, k) -> sums (..., k) -> points (...).

Sums are enough to score any part of the records, however often each is drawn, so a score is resampled without looking
at a prediction twice. Here is the tally of a mean; entities.py and correlation.py have those of F1 and Pearson.
"""

import numpy as np


def counted(values: np.ndarray) -> np.ndarray:
    """[value, 1] of every record."""
    return np.column_stack([values, np.ones(len(values))])


def mean_points(sums: np.ndarray) -> np.ndarray:
    """The mean of the values, out of sums of [value, 1]."""
    return points(sums[..., 0], sums[..., 1])


def points(part: np.ndarray | float, whole: np.ndarray | float) -> np.ndarray:
    """The share in points; of nothing it is 0."""
    scaled, whole = np.broadcast_arrays(100.0 * part, whole)
    return np.divide(scaled, whole, out=np.zeros(scaled.shape), where=whole > 0)
