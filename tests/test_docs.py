"""What the pages show is what there is: listings are the files, links lead somewhere, the README's code runs."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.made import made_model
from tests.unit.train.made import checkpoint, texts

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]
LISTING = re.compile(r"<!-- listing: (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)
LINK = re.compile(r"\]\((?!https?://|#)([^)#\s]+)")
PYTHON = re.compile(r"```python\n(.*?)```", re.DOTALL)
MOST_RECORD_LINES = 40


@pytest.mark.parametrize("name", NAMES)
def test_a_listing_is_the_file(name):
    for path, text in LISTING.findall((ROOT / name).read_text(encoding="utf-8")):
        assert text == (ROOT / path).read_text(encoding="utf-8"), f"{name} shows another {path}"


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name):
    page = ROOT / name
    missing = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]
    assert not missing


def test_a_decision_is_at_most_a_page_and_has_its_three_parts():
    numbers = []
    for record in sorted((ROOT / "docs" / "decisions").glob("*.md")):
        text = record.read_text(encoding="utf-8")
        numbers.append(record.name[:4])
        assert len(text.splitlines()) <= MOST_RECORD_LINES, record.name
        parts = re.findall(r"^(?:## |\*\*)(Context|Decision|Consequences)", text, re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences"], record.name
    assert len(numbers) == len(set(numbers))


def test_the_code_of_the_readme_runs(tmp_path):
    pytest.importorskip("accelerate")
    made_model().save(tmp_path / "model")
    checkpoint(tmp_path / "untrained")
    rows = "".join(f"{record['text']},{record['label']}\n" for record in texts(60))
    (tmp_path / "reviews.csv").write_text(f"body,stars\n{rows}")
    blocks = PYTHON.findall((ROOT / "README.md").read_text(encoding="utf-8"))
    assert len(blocks) == 3
    for code in blocks:
        local = re.sub(r'"distilbert/[^"]+"', repr(str(tmp_path / "model")), code).replace('"minilm"', '"untrained"')
        command = [sys.executable, "-c", local]
        done = subprocess.run(command, capture_output=True, text=True, env=os.environ, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
