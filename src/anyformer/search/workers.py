"""Who judges: this process, several on this machine, or a Ray cluster. All give the same tallies.

A worker opens the model folder and prepares the examples once; then it gets plans and gives tallies. Each runs on one
thread, so that a sum is the same whoever makes it. A worker that dies is replaced and its plans are judged again.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from anyformer.data.records import Record
from anyformer.errors import AnyformerError, MissingExtra
from anyformer.plan import Plan
from anyformer.tasks.base import TaskSettings

SHARES = 2  # parts of a generation for each worker, so that none waits long for the slowest
DEATHS = 3  # in a row, of workers at the same plans: then it is not chance


@dataclass(frozen=True)
class Charge:
    """What a worker needs: where the model lies, and the named parts of the examples that it judges on."""

    folder: str
    task: str
    settings: TaskSettings
    precision: str
    parts: dict[str, list[Record]]


class Judges(Protocol):
    def tallies(self, part: str, plans: Sequence[Plan]) -> list[np.ndarray]:
        """(examples of the part, k) a plan."""

    def close(self) -> None: ...


class Here:
    """This process, for a model that is open already."""

    def __init__(self, juries: dict[str, Any]) -> None:
        self.juries = juries

    def tallies(self, part: str, plans: Sequence[Plan]) -> list[np.ndarray]:
        return self.juries[part].tallies(plans)

    def close(self) -> None:
        """Nothing is held."""


class Processes:
    """`n` processes on this machine."""

    def __init__(self, charge: Charge, n: int, say: Callable[[str], None]) -> None:
        self.charge, self.n, self.say = charge, n, say
        self.said = False
        self.pool = self._made()

    def _made(self) -> ProcessPoolExecutor:
        return ProcessPoolExecutor(self.n, multiprocessing.get_context("spawn"), _open, (self.charge,))

    def tallies(self, part: str, plans: Sequence[Plan]) -> list[np.ndarray]:
        found: list[Any] = [None] * len(plans)
        deaths, waiting = 0, shares(plans, self.n * SHARES)
        while waiting:
            futures = [(own, self.pool.submit(_judge, part, [plans[i] for i in own])) for own in waiting]
            waiting = []
            for own, future in futures:
                try:
                    for i, tally in zip(own, future.result(), strict=True):
                        found[i] = tally
                except BrokenProcessPool:
                    waiting.append(own)
            if waiting:
                deaths += 1
                self._replace(deaths)
        return found

    def _replace(self, deaths: int) -> None:
        if deaths > DEATHS:
            raise AnyformerError(
                f"workers died {deaths} times over the same plans (is there memory for {self.n} of them?): "
                "search with fewer --workers and --resume"
            )
        if not self.said:
            self.say("a worker died; its plans are judged again")
            self.said = True
        self.pool.shutdown(wait=False, cancel_futures=True)
        self.pool = self._made()

    def close(self) -> None:
        self.pool.shutdown(wait=True, cancel_futures=True)


class RayWorkers:
    """`n` tasks at a time on the Ray cluster that `ray.init` finds, or on one that it starts here."""

    def __init__(self, charge: Charge, n: int, say: Callable[[str], None]) -> None:
        try:
            import ray
        except ImportError:
            raise MissingExtra("--workers ray needs Ray: pip install 'anyformer[ray]'") from None
        self.ray = ray
        self.started = not ray.is_initialized()
        if self.started:
            ray.init(log_to_driver=False, include_dashboard=False, ignore_reinit_error=True)
        actor = ray.remote(num_cpus=1, max_restarts=DEATHS, max_task_retries=DEATHS)(Worker)
        self.actors = [actor.remote(charge) for _ in range(n)]

    def tallies(self, part: str, plans: Sequence[Plan]) -> list[np.ndarray]:
        parts = shares(plans, len(self.actors) * SHARES)
        calls = [
            self.actors[k % len(self.actors)].judge.remote(part, [plans[i] for i in own]) for k, own in enumerate(parts)
        ]
        found: list[Any] = [None] * len(plans)
        for own, tallies in zip(parts, self.ray.get(calls), strict=True):
            for i, tally in zip(own, tallies, strict=True):
                found[i] = tally
        return found

    def close(self) -> None:
        for actor in self.actors:
            self.ray.kill(actor)
        if self.started:
            self.ray.shutdown()


class Worker:
    """One worker: a model, and a jury for each part."""

    def __init__(self, charge: Charge) -> None:
        import torch
        from transformers.utils import logging

        from anyformer.model import load
        from anyformer.search.score import Jury
        from anyformer.tasks.find import labels_of_model, task_for

        torch.set_num_threads(1)
        logging.disable_progress_bar()
        model = load(charge.folder)
        labels = labels_of_model(charge.task, model.config)
        task = task_for(charge.task, model.tokenizer, labels, model.config, charge.settings)
        self.juries = {name: Jury(model, task, records, charge.precision) for name, records in charge.parts.items()}

    def judge(self, part: str, plans: Sequence[Plan]) -> list[np.ndarray]:
        return self.juries[part].tallies(plans)


_WORKER: list[Worker] = []  # of a process of the pool


def _open(charge: Charge) -> None:
    _WORKER[:] = [Worker(charge)]


def _judge(part: str, plans: Sequence[Plan]) -> list[np.ndarray]:
    return _WORKER[0].judge(part, plans)


def shares(plans: Sequence[Plan], n: int) -> list[list[int]]:
    """Numbers of plans in n parts of about equal size; plans that begin alike stay together."""
    order = sorted(range(len(plans)), key=lambda i: plans[i].keep)
    size = max(1, -(-len(order) // n))
    return [order[at : at + size] for at in range(0, len(order), size)]
