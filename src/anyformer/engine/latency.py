"""Milliseconds of a plan: predicted from a table of layer times, which costs nothing a plan, or measured.

The table holds what an attention block, a drop, a feed-forward block and all the rest take at some lengths, one row at
a time; a plan is the sum of its parts at the lengths that reach them. Measured: rows of the lengths that the frontier
was reported on, one at a time, plans in turn, the median over rows.
"""

import json
import os
import time
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from statistics import fmean, median

import torch

from anyformer.budget import Budget
from anyformer.engine.packed import packed
from anyformer.folder import seal
from anyformer.frontier import Frontier, Point
from anyformer.model import AdaptiveModel
from anyformer.plan import Plan
from anyformer.rows import Rows
from anyformer.run import State, attention_block, feed_forward, leave, ranking

LATENCIES = "latency.json"
TOLERANCE = 1.1  # a promised latency holds if it is not exceeded by more than this
LENGTHS = (4, 8, 16, 32, 64, 128, 192, 256, 384, 512)
REPEATS = 9
ROUNDS = 5  # measurements of a plan at a length
QUANTILES = 9  # lengths that stand for a set of examples


@dataclass(frozen=True)
class LayerTable:
    """Milliseconds at `lengths` tokens: of an attention block, of one that ranks and drops, of a feed-forward block,
    and of all that is not layers."""

    lengths: tuple[int, ...]
    attend: tuple[float, ...]
    drop: tuple[float, ...]
    feed: tuple[float, ...]
    rest: tuple[float, ...]

    def plan_ms(self, plan: Plan, n_tokens: int) -> float:
        total, now = self._at(self.rest, n_tokens), n_tokens
        counts = plan.counts(n_tokens)
        for i in plan.running:
            total += self._at(self.attend if counts[i] == now else self.drop, now) + self._at(self.feed, counts[i])
            now = counts[i]
        return total

    def _at(self, column: Sequence[float], n: int) -> float:
        """Between two lengths in proportion; beyond the last, as that one."""
        k = min(bisect_left(self.lengths, n), len(self.lengths) - 1)
        if k == 0 or n >= self.lengths[k]:
            return column[k]
        share = (n - self.lengths[k - 1]) / (self.lengths[k] - self.lengths[k - 1])
        return column[k - 1] + share * (column[k] - column[k - 1])


def latency_cost(table: LayerTable, lengths: Sequence[int]) -> Callable[[Plan], float]:
    """The mean over rows of typical lengths."""
    typical, known = quantiles(lengths), {}

    def cost(plan: Plan) -> float:
        if plan not in known:
            known[plan] = fmean(table.plan_ms(plan, n) for n in typical)
        return known[plan]

    return cost


def layer_table(model: AdaptiveModel, longest: int, score: str, kept: Path | None = None) -> LayerTable:
    """Measured now, or as it was kept, so that a search goes on with the prices that it began with."""
    if kept is not None and kept.is_file():
        return LayerTable(**{name: tuple(column) for name, column in json.loads(kept.read_text()).items()})
    lengths = (*(n for n in LENGTHS if n < longest), longest)
    quick = packed(model.eval())
    columns = [_timed(quick, n, score) for n in lengths]
    table = LayerTable(lengths, *zip(*columns, strict=True))
    if kept is not None:
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(asdict(table)))
    return table


@torch.inference_mode()
def _timed(model: AdaptiveModel, n: int, score: str) -> tuple[float, float, float, float]:
    """attend, drop, feed, rest at n tokens; the layer in the middle stands for all."""
    i, batch = model.n_layers // 2, row_of(model, n)
    rows = Rows.of(torch.ones(1, n, dtype=torch.bool, device=model.device))
    state = State(torch.randn(n, model.backbone.hidden, device=model.device, dtype=model.dtype), rows)
    plan = Plan.at({i: 0.5}, model.n_layers)
    plan = replace(plan, score=score)

    def drop() -> None:
        x, found = attention_block(model.backbone, i, state.x, rows, score != "ramp")
        leave(state, x, ranking(i, x, rows, found, plan, model.ramps), (max(1, n // 2),), model.reads)

    attend = timed(lambda: attention_block(model.backbone, i, state.x, rows, False), REPEATS)
    feed = timed(lambda: feed_forward(model.backbone, i, state.x), REPEATS)
    whole = timed(lambda: model.call(batch, Plan.full(model.n_layers)), REPEATS)
    return attend, timed(drop, REPEATS), feed, max(0.0, whole - model.n_layers * (attend + feed))


@torch.inference_mode()
def measured(model: AdaptiveModel, frontier: Frontier) -> Frontier:
    """The frontier with the milliseconds of its points on this device."""
    model.eval()
    batches = [row_of(model, n) for n in frontier.lengths]
    found: list[list[list[float]]] = [[[] for _ in batches] for _ in frontier.points]
    quick = packed(model)
    for turn in range(ROUNDS + 1):
        for b, batch in enumerate(batches):
            for p, point in enumerate(frontier.points):
                taken = timed(partial(quick.call, batch, point.plan), 1)
                if turn:  # the first is warm-up
                    found[p][b].append(taken)
    each = [median(median(of_row) for of_row in rows) for rows in found]
    points = tuple(replace(p, latency_ms=ms) for p, ms in zip(frontier.points, each, strict=True))
    return replace(frontier, points=points, device=device_name(model))


@dataclass(frozen=True)
class Held:
    """A pick by milliseconds: what the table promised and what it took when it was measured again, by itself."""

    point: Point
    promised_ms: float
    measured_ms: float


def pick(model: AdaptiveModel, frontier: Frontier, budget: Budget) -> tuple[Held, Frontier]:
    """The pick for a budget in milliseconds, verified on this device; and the frontier with its latencies here.

    A promise that does not hold within TOLERANCE corrects all of them by as much, and another point is picked.
    """
    here = frontier if frontier.device == device_name(model) else measured(model, frontier)
    while True:
        point = here.pick(budget)
        promised = point.latency_ms or 0.0
        taken = measured(model, replace(here, points=(point,))).points[0].latency_ms or 0.0
        if taken <= budget.limit * TOLERANCE or point == here.smallest:
            return Held(point, promised, taken), here
        here = _corrected(here, max(taken / promised, TOLERANCE))


def _corrected(frontier: Frontier, times: float) -> Frontier:
    points = tuple(replace(point, latency_ms=(point.latency_ms or 0.0) * times) for point in frontier.points)
    return replace(frontier, points=points)


def read_latencies(folder: Path, frontier: Frontier, device: str) -> Frontier:
    """The frontier with what was once measured on this device, where every point of it was."""
    try:
        known = json.loads((folder / LATENCIES).read_text())["devices"][device]
        ms = {Plan.from_dict(one["plan"]): float(one["latency_ms"]) for one in known}
        points = tuple(replace(point, latency_ms=ms[point.plan]) for point in frontier.points)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return frontier
    return replace(frontier, points=points, device=device)


def keep_latencies(folder: Path, frontier: Frontier) -> bool:
    """Beside what was measured on other devices; False where the folder cannot be written to."""
    file = folder / LATENCIES
    try:
        stored = json.loads(file.read_text())["devices"]
    except (OSError, ValueError, KeyError, TypeError):
        stored = {}
    stored[frontier.device] = [{"plan": p.plan.to_dict(), "latency_ms": p.latency_ms} for p in frontier.points]
    try:
        beside = file.with_name(f".{file.name}.new")
        beside.write_text(json.dumps({"schema": 1, "devices": stored}, indent=1) + "\n")
        os.replace(beside, file)
        seal(folder)
    except OSError:
        return False
    return True


def row_of(model: AdaptiveModel, n: int) -> dict[str, torch.Tensor]:
    """A row of n tokens of no meaning: what a plan takes depends on their number only."""
    if model.kind != "states" and model.backbone.base.main_input_name == "pixel_values":
        size = model.config.image_size
        return {"pixel_values": torch.zeros(1, model.config.num_channels, size, size, device=model.device)}
    generator = torch.Generator().manual_seed(n)
    ids = torch.randint(0, model.config.vocab_size, (1, n), generator=generator)
    return {"input_ids": ids.to(model.device), "attention_mask": torch.ones_like(ids).to(model.device)}


def quantiles(lengths: Sequence[int]) -> list[int]:
    ordered = sorted(lengths)
    return [ordered[int((k + 0.5) / QUANTILES * len(ordered))] for k in range(QUANTILES)]


def timed(call: Callable[[], object], repeats: int) -> float:
    """The median, in milliseconds."""
    taken = []
    for _ in range(repeats):
        started = time.perf_counter()
        call()
        if torch.cuda.is_available():
            torch.cuda.synchronize()
        taken.append((time.perf_counter() - started) * 1e3)
    return median(taken)


def device_name(model: AdaptiveModel) -> str:
    """What milliseconds were measured on: device, threads, precision."""
    import platform

    if model.device.type == "cuda":
        return f"{torch.cuda.get_device_name(model.device)}, {str(model.dtype).removeprefix('torch.')}"
    features = torch.backends.cpu.get_cpu_capability()
    amx = ", AMX" if torch.cpu._is_amx_tile_supported() else ""
    threads, dtype = torch.get_num_threads(), str(model.dtype).removeprefix("torch.")
    return f"{platform.machine()} {features}{amx}, {threads} threads, {dtype}"
