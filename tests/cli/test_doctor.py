"""`anyformer doctor`: what it finds, and that it names every extra."""

import tomllib
from pathlib import Path

from anyformer.cli import doctor, machine

PROJECT = Path(__file__).parents[2] / "pyproject.toml"


def test_doctor_says_what_is_there_in_words_and_as_json(anyformer):
    said = anyformer("doctor")
    assert said.code == 0
    assert all(word in said.out for word in ("torch", "CPU", "threads", "extra demo"))
    found = anyformer("doctor", "--json").json
    assert set(found) >= {"versions", "cpu", "gpus", "threads", "caches", "extras"}
    assert found["cpu"]["cores"] >= 1


def test_doctor_knows_every_extra():
    extras = tomllib.loads(PROJECT.read_text())["project"]["optional-dependencies"]
    assert set(doctor.EXTRAS) == set(extras)
    for name, packages in extras.items():
        assert len(doctor.EXTRAS[name][0]) == len(packages)


def test_a_missing_extra_says_what_it_would_add():
    line = doctor._extra("onnx", {"installed": False, "missing": ["onnx"], "adds": "ONNX"})
    assert line.endswith('not there (lacks onnx): pip install "anyformer[onnx]" adds ONNX')


def test_features_are_told_in_words():
    assert machine.features({"avx2", "avx512f", "amx_bf16", "sse"}) == ["AVX2", "AVX-512", "AMX bf16"]
    assert "AMX" in machine.bf16_in_words(["AVX2", "AMX bf16"])
    assert "fp32 is the faster" in machine.bf16_in_words(["AVX2"])
