"""Folders -> splits: files named after their split (train.jsonl, dev.csv.xz), or images in one folder a class."""

from collections.abc import Iterator
from pathlib import Path

from anyformer.data.files import has_known_ending
from anyformer.data.records import Record
from anyformer.errors import DataError

SPLITS = {
    "train": ("train", "training"),
    "validation": ("validation", "dev", "val", "valid", "eval", "validation_matched"),
    "test": ("test",),
}
IMAGES = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff")


def folder_splits(folder: Path) -> dict[str, Path]:
    """Split names and what holds them: a file, or a folder of class folders; `all` is a folder without splits."""
    inside = sorted(p for p in folder.iterdir() if not p.name.startswith("."))
    found = {
        name: p
        for p in inside
        if (name := split_named(p.name.partition(".")[0])) and (p.is_dir() or has_known_ending(p.name))
    }
    if found:
        return found
    if any(p.is_dir() for p in inside):
        return {"all": folder}
    raise DataError(
        f"{folder}: a folder of data holds files named after their split (train.jsonl, validation.csv.gz) "
        f"or one folder of images a class; found {', '.join(p.name for p in inside[:8]) or 'nothing'}"
    )


def split_named(name: str) -> str | None:
    """`validation` for dev, val, …; None for a name that no split has."""
    return next((split for split, names in SPLITS.items() if name.lower() in names), None)


def stream_images(folder: Path) -> Iterator[Record]:
    """One record an image, labelled with the name of its folder; folders and images in the order of their names."""
    empty = True
    for one in sorted(p for p in folder.iterdir() if p.is_dir()):
        for image in sorted(p for p in one.rglob("*") if p.suffix.lower() in IMAGES):
            empty = False
            yield {"image": str(image), "label": one.name}
    if empty:
        raise DataError(f"{folder}: no image in its folders; images end in {' '.join(IMAGES)}")
