"""Flags made from settings, columns, devices."""

from argparse import ArgumentParser
from dataclasses import dataclass, field

import pytest
import torch

from anyformer.cli import options
from anyformer.data.columns import TARGETS, USUAL
from anyformer.errors import AnyformerError
from anyformer.folder import HEADS


@dataclass(frozen=True)
class Settings:
    epochs: float = field(default=3.0, metadata={"help": "passes, 100% of them"})
    rows: int | None = field(default=None, metadata={"help": "of a batch"})
    kind: str = field(default="every", metadata={"help": "which plans", "choices": ("every", "few")})
    resume: bool = field(default=False, metadata={"help": "go on"})


def parsed(*argv):
    parser = ArgumentParser()
    options.add_settings_flags(parser, Settings, "settings")
    assert "passes, 100% of them (default: 3.0)" in " ".join(parser.format_help().split())
    return options.settings_from(parser.parse_args(argv), Settings)


def test_a_flag_overrides_a_field_and_the_rest_keep_their_defaults():
    assert parsed() == Settings()
    assert parsed("--epochs", "0.5", "--rows", "8", "--kind", "few", "--resume") == Settings(0.5, 8, "few", True)


def test_columns_are_those_of_the_tasks():
    known = {part for task, parts in USUAL.items() if task != "translation" for part in parts}
    assert {part.replace("-", "_") for part in options.PARTS} == known
    assert set(options.TARGETS) == {target for task, target in TARGETS.items() if task != "translation"}


def test_tasks_are_those_that_have_heads():
    assert set(options.TASKS) == set(HEADS)


def test_only_named_columns_override():
    parser = ArgumentParser()
    options.add_column_flags(parser)
    args = parser.parse_args(["--text-pair-column", "b"])
    assert options.named_columns(args) == {"text_pair": "b"}


def test_a_device_that_is_not_there_is_refused(monkeypatch):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: False)
    assert options.device_of("auto") == "cpu"
    with pytest.raises(AnyformerError, match="PyTorch finds cpu"):
        options.device_of("cuda")
