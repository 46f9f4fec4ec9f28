"""Data sets of the hub, with a stand-in for the hub and for the library that reads it."""

import sys
from types import ModuleType, SimpleNamespace

import huggingface_hub
import pytest
from huggingface_hub import constants
from huggingface_hub.errors import GatedRepoError, RepositoryNotFoundError

from anyformer.data import load_splits, read
from anyformer.data.hub import looks_like_hub_id
from anyformer.errors import DataError, MissingExtra


class Split(list):
    """As much of a split of `datasets` as is used: records, and features that may name classes."""

    def __init__(self, records, **features):
        super().__init__(records)
        self.features = features


LABELS = SimpleNamespace(names=["neg", "pos"])
TAGS = SimpleNamespace(feature=SimpleNamespace(names=["O", "B-X"]))


def hub(monkeypatch, loaded, error=None, offline=False):
    """`loaded` stands for what datasets.load_dataset returns, raises, or None: datasets is not installed."""
    calls = []

    def load_dataset(repository, configuration):
        calls.append((repository, configuration))
        if isinstance(loaded, Exception):
            raise loaded
        return loaded

    def dataset_info(self, repository, timeout):
        assert timeout <= 10
        if error is not None:
            raise error

    library = ModuleType("datasets")
    library.load_dataset = load_dataset
    monkeypatch.setitem(sys.modules, "datasets", library if loaded is not None else None)
    monkeypatch.setattr(huggingface_hub.HfApi, "dataset_info", dataset_info)
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", offline)
    return calls


def response_error(kind):
    return kind.__new__(kind)


def test_numbers_that_stand_for_classes_become_their_names(monkeypatch):
    rows = Split([{"text": "a", "label": 1}, {"text": "b", "label": -1}], text=None, label=LABELS)
    calls = hub(monkeypatch, {"train": rows})
    data = read("owner/name:part")
    assert calls == [("owner/name", "part")]
    assert data.records == [{"text": "a", "label": "pos"}, {"text": "b", "label": None}]
    assert data.names == {"label": ("neg", "pos")}


def test_lists_of_classes_become_lists_of_names(monkeypatch):
    hub(monkeypatch, {"train": Split([{"tokens": ["a", "b"], "ner_tags": [0, 1]}], tokens=None, ner_tags=TAGS)})
    assert read("owner/name").records[0]["ner_tags"] == ["O", "B-X"]


def test_the_hubs_own_validation_split_is_used(monkeypatch):
    rows = Split([{"text": "a", "label": 1}], text=None, label=LABELS)
    hub(monkeypatch, {"train": rows, "validation_matched": rows})
    splits = load_splits("owner/name")
    assert (len(splits.train), len(splits.validation), splits.notes) == (1, 1, ())
    assert splits.label_names == ("neg", "pos")


def test_a_split_that_is_not_there_is_said_with_those_that_are(monkeypatch):
    hub(monkeypatch, {"test": Split([])})
    with pytest.raises(DataError, match="owner/name has no train split; found test"):
        read("owner/name")
    with pytest.raises(DataError, match="is empty"):
        read("owner/name", "test")


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionError("no route"), "out of reach .ConnectionError.; use a file .*or imdb"),
        (TimeoutError(), "out of reach .TimeoutError."),
        (response_error(RepositoryNotFoundError), "neither a file here nor a data set on the hub"),
        (response_error(GatedRepoError), "gated"),
    ],
)
def test_a_hub_that_does_not_give_is_one_line(monkeypatch, error, said):
    calls = hub(monkeypatch, {}, error)
    with pytest.raises(DataError, match=said) as caught:
        read("owner/name")
    assert "\n" not in str(caught.value)
    assert not calls


def test_offline_the_hub_is_not_asked_and_the_cache_is_read(monkeypatch):
    hub(monkeypatch, {"train": Split([{"text": "a"}], text=None)}, AssertionError("asked"), offline=True)
    assert len(read("owner/name")) == 1


def test_offline_without_a_cache_is_one_line(monkeypatch):
    hub(monkeypatch, ConnectionError("Couldn't reach it\nand more"), offline=True)
    with pytest.raises(DataError, match=r"cannot be loaded \(Couldn't reach it\); use a file") as caught:
        read("owner/name")
    assert "\n" not in str(caught.value)


def test_offline_without_the_library_is_one_line(monkeypatch):
    hub(monkeypatch, None, offline=True)
    with pytest.raises(DataError, match="HF_HUB_OFFLINE is set; use a file"):
        read("owner/name")


def test_the_missing_library_is_named_with_its_extra(monkeypatch):
    hub(monkeypatch, None)
    with pytest.raises(MissingExtra, match=r'pip install "anyformer\[train\]"'):
        read("owner/name")


def test_what_looks_like_a_name_of_the_hub():
    assert all(map(looks_like_hub_id, ["imdb", "nyu-mll/glue:sst2", "a.b/c_d"]))
    assert not any(map(looks_like_hub_id, ["a/b/c", "./a", "/a", "a b", ""]))
