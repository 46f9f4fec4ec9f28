"""What every command shares: help, exit codes, one line for a mistake."""

import os
import subprocess
import sys

import pytest

from anyformer import __version__
from anyformer.cli import main as entry
from anyformer.cli.main import NAMES, commands
from anyformer.errors import AnyformerError


@pytest.mark.parametrize("name", NAMES)
def test_every_command_has_help_with_an_example(anyformer, name):
    said = anyformer(name, "--help")
    assert said.code == 0
    assert f"usage: anyformer {name}" in said.out
    assert f"example:\n  anyformer {name}" in said.out
    assert "--json" in said.out
    assert "--quiet" in said.out


@pytest.mark.parametrize("command", commands(), ids=lambda command: command.name)
def test_the_examples_are_calls_that_can_be_parsed(command):
    import shlex

    for line in command.example.splitlines():
        argv = shlex.split(line)[1:]
        assert entry.parser(argv).parse_args(argv).command is command


def test_help_names_every_command(anyformer):
    said = anyformer("--help")
    assert said.code == 0
    assert all(command.name in said.out and command.summary[:30] in said.out for command in commands())


def test_the_version_is_told(anyformer):
    assert anyformer("--version").out == f"anyformer {__version__}\n"


def test_help_loads_neither_torch_nor_numpy():
    heavy = "{'torch', 'transformers', 'numpy'} & set(sys.modules)"
    code = f"import sys; from anyformer.cli.main import main; main(['--help']); assert not {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)


@pytest.mark.parametrize(
    ("argv", "words"),
    [
        ((), "name a command: demo, "),
        (("pretend",), "invalid choice: 'pretend'"),
        (("predict",), "required: DIR"),
        (("evaluate", "x"), "required: --data"),
        (("predict", "x", "--text", "a", "--wat"), "unrecognized arguments: --wat"),
        (("predict", "x", "--text", "a", "--threads", "0"), "whole number of at least 1"),
        (("demo", "--minutes", "nan"), "not a number above 0"),
        (("predict", "x", "--text", "a", "--device", "tpu"), "invalid choice: 'tpu'"),
        (("predict", "x", "--text", "a", "--precision", "int8"), "int8 needs an engine"),
        (("predict", "x", "--text", "a", "--budget", "40"), "has no unit"),
    ],
)
def test_a_mistake_in_the_flags_is_one_line(anyformer, argv, words):
    assert words in anyformer(*argv).mistake


def _raising(monkeypatch, error):
    def run(argv):
        raise error

    monkeypatch.setattr(entry, "run", run)


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (KeyboardInterrupt(), 130, "anyformer doctor: stopped by Ctrl-C"),
        (AnyformerError("one\n  line"), 2, "anyformer doctor: one line"),
        (FileNotFoundError(2, "No such file or directory", "a.json"), 2, "a.json: No such file or directory"),
        (TypeError("odd"), 1, "a defect of anyformer (TypeError: odd)"),
    ],
)
def test_whatever_goes_wrong_ends_in_one_line(anyformer, monkeypatch, error, code, words):
    _raising(monkeypatch, error)
    said = anyformer("doctor")
    assert said.code == code
    assert words in said.err
    assert len(said.err.splitlines()) == 1


def test_a_defect_shows_where_when_asked_to(anyformer, monkeypatch):
    _raising(monkeypatch, TypeError("odd"))
    monkeypatch.setenv(entry.TRACEBACK, "1")
    with pytest.raises(TypeError):
        anyformer("doctor")


@pytest.mark.parametrize("name", NAMES)
def test_help_can_be_said_in_plain_ascii(name):
    command = [sys.executable, "-m", "anyformer", name, "--help"]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=os.environ | {"PYTHONIOENCODING": "ascii"})


def test_a_reader_that_goes_away_is_no_mistake():
    command = [sys.executable, "-m", "anyformer", "doctor"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=os.environ.copy())
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == entry.CLOSED_PIPE
