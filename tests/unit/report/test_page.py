"""The page: one file that needs no network, in which nothing that a user wrote is more than text."""

import hashlib
import json
import re
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from anyformer.budget import Budget
from anyformer.frontier import Frontier, Point
from anyformer.plan import Exit, Plan
from anyformer.report.page import Source, data, page
from anyformer.report.survivors import Survivors, Token
from tests.unit.report.made import BARE, FULL, HALF, ONE, RICH

SOURCE = Source("out/model", "page.html", "BertForSequenceClassification", "classification")
EVIL = "</script><script>alert('&')</script><img src=x onerror=alert(1)>\"'"
TEXTS = (Survivors((Token("[CLS]", special=True), Token(EVIL, " ")), ((4, 0), (4, 2), (4, 4)), 4, False),)


class Reader(HTMLParser):
    """The elements of a page, and what stands in its scripts."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.ids, self.words, self.open = [], [], {}, "", []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.tags.append((tag, named))
        if "id" in named:
            self.ids[named["id"]] = named
        self.open.append(tag)
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass

    def handle_data(self, text):
        if self.open and self.open[-1] == "script":
            self.scripts[-1] += text
        elif "style" not in self.open:
            self.words += text


def embedded(text):
    return json.loads(Reader(text).scripts[0])


def test_every_point_is_in_the_data_the_chart_and_the_table():
    text = page(RICH, SOURCE)
    assert len(embedded(text)["points"]) == 3
    assert text.count('<g class="point') == 2 * 3  # for wide screens and for narrow ones
    assert text.count('<tr data-point="') == 3
    assert all(f'href="#point={i}"' in text for i in (1, 2, 3))


def test_nothing_is_fetched():
    read = Reader(page(RICH, SOURCE, texts=TEXTS))
    assert not {tag for tag, _ in read.tags} & {"link", "img", "iframe", "object", "embed"}
    assert not [named for _, named in read.tags if "src" in named or "onclick" in named]
    policy = next(named["content"] for tag, named in read.tags if named.get("http-equiv"))
    assert policy.startswith("default-src 'none'; ")
    assert not re.search(r"https?://|@import|url\(", page(RICH, SOURCE))


def test_only_the_page_s_own_script_may_run():
    read = Reader(page(RICH, SOURCE, texts=TEXTS))
    own = b64encode(hashlib.sha256(read.scripts[1].encode()).digest()).decode()
    assert f"script-src 'sha256-{own}'" in page(RICH, SOURCE)
    assert "innerHTML" not in read.scripts[1]


def test_what_a_user_wrote_is_only_text():
    source = Source(f"out/{EVIL}", f"{EVIL}.html", EVIL, "classification")
    text = page(replace(RICH, metric=EVIL, device=EVIL), source, Budget.parse("60%"), TEXTS)
    plain = Reader(page(RICH, SOURCE, Budget.parse("60%"), TEXTS))
    assert [tag for tag, _ in Reader(text).tags] == [tag for tag, _ in plain.tags]
    assert len(Reader(text).scripts) == 2
    assert embedded(text)["texts"][0]["tokens"][1]["piece"] == EVIL
    assert EVIL in Reader(text).words


def test_ids_that_the_script_asks_for_are_there():
    read = Reader(page(RICH, SOURCE))
    asked = set(re.findall(r"(?:by|set|fact|code)\(\"(\w+)\"", read.scripts[1]))
    assert asked > {"share", "said", "command"}
    assert asked <= set(read.ids)


def test_the_chosen_point_is_the_picked_one_or_the_title_s():
    assert embedded(page(RICH, SOURCE))["start"] == 1
    assert embedded(page(RICH, SOURCE, Budget.parse("smallest")))["start"] == 0


def test_the_commands_pick_the_point():
    points = data(RICH, Source("out/my model", "p.html"), 0)["points"]
    assert points[1]["command"] == "anyformer predict 'out/my model' --budget 53% --text 'a gem of a film'"
    assert points[1]["python"] == 'anyformer.pipeline("out/my model", budget="53%")("a gem of a film")'
    assert points[2]["command"].count("--budget full") == 1


@pytest.mark.parametrize(("task", "flag"), [("qa", "--question"), ("image", "--image"), ("tagging", "--text")])
def test_the_command_gives_what_the_task_takes(task, flag):
    assert flag in data(RICH, Source("m", "p.html", task=task), 0)["points"][0]["command"]


def test_a_point_that_no_budget_picks_has_no_command():
    beyond = Point(Plan((1, 1, 1, 1), exit=Exit("entropy", 0.0)), 1.05, 90.5)
    assert data(Frontier((FULL, beyond)), SOURCE, 0)["points"][1]["command"] is None


def test_what_is_promised_is_told_apart_from_what_is_measured():
    half, full = (data(RICH, SOURCE, 0)["points"][i] for i in (1, 2))
    assert (half["bound"], half["promise"]) == ("0.94%", "of the full score, by a calibrated bound")
    assert half["compared"] == "0.50 points below the full model; 95% interval of the loss: −0.25 to 1.25"
    assert full["promise"] == "it is the reference"
    bare = data(BARE, SOURCE, 0)["points"][1]
    assert (bare["bound"], bare["promise"]) == ("", "the loss is measured only")
    assert bare["compared"] == "0.50 points below the full model"


def test_layers_say_what_goes_on_what_leaves_and_what_is_skipped():
    layers = data(RICH, SOURCE, 0)["points"][1]["layers"]
    assert layers == [
        {"kept": 1.0, "left": 0.0, "runs": True},
        {"kept": 0.6, "left": 0.4, "runs": True},
        {"kept": 0.6, "left": 0.0, "runs": False},
        {"kept": 0.6, "left": 0.0, "runs": True},
    ]


@pytest.mark.parametrize(
    ("frontier", "texts", "gone"),
    [(RICH, (), ["95% interval"]), (BARE, (), ["latency", "95% interval"]), (ONE, (), ["the layer is skipped"])],
)
def test_the_page_is_made_whatever_is_known(frontier, texts, gone):
    read = Reader(page(frontier, SOURCE, texts=texts))
    assert "Made with a text of yours" in read.words
    assert "anyformer show out/model --plot page.html --text" in read.words
    hidden = [tag for tag, named in read.tags if "hidden" in named]
    assert len(hidden) >= len(gone)


def test_the_page_of_a_text_does_not_ask_for_one():
    def hidden(text):
        return [f"<section hidden>\n<h2>What stays of {what} text" in text for what in ("the", "a")]

    assert hidden(page(RICH, SOURCE, texts=TEXTS)) == [False, True]
    assert hidden(page(RICH, SOURCE)) == [True, False]
    assert hidden(page(RICH, replace(SOURCE, task="qa"))) == [True, True]


def test_a_page_is_the_same_each_time():
    assert page(RICH, SOURCE, texts=TEXTS) == page(RICH, SOURCE, texts=TEXTS)
    assert HALF in RICH.points
