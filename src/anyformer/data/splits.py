"""Train and validation: the file given, the split that the data has, or a fixed tenth held out by content.

What was done is said in `Splits.notes`. Last step of the data side: tasks take it from here.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from anyformer.data.columns import TARGETS, canonical, columns_of, find_columns, guess_task
from anyformer.data.partition import content_key, partition
from anyformer.data.records import Data, Record, Records
from anyformer.data.sources import ALL, Source, name_of, open_source, read
from anyformer.errors import DataError

HELD_OUT = 0.1
CONTENT = {"classification": "text", "tagging": "tokens", "qa": "context", "image": "image", "translation": "source"}


@dataclass(frozen=True)
class Splits:
    """Records under the task's names for their parts; label_names in the order of their ids, () where unknown."""

    task: str
    train: Records
    validation: Records
    label_names: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


def load_splits(
    source: Source,
    task: str | None = None,
    validation: Source | None = None,
    named: Mapping[str, str] | None = None,
) -> Splits:
    """Records to learn from and records to judge by. `named` is {part: column}, for columns of unusual names."""
    data = read(source, "train")
    task = task or guess_task(columns_of(data.records[0]), named)
    train, label_names = _parts(data, task, named)
    given = _given_validation(source, validation)
    if given is not None:
        judged, _ = _parts(given, task, named)
        return Splits(task, train, judged, label_names, ())
    kept, held = partition(train, (1 - HELD_OUT, HELD_OUT), content_of(task), stratum_of(task), salt="held out")
    share = f"{len(held)} of {len(train)} records"
    note = f"{data.origin} has no validation split: {share} are held out, chosen by their content"
    return Splits(task, kept, held, label_names, (note,))


def load_labelled(source: Source, task: str, named: Mapping[str, str] | None = None) -> Records:
    """What evaluation reads: the test split if it is labelled, else validation, else all there is."""
    return load_named(source, task, named)[0]


def load_named(source: Source, task: str, named: Mapping[str, str] | None = None) -> tuple[Records, tuple[str, ...]]:
    """The same, with the names of the labels in the order of their ids; () where the source does not say them."""
    splits = open_source(source)
    for split in ("test", "validation", ALL, *splits):
        if split in splits:
            data = splits[split]()
            if _is_labelled(data, task, named):
                return _parts(data, task, named)
    first = next(iter(splits.values()))()
    find_columns(task, columns_of(first.records[0]), named)  # says which column is missing
    raise DataError(f"{name_of(source)}: no split of it is labelled; found {', '.join(splits)}")


def halves(records: Sequence[Record], task: str) -> tuple[Records, Records]:
    """Two halves by content: search judges plans on the first and reports on the second."""
    first, second = partition(records, (0.5, 0.5), content_of(task), stratum_of(task), salt="halves")
    return first, second


def load_unseen(
    source: Source, task: str, trained_on: str | None, named: Mapping[str, str] | None = None
) -> tuple[Records, tuple[str, ...]]:
    """What a trained model may be judged by: the validation split, else test, else all there is; of the very data that
    it was trained on (`trained_on` is its fingerprint) the part that was held out. And what was done, in words."""
    splits = open_source(source)
    if ALL in splits and trained_on is not None:
        found = load_splits(source, task, None, named)
        if fingerprint([*found.train, *found.validation], task) == trained_on:
            return found.validation, (f"{name_of(source)} is what the model was trained on: the held-out part judges",)
    for split in ("validation", "test", ALL):
        if split in splits and _is_labelled(data := splits[split](), task, named):
            return _parts(data, task, named)[0], ()
    return load_labelled(source, task, named), ()


def fingerprint(records: Iterable[Record], task: str) -> str:
    """Of the contents, in any order."""
    content = content_of(task)
    found = sha256()
    for key in sorted(content_key(content(record)) for record in records):
        found.update(f"{key}\n".encode("utf-8", "replace"))
    return found.hexdigest()


def content_of(task: str) -> Callable[[Record], str]:
    """What a record is known by: those that share it stay together (all questions of one context)."""
    part = CONTENT[task]

    def content(record: Record) -> str:
        value = record.get(part, record.get("text", ""))
        return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)

    return content


def stratum_of(task: str) -> Callable[[Record], str]:
    """The label that parts are balanced by; numbers to be predicted are not balanced."""

    def stratum(record: Record) -> str:
        label = record.get("label")
        return str(label) if task in ("classification", "image") and isinstance(label, str | int) else ""

    return stratum


def _parts(data: Data, task: str, named: Mapping[str, str] | None) -> tuple[Records, tuple[str, ...]]:
    columns = find_columns(task, columns_of(data.records[0]), named)
    return _canonical(data, columns), tuple(data.names.get(columns.get(TARGETS[task], ""), ()))


def _canonical(data: Data, columns: Mapping[str, str]) -> Records:
    found = []
    for i, record in enumerate(data.records):
        try:
            found.append(canonical(record, columns))
        except DataError as error:
            raise DataError(f"record {i + 1} of {data.origin}: {error}") from None
    return found


def _given_validation(source: Source, validation: Source | None) -> Data | None:
    if validation is not None:
        return read(validation, "validation")
    splits = open_source(source)
    return splits["validation"]() if "validation" in splits else None


def _is_labelled(data: Data, task: str, named: Mapping[str, str] | None) -> bool:
    columns = find_columns(task, columns_of(data.records[0]), named, labelled=False)
    target = columns.get(TARGETS[task])
    return target is not None and any(_known(value) for value in _values(data.records, target))


def _values(records: Iterable[Record], column: str) -> Iterable[object]:
    return (record.get(column) for record in records)


def _known(value: object) -> bool:
    return value is not None and value != ""
