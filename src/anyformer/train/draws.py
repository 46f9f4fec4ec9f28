"""Which plans a training step runs: the full one, the smallest, and some at random (LengthDrop, LayerDrop).

A draw is a pure function of (seed, step, micro-step): a run that was resumed, or spread over several processes,
draws what an uninterrupted single one draws. The micro-steps of all processes are numbered through.

LengthDrop (Kim and Cho 2021): l_i ~ U[(1 - p)·l_{i-1}, l_{i-1}].
# differs from Kim and Cho 2021: ratios of each row's own length are drawn, not token counts of a padded batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

from anyformer.depth.layerdrop import drop_layers
from anyformer.plan import Plan, Space


@dataclass(frozen=True)
class Draws:
    """The passes of one step."""

    full: Plan
    students: tuple[Plan, ...]


def draw(
    spaces: Sequence[Space], n_random: int, layerdrop: str, layerdrop_p: float, score: str, key: tuple[int, ...]
) -> Draws:
    """The smallest plan of one of the spaces first, then random ones from each in turn."""
    random = Random(" ".join(map(str, key)))
    plans = [random.choice(list(spaces)).smallest()]
    start = random.randrange(len(spaces))
    plans += [spaces[(start + i) % len(spaces)].sample(random) for i in range(n_random)]
    full = spaces[0].full()
    if layerdrop == "all":
        full = drop_layers(full, layerdrop_p, random)
    if layerdrop != "none":
        plans = [drop_layers(plan, layerdrop_p, random) for plan in plans]
    return Draws(full, tuple(replace(plan, score=score) for plan in plans))
