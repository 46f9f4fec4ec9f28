"""The package itself: its public names, found on first use."""

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import anyformer

ROOT = Path(__file__).parents[2]


def test_dir_lists_every_public_name():
    assert set(anyformer.__all__) <= set(dir(anyformer))


def test_a_name_that_does_not_exist_is_an_attribute_error():
    with pytest.raises(AttributeError, match="'anyformer' has no attribute 'nothing'"):
        _ = anyformer.nothing


def test_the_version_is_the_projects():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert anyformer.__version__ == project["version"]


def test_importing_the_module_pipeline_leaves_the_function_in_place():
    code = "import anyformer.pipeline, anyformer; assert callable(anyformer.pipeline), anyformer.pipeline"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT / "src")


def test_importing_the_package_train_leaves_the_function_in_place():
    code = "import anyformer.train.config, anyformer; assert callable(anyformer.train), anyformer.train"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT / "src")
