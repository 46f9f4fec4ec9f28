"""What a step is made of, as pure functions of the settings: its batches, its learning rate, its seeds.

Nothing here remembers anything, so a resumed run goes on exactly where it was, and a run on several processes reads
what a single one would: process r takes the micro-batches r, r + world, … of each step.
"""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

from anyformer.tasks.batches import make_batches
from anyformer.train.config import Run


@dataclass(frozen=True)
class Schedule:
    """steps[s] is the list of micro-batches (lists of feature numbers) of step s; epoch_ends are step counts."""

    steps: tuple[tuple[tuple[int, ...], ...], ...]
    epoch_ends: tuple[int, ...]


def make_schedule(lengths: Sequence[int], epochs: float, run: Run, salt: str, world: int = 1) -> Schedule:
    """The last step of an epoch may be short; a fractional epoch stops in the middle."""
    steps: list[tuple[tuple[int, ...], ...]] = []
    ends = []
    per_step = run.accumulate * world
    for epoch in range(math.ceil(epochs)):
        seed = derived(run.seed, salt, epoch)
        batches = make_batches(lengths, run.batch_tokens, seed, max_rows=run.batch_rows)
        batches = batches[: math.ceil(min(1.0, epochs - epoch) * len(batches))]
        for at in range(0, len(batches), per_step):
            steps.append(tuple(tuple(batch) for batch in batches[at : at + per_step]))
        ends.append(len(steps))
    return Schedule(tuple(steps), tuple(ends))


def learning_rate(step: int, n_steps: int, peak: float, warmup: float) -> float:
    """Linear up to the peak, then linear down to zero at the end."""
    rising = max(1, round(warmup * n_steps)) if warmup else 0
    if step < rising:
        return peak * (step + 1) / rising
    return peak * (n_steps - step) / max(1, n_steps - rising)


def evaluation_steps(schedule: Schedule, per_epoch: int) -> set[int]:
    """After how many steps to evaluate: evenly within each epoch, and at its end."""
    found, before = set(), 0
    for end in schedule.epoch_ends:
        found |= {before + round((end - before) * (k + 1) / per_epoch) for k in range(per_epoch)}
        before = end
    return {step for step in found if step > 0}


def derived(*parts: object) -> int:
    """A seed of its own for each use, the same on every machine."""
    digest = hashlib.sha256(" ".join(map(str, parts)).encode()).digest()
    return int.from_bytes(digest[:6], "big")
