"""Reading files, streamed; what is wrong with one is said with its line."""

import csv
import gzip
import io
import json
import lzma

import pytest
from hypothesis import given
from hypothesis import strategies as st

from anyformer.data.files import ending, has_known_ending, stream_file
from anyformer.errors import DataError

PACK = {"": lambda content: content, ".gz": gzip.compress, ".xz": lzma.compress}
TEXT = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)


def written(tmp_path, name, content, pack=""):
    file = tmp_path / (name + pack)
    file.write_bytes(PACK[pack](content if isinstance(content, bytes) else content.encode()))
    return file


def read(file):
    return list(stream_file(file))


@pytest.mark.parametrize("pack", PACK)
@given(records=st.lists(st.dictionaries(TEXT, TEXT | st.integers() | st.none(), max_size=3), min_size=1, max_size=5))
def test_jsonl_comes_back_as_it_was(tmp_path_factory, records, pack):
    content = "".join(json.dumps(record) + "\n" for record in records)
    assert read(written(tmp_path_factory.mktemp("jsonl"), "data.jsonl", content, pack)) == records


@pytest.mark.parametrize("pack", PACK)
@given(
    texts=st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")), min_size=1, max_size=4)
)
def test_csv_comes_back_as_it_was(tmp_path_factory, texts, pack):
    out = io.StringIO(newline="")
    writer = csv.writer(out, quoting=csv.QUOTE_ALL)
    writer.writerows([["text", "label"], *([text, "0"] for text in texts)])
    file = written(tmp_path_factory.mktemp("csv"), "data.csv", out.getvalue(), pack)
    assert [record["text"] for record in read(file)] == texts


@pytest.mark.parametrize("pack", PACK)
def test_parquet_comes_back_as_it_was(tmp_path, pack):
    pa = pytest.importorskip("pyarrow", reason="pyarrow is not installed (extra train)")
    parquet = pytest.importorskip("pyarrow.parquet")
    records = [{"text": "a", "tags": [1, 2]}, {"text": "", "tags": []}]
    out = io.BytesIO()
    parquet.write_table(pa.Table.from_pylist(records), out)
    assert read(written(tmp_path, "data.parquet", out.getvalue(), pack)) == records
    with pytest.raises(DataError, match="not a whole Parquet file"):
        read(written(tmp_path, "cut.parquet", out.getvalue()[:-20], pack))


def test_a_text_in_a_tsv_may_begin_with_a_quote(tmp_path):
    file = written(tmp_path, "data.tsv", 'text\tlabel\n"The end\t1\n"He said ""no"""\t0\r\n\t1\n')
    assert [record["text"] for record in read(file)] == ['"The end', 'He said "no"', ""]


def test_a_byte_order_mark_is_not_part_of_a_name(tmp_path):
    assert read(written(tmp_path, "data.csv", "\ufefftext,label\nfine,1\n")) == [{"text": "fine", "label": "1"}]


def test_blank_lines_hold_nothing(tmp_path):
    assert len(read(written(tmp_path, "data.jsonl", '{"text": ""}\n\n  \n{"text": "b"}\n'))) == 2
    assert len(read(written(tmp_path, "data.csv", "text\na\n\nb\n"))) == 2


def test_a_very_long_text_is_not_a_mistake(tmp_path):
    long = "word " * 100_000
    assert read(written(tmp_path, "data.csv", f"text,label\n{long},1\n"))[0]["text"] == long


def test_reading_is_streamed(tmp_path):
    records = stream_file(written(tmp_path, "data.jsonl", '{"text": "a"}\nbroken\n'))
    assert next(records) == {"text": "a"}
    with pytest.raises(DataError, match="line 2"):
        next(records)


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("data.jsonl", b'{"text": "a"}\n{"text": \n', "line 2 is not JSON"),
        ("data.jsonl", b'{"text": "a"}\n[1, 2]\n', "line 2 is a list"),
        ("data.jsonl", b'{"text": "a"}\n3\n', "line 2 is a number"),
        ("data.jsonl", b"[" * 100_000, "line 1 is not JSON"),
        ("data.jsonl", b'{"text": "a"}\n{"text": "\xff"}\n', "line 2 is not UTF-8"),
        ("data.jsonl", b"", "is empty"),
        ("data.jsonl", b"\n\n", "is empty"),
        ("data.csv", b"", "is empty"),
        ("data.csv", b"text,label\n", "is empty"),
        ("data.csv", b"text,label\na,1\nb\n", "line 3 has 1 columns, the first line names 2"),
        ("data.csv", b'text,label\na,1\n"b,1\nc,0\n', "line 4 is not CSV .*quotes"),
        ("data.csv", b"text,text\na,1\n", "names a column twice"),
        ("data.tsv", b"text\tlabel\na\t1\nb\t1\t2\n", "line 3 has 3 columns"),
        ("data.json", b"{}", "the ending is not known; files end in .jsonl .csv .tsv .parquet"),
        ("data", b"{}", "the ending is not known"),
    ],
)
def test_a_mistake_is_said_with_its_place(tmp_path, name, content, said):
    with pytest.raises(DataError, match=said):
        read(written(tmp_path, name, content))


@pytest.mark.parametrize("pack", [".gz", ".xz"])
def test_an_archive_that_is_cut_short_is_said_to_be_so(tmp_path, pack):
    whole = PACK[pack]("".join(json.dumps({"text": str(i)}) + "\n" for i in range(5000)).encode())
    (tmp_path / f"cut.jsonl{pack}").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match="damaged or cut short"):
        read(tmp_path / f"cut.jsonl{pack}")
    (tmp_path / f"plain.jsonl{pack}").write_bytes(b'{"text": "not packed"}\n')
    with pytest.raises(DataError, match="damaged or cut short"):
        read(tmp_path / f"plain.jsonl{pack}")


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path):
    with pytest.raises(DataError, match="no such file"):
        read(tmp_path / "none.jsonl")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("a.jsonl", ("jsonl", "")),
        ("a.b.CSV.GZ", ("csv", ".gz")),
        ("a.tsv.xz", ("tsv", ".xz")),
        ("a.parquet", ("parquet", "")),
        ("jsonl", None),
        ("a.gz", None),
        ("a.txt.gz", None),
    ],
)
def test_an_ending_says_how_a_file_is_read(name, known):
    assert ending(name) == known
    assert has_known_ending(name) == (known is not None)
