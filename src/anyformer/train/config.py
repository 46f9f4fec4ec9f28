"""Settings of a training: how a stage learns, and how any stage is run. Frozen, checked when made, one TOML file."""

import dataclasses
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyformer.errors import AnyformerError


class SettingsError(AnyformerError, ValueError):
    """A setting that cannot be; names it, and what it may be."""


def setting(default: Any, text: str, choices: tuple[str, ...] = ()) -> Any:
    return field(default=default, metadata={"help": text, "choices": choices})


LEAST = {"n_random": 0, "batch_rows": 1, "batch_tokens": 1, "accumulate": 1, "evals_per_epoch": 1}
ABOVE_ZERO = {"learning_rate", "temperature", "clip", "floor"}
SHARES = {"warmup", "p", "layerdrop_p", "floor"}


def check(section: Any) -> None:
    """Types by the defaults', numbers by their ranges, words by their choices."""
    for one in dataclasses.fields(section):
        value, wanted = getattr(section, one.name), type(one.default)
        if wanted is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
            object.__setattr__(section, one.name, value)
        if type(value) is not wanted:
            raise SettingsError(f"{one.name} is {value!r}: it must be of type {wanted.__name__}")
        choices = one.metadata["choices"]
        if choices and value not in choices:
            raise SettingsError(f"{one.name} is {value!r}; choose one of {', '.join(choices)}")
        if isinstance(value, int | float) and not isinstance(value, bool) and not _in_range(one.name, value):
            raise SettingsError(f"{one.name} is {value!r}, out of its range: {one.metadata['help']}")


def _in_range(name: str, value: float) -> bool:
    if name in SHARES and not value < 1:
        return False
    return value > 0 if name in ABOVE_ZERO else value >= LEAST.get(name, 0)


@dataclass(frozen=True)
class FineTune:
    """The first stage: ordinary fine-tuning, with ramps along where they are wanted."""

    epochs: float = setting(3.0, "passes over the training data; 0 skips the stage")
    learning_rate: float = setting(5e-5, "peak learning rate")
    warmup: float = setting(0.06, "share of the steps in which the rate rises; it falls linearly after that")
    weight_decay: float = setting(0.0, "decoupled weight decay of matrices")
    ramps: str = setting(
        "auto", "exit heads trained along: auto is on where they pay (qa, tagging)", ("auto", "on", "off")
    )
    ramp_weight: float = setting(0.5, "weight of the ramps' mean loss beside the model's own")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Adapt:
    """The second stage: LengthDrop and LayerDrop under the sandwich rule with in-place distillation."""

    epochs: float = setting(2.0, "passes over the training data; 0 skips the stage")
    learning_rate: float = setting(5e-5, "peak learning rate")
    warmup: float = setting(0.06, "share of the steps in which the rate rises; it falls linearly after that")
    weight_decay: float = setting(0.0, "decoupled weight decay of matrices")
    space: str = setting("both", "sub-models drop at every layer, at one to three, or either", ("every", "few", "both"))
    p: float = setting(0.2, "largest share of tokens that a layer drops (every)")
    floor: float = setting(0.125, "smallest share of tokens that is left (few)")
    n_random: int = setting(2, "random sub-models a step, beside the smallest")
    kl: str = setting("forward", "KL(teacher‖student) is forward, KL(student‖teacher) reverse", ("forward", "reverse"))
    temperature: float = setting(1.0, "softens teacher and student")
    layerdrop: str = setting("students", "who skips layers", ("students", "all", "none"))
    layerdrop_p: float = setting(0.2, "chance that a layer is skipped")
    score: str = setting(
        "auto", "what ranks tokens: auto is ramp where there are ramps", ("auto", "attention", "ramp", "both")
    )
    ramp_weight: float = setting(0.5, "weight of the ramps' mean loss beside the full model's")

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class Run:
    """How either stage is run."""

    seed: int = setting(0, "of data order, dropout, draws and new heads")
    batch_rows: int = setting(32, "most rows of a micro-batch")
    batch_tokens: int = setting(16384, "most tokens of a micro-batch, as its longest row times its rows")
    accumulate: int = setting(1, "micro-batches a step, on each process")
    clip: float = setting(1.0, "largest norm of a step's gradient")
    precision: str = setting("auto", "auto is bf16 where the device computes in it", ("auto", "fp32", "bf16"))
    dropout: str = setting("on", "the checkpoint's own dropout of hidden states and attention", ("on", "off"))
    checkpointing: bool = setting(False, "recompute activations in the backward pass: less memory, more time")
    eval_rows: int = setting(2000, "validation records that an evaluation reads at most; 0 reads all")
    evals_per_epoch: int = setting(1, "evaluations in an epoch")
    save_every: int = setting(500, "steps between two checkpoints that a resumed run continues from; 0 keeps none")
    max_length: int = setting(0, "tokens of a text; 0 takes the task's own limit")
    report_to: str = setting("none", "a tracker, as accelerate names it", ("none", "tensorboard", "wandb", "all"))

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True)
class TrainSettings:
    """A whole training."""

    finetune: FineTune = FineTune()
    adapt: Adapt = Adapt()
    run: Run = Run()

    def to_dict(self) -> dict[str, dict[str, Any]]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Mapping[str, Any]]) -> "TrainSettings":
        return cls().with_changes(data)

    def with_changes(self, data: Mapping[str, Mapping[str, Any]]) -> "TrainSettings":
        """The same with {section: {name: value}} over it."""
        sections = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        for name, values in data.items():
            if name not in sections:
                raise SettingsError(f"section {name!r} is not known; a training has {', '.join(sections)}")
            sections[name] = _changed(sections[name], name, values)
        return TrainSettings(**sections)


PAPER: dict[str, dict[str, Any]] = {
    "finetune": {"ramps": "off", "warmup": 0.0},
    "adapt": {
        "epochs": 5.0,
        "space": "every",
        "kl": "reverse",
        "layerdrop": "all",
        "score": "attention",
        "warmup": 0.0,
    },
}
RECIPES = {"default": {}, "paper": PAPER}


def read_toml(path: Path) -> dict[str, Any]:
    """A settings file, checked by what reads it."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise SettingsError(f"{path} is not there: a settings file in TOML was expected") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not TOML: {error}") from None


def _changed(section: Any, name: str, values: Any) -> Any:
    known = {f.name for f in dataclasses.fields(section)}
    if not isinstance(values, Mapping):
        raise SettingsError(f"[{name}] must be a table of settings; it has {', '.join(sorted(known))}")
    for key in values:
        if key not in known:
            raise SettingsError(f"[{name}] has no setting {key!r}; it has {', '.join(sorted(known))}")
    return dataclasses.replace(section, **values)
