"""Which column plays which part in a task: by their usual names, or as the user names them.

`find_columns` returns {part: column}; `canonical` renames a record by it, so a task knows its parts only:
text, text_pair, label · tokens, tags · question, context, answers · image, label · source, target.
"""

import re
from collections.abc import Mapping, Sequence

from anyformer.data.records import Record
from anyformer.errors import DataError

LABELS = ("label", "labels", "score")
TEXTS = ("text", "sentence", "review", "content")
PAIRS = (
    ("text", "text_pair"),
    ("sentence1", "sentence2"),
    ("premise", "hypothesis"),
    ("question1", "question2"),
    ("question", "sentence"),
    ("text1", "text2"),
)
USUAL: dict[str, dict[str, tuple[str, ...]]] = {
    "classification": {"text": (*TEXTS, *(first for first, _ in PAIRS)), "text_pair": (), "label": LABELS},
    "tagging": {"tokens": ("tokens", "words"), "text": TEXTS, "tags": ("tags", "ner_tags", "labels")},
    "qa": {"question": ("question",), "context": ("context",), "answers": ("answers", "answer")},
    "image": {"image": ("image", "img", "pixel_values"), "label": ("label", "labels", "fine_label")},
    "translation": {"source": (), "target": ()},
}
TARGETS = {"classification": "label", "tagging": "tags", "qa": "answers", "image": "label", "translation": "target"}
EXPECTED = {
    "classification": "text, or a pair (text and text_pair, sentence1 and sentence2, or premise and hypothesis)",
    "tagging": "tokens (a list of words)",
    "qa": "question and context",
    "image": "image",
    "translation": "two columns named by language codes, such as en and fr",
}
LANGUAGE = re.compile(r"[a-z]{2,3}([_-][A-Za-z]{2,4})?")


def find_columns(
    task: str, found: Sequence[str], named: Mapping[str, str] | None = None, labelled: bool = True
) -> dict[str, str]:
    """{part: column}. `named` overrides single parts; `labelled` says whether what is to be learnt must be there."""
    if task not in USUAL:
        raise DataError(f"task {task!r} has no columns; tasks are {', '.join(USUAL)}")
    overrides = {part: column for part, column in (named or {}).items() if column}
    _check_named(task, overrides, found)
    columns = {**_usual(task, found, overrides), **overrides}
    _check_complete(task, columns, found, labelled)
    return columns


def canonical(record: Record, columns: Mapping[str, str]) -> Record:
    """The parts of a record under the task's names; what the task does not use is left out."""
    flat = flatten(record)
    missing = [column for column in columns.values() if column not in flat]
    if missing:
        raise DataError(f"a record has no column {missing[0]!r}; found {', '.join(map(str, flat)) or 'none'}")
    return {part: flat[column] for part, column in columns.items()}


def columns_of(record: Record) -> list[str]:
    return list(flatten(record))


def guess_task(found: Sequence[str], named: Mapping[str, str] | None = None) -> str:
    """The task that columns of these names are for; a column that was named for a part counts as the part."""
    names = {name.lower() for name in found} | set(named or ())
    if "context" in names and "question" in names:
        return "qa"
    if names & {"tokens", "words"}:
        return "tagging"
    if names & set(USUAL["image"]["image"]):
        return "image"
    if names & set(USUAL["classification"]["text"]):
        return "classification"
    if len(_languages(found)) >= 2:
        return "translation"
    raise DataError(
        f"columns {', '.join(found)} fit no task; name it with --task and its columns with --text-column and so on"
    )


def flatten(record: Record) -> Record:
    """{"translation": {"en": …, "fr": …}}, as the hub's parallel texts come, with the languages as columns."""
    inner = record.get("translation")
    return {**record, **inner} if isinstance(inner, Mapping) else record


def _usual(task: str, found: Sequence[str], overrides: Mapping[str, str]) -> dict[str, str]:
    lower = {name.lower(): name for name in reversed(found)}
    columns = {p: lower[n] for p, names in USUAL[task].items() if (n := next((n for n in names if n in lower), None))}
    if task == "classification" and "text" not in overrides:
        columns |= next(({"text": lower[a], "text_pair": lower[b]} for a, b in PAIRS if a in lower and b in lower), {})
    if task == "tagging" and "tokens" in columns:
        columns.pop("text", None)
    languages = _languages([name for name in found if name not in overrides.values()])
    if task == "translation" and len(languages) + len(overrides) == 2:
        columns |= dict(zip((p for p in ("source", "target") if p not in overrides), languages, strict=True))
    return columns


def _languages(found: Sequence[str]) -> list[str]:
    return [name for name in found if LANGUAGE.fullmatch(name) and name != "id"]


def _check_named(task: str, overrides: Mapping[str, str], found: Sequence[str]) -> None:
    for part, column in overrides.items():
        if part not in USUAL[task]:
            raise DataError(f"{task} has no {part} column; its columns are {', '.join(USUAL[task])}")
        if column not in found:
            raise DataError(f"there is no column {column!r} for {part}; found {', '.join(found) or 'none'}")


def _check_complete(task: str, columns: Mapping[str, str], found: Sequence[str], labelled: bool) -> None:
    target = TARGETS[task]
    inputs = set(USUAL[task]) - {target, "text_pair"}
    complete = bool({"tokens", "text"} & set(columns)) if task == "tagging" else inputs <= set(columns)
    listed = ", ".join(found) or "none"
    if not complete:
        raise DataError(f"{task} needs {EXPECTED[task]}; found columns {listed}; name them, as in {_flags(task)}")
    if labelled and target not in columns:
        usual = " or ".join(USUAL[task][target]) or "a second language"
        raise DataError(f"{task} needs {usual} to learn from; found columns {listed}; name it with --{target}-column")


def _flags(task: str) -> str:
    parts = [part for part in USUAL[task] if task == "translation" or part not in (TARGETS[task], "text_pair")]
    return " ".join(f"--{part}-column NAME" for part in parts[:2])
