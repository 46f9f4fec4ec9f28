"""Whatever a user names as data -> records. Files, folders, hub ids, embedded names, or records in memory.

A source offers splits; a file offers one, `all`, which serves as any. The embedded reviews are training reviews only,
so they are cut by content (see partition.py) into train, validation and test, 80/10/10: the same texts everywhere.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import Any

from anyformer import embedded
from anyformer.data.files import has_known_ending, stream_file
from anyformer.data.folders import folder_splits, split_named, stream_images
from anyformer.data.hub import hub_records, looks_like_hub_id, open_hub
from anyformer.data.partition import partition
from anyformer.data.records import Data, Record
from anyformer.errors import DataError

Source = str | Path | Sequence[Any] | Mapping[str, Any]
ALL = "all"
EMBEDDED_SHARES = {"train": 0.8, "validation": 0.1, "test": 0.1}


def read(source: Source, split: str = "train") -> Data:
    """The records of one split; a source without splits gives all it has."""
    splits = open_source(source)
    chosen = splits.get(split) or splits.get(ALL)
    if chosen is None:
        raise DataError(f"{name_of(source)} has no {split} split; found {', '.join(splits)}")
    return chosen()


def stream(source: Source, split: str = "test") -> Iterator[Record]:
    """The same, one record at a time: nothing of a file is held in memory but the record at hand."""
    if isinstance(source, str | Path) and source not in embedded.DATA and has_known_ending(str(source)):
        return stream_file(_path(source))
    return iter(read(source, split).records)


def open_source(source: Source) -> dict[str, Callable[[], Data]]:
    """The splits that a source offers, each read when it is called."""
    if isinstance(source, Mapping):
        return _named_splits({name: partial(_in_memory, part, name) for name, part in source.items()})
    if not isinstance(source, str | Path):
        return {ALL: partial(_several, source)}
    if source in embedded.DATA:
        return {split: partial(_embedded, str(source), split) for split in EMBEDDED_SHARES}
    path = _path(source)
    if path.is_dir():
        return {name: partial(_on_disk, part) for name, part in folder_splits(path).items()}
    if path.exists() or has_known_ending(path.name):
        return {ALL: partial(_on_disk, path)}
    return _hub_splits(str(source))


def name_of(source: Source) -> str:
    return str(source) if isinstance(source, str | Path) else "the data"


def _path(source: str | Path) -> Path:
    return Path(source).expanduser()


def _on_disk(path: Path) -> Data:
    return Data(list(stream_images(path) if path.is_dir() else stream_file(path)), path.name)


def _several(source: Iterable[Any]) -> Data:
    """A list of files, or records that are in memory."""
    if isinstance(source, list | tuple) and source and all(isinstance(one, str | Path) for one in source):
        parts = [stream_file(_path(one)) for one in source]
        return Data(list(chain.from_iterable(parts)), ", ".join(Path(one).name for one in source))
    return _in_memory(source, "the data")


def _in_memory(records: Iterable[Any], origin: str) -> Data:
    """A list of dicts, or a split of the library `datasets`."""
    if type(records).__module__.startswith("datasets."):
        return hub_records(records, origin)
    found = list(records)
    for i, record in enumerate(found):
        if not isinstance(record, Mapping):
            raise DataError(f"record {i + 1} of {origin} is {type(record).__name__}; a dict of columns is expected")
    if not found:
        raise DataError(f"{origin} is empty: at least one record is needed")
    return Data([dict(record) for record in found], origin)


def _named_splits(splits: Mapping[str, Callable[[], Data]]) -> dict[str, Callable[[], Data]]:
    """Under our names for splits (dev is validation), the first of several of a kind."""
    found: dict[str, Callable[[], Data]] = {}
    for name, part in splits.items():
        found.setdefault(split_named(name) or name, part)
    return found


def _hub_splits(name: str) -> dict[str, Callable[[], Data]]:
    if not looks_like_hub_id(name):
        raise DataError(f"{name}: there is no such file or folder")
    return _named_splits(
        {split: partial(hub_records, part, f"{name} ({split})") for split, part in open_hub(name).items()}
    )


def _embedded(name: str, split: str) -> Data:
    names = embedded.DATA[name].labels
    return Data([dict(record) for record in _embedded_parts(name)[split]], f"{name} ({split})", {"label": names})


@lru_cache
def _embedded_parts(name: str) -> Mapping[str, list[Record]]:
    records = _reviews(embedded.DATA[name])
    parts = partition(records, list(EMBEDDED_SHARES.values()), lambda r: r["text"], lambda r: r["label"])
    return dict(zip(EMBEDDED_SHARES, parts, strict=True))


def _reviews(data: embedded.EmbeddedData) -> list[Record]:
    """The published training reviews, out of the installed package or off the hub."""
    table = embedded.reviews_table()
    if table is None:
        return hub_records(open_hub(data.hub_id)["train"], data.hub_id).records
    rows = (row for row in stream_file(table) if row["source"] == data.source)
    return [{"text": row["text"], "label": data.labels[int(row["label"])]} for row in rows]
