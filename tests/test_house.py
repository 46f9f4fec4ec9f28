"""The house rules, as tests: sizes, import direction, names, what code must not do, what text must not say."""

import ast
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import anyformer

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "anyformer"

# Reading order: a file imports only from its own layer and those before it.
LAYERS = (
    *("errors", "plan", "budget", "pareto", "frontier", "card", "rows", "length", "cost", "backbones", "depth", "run"),
    *("heads", "embedded", "folder", "model", "engine", "data", "tasks", "pipeline"),
    *("train", "search", "export", "serve", "report", "bench", "cli"),
)
VALUES = ("errors", "plan", "budget", "pareto", "frontier")
DRAWERS = {"utils", "util", "helpers", "helper", "misc", "common"}
UNPICKLERS = {"pickle", "cPickle", "_pickle", "dill", "cloudpickle", "joblib", "shelve", "marshal"}
MOST_LINES, MOST_CODE_LINES, MOST_PARAMETERS = 300, 60, 8
LONGEST_IMPORT_S = 0.3

SOURCES = sorted(PACKAGE.rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TEXTS = {".md", ".py", ".toml", ".txt", ".sh", ".yml", ".yaml", ".cfg", ".json", ".html", ".css", ".js", ""}
OURS = ("src", "tests", "docs", "runs", ".ci")
MACHINE_PATH = re.compile(r"(?<![\w./-])/(?:work|tmp|root|farm|home|Users)/")

Function = ast.FunctionDef | ast.AsyncFunctionDef


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    """src/anyformer/length/drop.py -> length.drop; a package is its __init__.py."""
    parts = path.relative_to(PACKAGE).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" and len(parts) > 1 else parts)


MODULES = {name_of(path): path for path in SOURCES}
LAYERED = [name for name in MODULES if name not in ("__init__", "__main__")]


def functions(path: Path) -> Iterator[Function]:
    return (node for node in ast.walk(tree_of(path)) if isinstance(node, Function))


def code_lines(function: Function, lines: list[str]) -> int:
    """Lines of a function that are neither blank, nor comment, nor its docstring."""
    first = function.body[0]
    is_text = (
        isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant) and isinstance(first.value.value, str)
    )
    text = range(first.lineno, first.end_lineno + 1) if is_text else ()
    span = range(function.lineno, function.end_lineno + 1)
    return sum(i not in text and not lines[i - 1].strip().startswith("#") and bool(lines[i - 1].strip()) for i in span)


def n_parameters(function: Function) -> int:
    of = function.args
    named = [argument.arg for argument in (*of.posonlyargs, *of.args, *of.kwonlyargs)]
    return sum(name not in ("self", "cls") for name in named) + bool(of.vararg) + bool(of.kwarg)


def runtime_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All nodes but those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test)):
            yield child
            yield from runtime_nodes(child)


def imported(path: Path) -> set[str]:
    """Names of our modules that a file imports, in functions too: length.drop, not anyformer.length.drop."""
    found = set()
    for node in runtime_nodes(tree_of(path)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {module_of(name.removeprefix("anyformer.")) for name in found if name.startswith("anyformer.")} - {
        "__init__"
    }


def module_of(name: str) -> str:
    """The module that holds a dotted name: length.drop.select -> length.drop, a public name its home."""
    name = anyformer._HOME.get(name, name)
    while name and name not in MODULES:
        name = name.rpartition(".")[0]
    return name or "__init__"


def run_python(code: str) -> float:
    """Seconds that a fresh interpreter takes for the code, which must succeed."""
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True, env=os.environ | {"PYTHONPATH": str(ROOT / "src")})
    return time.perf_counter() - start


def our_texts() -> list[Path]:
    top = [path for path in ROOT.iterdir() if path.is_file() and path.name != ".git"]
    below = [path for folder in OURS for path in (ROOT / folder).rglob("*") if path.is_file()]
    return [path for path in top + below if path.suffix in TEXTS and "__pycache__" not in path.parts]


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_files_and_functions_are_short(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    for function in functions(path):
        assert code_lines(function, lines) <= MOST_CODE_LINES, f"{function.name} is too long"
        assert n_parameters(function) <= MOST_PARAMETERS, f"{function.name} has too many parameters"


@pytest.mark.parametrize("name", LAYERED)
def test_a_file_imports_only_from_layers_above_it(name):
    own = name.partition(".")[0]
    assert own in LAYERS, f"{own} has no place in the reading order: name it in LAYERS"
    for other in imported(MODULES[name]):
        layer = other.partition(".")[0]
        assert LAYERS.index(layer) <= LAYERS.index(own), f"{name} imports {other}, which stands below it"


def test_no_import_goes_round():
    TopologicalSorter({name: imported(MODULES[name]) - {name} for name in LAYERED}).prepare()


def test_no_file_is_a_drawer():
    parts = {part for path in SOURCES + TESTS for part in path.relative_to(ROOT).with_suffix("").parts}
    assert not parts & DRAWERS


@pytest.mark.parametrize("name", MODULES)
def test_nothing_is_unpickled_evaluated_or_asked_what_it_has(name):
    for node in ast.walk(tree_of(MODULES[name])):
        if isinstance(node, ast.Name):
            assert node.id not in ("eval", "exec", "hasattr"), f"line {node.lineno}"
        if isinstance(node, ast.Attribute):
            assert ast.unparse(node) != "torch.load", f"line {node.lineno}"
        if isinstance(node, ast.Import | ast.ImportFrom):
            roots = {(getattr(node, "module", None) or alias.name).partition(".")[0] for alias in node.names}
            assert not roots & UNPICKLERS, f"line {node.lineno}"


@pytest.mark.parametrize("name", MODULES)
def test_a_module_opens_by_saying_what_it_is(name):
    tree = tree_of(MODULES[name])
    assert ast.get_docstring(tree) or not tree.body


@pytest.mark.parametrize("name", MODULES)
def test_a_list_of_public_names_is_sorted(name):
    for node in tree_of(MODULES[name]).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            names = ast.literal_eval(node.value)
            assert names == sorted(set(names))


def test_the_public_names_are_complete_and_each_can_be_imported():
    shown = [node for node in tree_of(MODULES["__init__"]).body if isinstance(node, ast.If)]
    declared = {alias.name for block in shown for line in block.body for alias in line.names}
    assert set(anyformer.__all__) == declared | {"__version__"}
    for name in anyformer.__all__:
        assert getattr(anyformer, name) is not None


def test_the_values_import_without_torch():
    modules = ", ".join(f"anyformer.{name}" for name in VALUES)
    heavy = "{'torch', 'transformers', 'numpy'} & set(sys.modules)"
    run_python(f"import sys, anyformer, {modules}; anyformer.Frontier, dir(anyformer); assert not {heavy}, {heavy}")


def test_importing_anyformer_is_quick():
    bare = min(run_python("pass") for _ in range(5))
    ours = min(run_python("import anyformer") for _ in range(5))
    assert ours - bare < LONGEST_IMPORT_S


def test_no_text_names_a_path_of_one_machine():
    for path in our_texts():
        found = MACHINE_PATH.search(path.read_text(encoding="utf-8", errors="ignore"))
        assert found is None, f"{path.relative_to(ROOT)}: {found.group()}"


@pytest.mark.parametrize("command", ["make demo", "make test"])
def test_the_readme_names_the_two_commands(command):
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
