"""Where a training runs: its device, its place among several processes, its precision, and what it says of itself."""

import math
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import Any

import torch
import torch.distributed as dist
from torch import Tensor, nn

from anyformer.errors import MissingExtra
from anyformer.train.checkpoint import TrainingError, flat, writing

SAY_EVERY_S = 10.0
RECORD = "the tracker's record"
Say = Callable[[str], None]


def say_to_stderr(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


class Process:
    """A thin hold on Accelerate: one process, or one of several that `torchrun` or `accelerate launch` started."""

    def __init__(self, device: str = "auto", report_to: str = "none", out: str | None = None, say: Say = say_to_stderr):
        try:
            from accelerate import Accelerator
        except ImportError:
            raise MissingExtra("training needs accelerate: pip install 'anyformer[train]'") from None
        log_with = trackers(report_to, out) or None
        self._accelerator = Accelerator(cpu=device == "cpu", log_with=log_with, project_dir=out)
        self.device: torch.device = self._accelerator.device
        self.rank, self.world = self._accelerator.process_index, self._accelerator.num_processes
        self.say = say if self.rank == 0 else (lambda line: None)
        self._tracks = log_with is not None
        self._steps = 0  # of the stages so far: a tracker's steps never go back
        if self.device.type == "cuda":
            torch.backends.cuda.enable_cudnn_sdp(False)  # it prepares a plan for every new shape, which texts all have

    def track(self, settings: dict[str, Any]) -> None:
        if self._tracks:
            with writing(RECORD):
                self._accelerator.init_trackers("anyformer", config=flat(settings))

    def log(self, values: dict[str, float], step: int) -> None:
        if self._tracks:
            with writing(RECORD):
                self._accelerator.log(values, step=step)

    def finish(self) -> None:
        if self._tracks:
            with writing(RECORD):
                self._accelerator.end_training()

    def autocast(self, precision: str) -> Callable[[], AbstractContextManager]:
        """bf16 where asked for, or where the device computes in it."""
        native = torch.cuda.is_bf16_supported() if self.device.type == "cuda" else _cpu_has_bf16()
        if precision == "fp32" or (precision == "auto" and not native):
            return nullcontext
        return partial(torch.autocast, self.device.type, torch.bfloat16)

    def sum(self, value: int) -> int:
        if self.world == 1:
            return value
        total = torch.tensor(value, device=self.device)
        dist.all_reduce(total)
        return int(total)

    def sum_gradients(self, model: nn.Module) -> None:
        """One message a step; a weight that no sub-model of this process used counts as zero."""
        if self.world == 1:
            return
        parameters = [p for p in model.parameters() if p.requires_grad]
        flat = torch.cat([(torch.zeros_like(p) if p.grad is None else p.grad).flatten() for p in parameters])
        dist.all_reduce(flat)
        for parameter, gradient in zip(parameters, flat.split([p.numel() for p in parameters]), strict=True):
            parameter.grad = gradient.view_as(parameter)

    def meter(self, stage: str, n_steps: int, done: int) -> "Meter":
        before, self._steps = self._steps, self._steps + n_steps
        return Meter(self, stage, n_steps, done, before)


class Meter:
    """Loss, rate and time left, every few seconds; a loss that is no number stops the run and names the step."""

    def __init__(self, process: Process, stage: str, n_steps: int, done: int, before: int) -> None:
        self._process, self._stage, self._n_steps, self._first = process, stage, n_steps, done
        self._before = before
        self._begun = self._said = time.monotonic()
        self._rows = 0
        self._pending: tuple[int, Tensor] | None = None

    def step(self, step: int, losses: Tensor, norm: Tensor, rows: int) -> None:
        self.check()  # the step before: this one may still be running on the device
        self._pending, self._rows = (step, losses.sum() + norm), self._rows + rows
        now = time.monotonic()
        if now - self._said >= SAY_EVERY_S or step == self._n_steps:
            self._said = now
            self._tell(step, losses.tolist(), now - self._begun)

    def check(self) -> None:
        if self._pending is None:
            return
        step, total = self._pending
        self._pending = None
        if not math.isfinite(total):
            raise TrainingError(
                f"the loss or its gradient is not a number at step {step} of stage {self._stage}: the last good "
                "checkpoint stays; a lower learning rate, or fp32, may help"
            )

    def _tell(self, step: int, losses: list[float], seconds: float) -> None:
        rate = self._rows / seconds
        left = seconds / max(1, step - self._first) * (self._n_steps - step)
        parts = f"loss {losses[0]:.4f}" + (f", students {losses[1]:.4f}" if losses[1] else "")
        self._process.say(
            f"{self._stage} {step}/{self._n_steps}: {parts}, {rate:.0f} rows/s, {left // 60:.0f}:{left % 60:02.0f} left"
        )
        self._process.log({f"{self._stage}/loss": losses[0], f"{self._stage}/students": losses[1]}, self._before + step)

    def evaluated(self, step: int, found: dict[str, float]) -> None:
        told = ", ".join(f"{name} {found[name]:.2f}" for name in ("full", "middle", "smallest"))
        self._process.say(f"{self._stage} {step}/{self._n_steps}: {told}")
        self._process.log({f"{self._stage}/{name}": score for name, score in found.items()}, self._before + step)


def trackers(report_to: str, out: str | None) -> list[str]:
    """Those asked for, all there: accelerate leaves out, without a word, what it does not find."""
    from accelerate.tracking import get_available_trackers

    there = [str(one) for one in get_available_trackers()]
    found = [name for name in there if report_to in (name, "all")]
    if not found and report_to != "none":
        package = "tensorboard" if report_to == "all" else report_to
        raise MissingExtra(f"report_to {report_to} finds no tracker: pip install {package}")
    if found and out is None:
        raise TrainingError(f"report_to {report_to} writes beside the model: say where the model goes (out)")
    return found


def _cpu_has_bf16() -> bool:
    return torch.cpu._is_avx512_bf16_supported() or torch.cpu._is_amx_tile_supported()
