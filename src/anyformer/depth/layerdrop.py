"""LayerDrop: a sub-model that skips layers at random (Fan et al. 2020), as Kim and Cho 2021 train theirs.

# differs from both: a draw that would skip every layer keeps one, so that no model is ever empty.
"""

from dataclasses import replace
from random import Random

from anyformer.plan import Plan


def drop_layers(plan: Plan, p: float, random: Random) -> Plan:
    """Each layer is skipped with probability p."""
    spare = random.randrange(plan.n_layers)
    running = tuple(i for i in range(plan.n_layers) if random.random() >= p) or (spare,)
    return plan if len(running) == plan.n_layers else replace(plan, layers=running)
