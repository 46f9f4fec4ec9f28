"""From the flags of a command to a model that is ready to run: budget read first, libraries silenced, device and
precision set. Stands between options.py and the commands that run a model."""

from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from anyformer.budget import Budget
from anyformer.cli.console import Console
from anyformer.cli.options import device_of, local, set_threads, settings_from
from anyformer.embedded import resolve_model
from anyformer.errors import AnyformerError
from anyformer.folder import ABOUT

if TYPE_CHECKING:
    from anyformer.pipeline import Pipeline

HUB_TIMEOUT_S = 10.0


def open_pipeline(args: Namespace, console: Console) -> "Pipeline":
    check_precision(args.precision)
    budget = None if args.budget is None else Budget.parse(args.budget)
    silence()
    import torch

    from anyformer.pipeline import open_model, pipeline, task_of
    from anyformer.tasks import TaskSettings

    go_offline_without_a_hub(args.model)
    settings = settings_from(args, TaskSettings)
    device = device_of(args.device)
    set_threads(args.threads)
    model = open_model(args.model, args.task)
    task_of(model, args.task)
    model.to(device, torch.bfloat16 if args.precision == "bf16" else torch.float32)
    kind = type(model.hf).__name__
    if kind not in (model.config.architectures or ()):
        console.warn(f"{args.model} has no trained head, so what its {kind} says is random until it is trained")
    folder = local(args.model)
    pipe = pipeline(model, None, args.task, settings=settings)
    pipe = pipe.under(budget, folder if (folder / ABOUT).is_file() else None)
    if pipe.held is not None:
        held, share = pipe.held, f"{pipe.held.point.macs_ratio:.0%} of the MACs"
        times = f"promised {held.promised_ms:.3g} ms, measured {held.measured_ms:.3g} ms a text"
        console.note(f"{budget}: {share}, {times}")
    return pipe


def check_precision(name: str) -> None:
    if name == "int8":
        raise AnyformerError("precision int8 needs an engine that this version does not have: use fp32 or bf16")


def silence() -> None:
    """No reports and no bars of the libraries between ours."""
    from huggingface_hub.utils import disable_progress_bars
    from transformers.utils import logging

    disable_progress_bars()
    logging.set_verbosity_error()
    logging.disable_progress_bar()


def go_offline_without_a_hub(name: str) -> None:
    """Asks the hub once where a name may be one of its own: out of reach means the cache, at once, where the library
    would try again for a minute at every file."""
    from huggingface_hub import constants
    from huggingface_hub.utils import get_session

    if constants.HF_HUB_OFFLINE or Path(resolve_model(name)).expanduser().exists() or name.startswith((".", "~", "/")):
        return
    try:
        get_session().head(constants.ENDPOINT, timeout=HUB_TIMEOUT_S)
    except Exception:  # whatever the HTTP library raises
        constants.HF_HUB_OFFLINE = True
