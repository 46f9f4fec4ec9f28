"""`anyformer show`: the frontier of a folder in words, as JSON, as a picture and as a page."""

import json
import shutil
import subprocess
import sys

import pytest

from anyformer.folder import FRONTIER, seal
from anyformer.frontier import Frontier, Point
from anyformer.plan import Plan
from tests.cli.made import HALF, N_LAYERS, POSITIONS, made_model

SEARCHED = Frontier(
    (
        Point(Plan.at({0: 0.25}, N_LAYERS), 0.4, 84.0, 3.0, 0.08, (4.0, 8.0)),
        Point(HALF, 0.6, 89.5, 4.5, 0.009, (-0.25, 1.25)),
        Point(Plan.full(N_LAYERS), 1.0, 90.0, 7.0),
    ),
    metric="accuracy",
    device="one core",
    n_examples=500,
)


@pytest.fixture(scope="module")
def searched(tmp_path_factory):
    model = made_model()
    model.frontier = SEARCHED
    model.about = {"task": "classification"}
    return model.save(tmp_path_factory.mktemp("searched") / "model")


def test_the_frontier_is_told_as_a_table(anyformer, searched):
    said = anyformer("show", searched)
    assert said.code == 0
    assert "Within 1% of the full score at 60.0% of its MACs" in said.out
    assert "60.0%     89.50   0.50  -0.25 to 1.25  0.90%  4.50 ms  50% after 0" in said.out
    assert "without padding, on 500 labelled examples" in said.out
    assert ">" not in said.out


def test_a_budget_marks_and_describes_what_it_picks(anyformer, searched):
    said = anyformer("show", searched, "--budget", "loss<=1%")
    assert ">  60.0%" in said.out
    assert "asked: at most 1% of the full model's score to be lost; picked: 60.0% of the MACs" in said.out
    assert "promised: at most 0.90%" in said.out


def test_scores_alone_are_enough(anyformer, folder):
    said = anyformer("show", folder(), "--budget", "70%")
    assert "nothing is promised without a calibrated bound" in said.out
    assert "latency" not in said.out


def test_json_has_the_points_and_what_was_picked(anyformer, searched):
    found = anyformer("show", searched, "--json").json
    assert [point["macs_ratio"] for point in found["points"]] == [0.4, 0.6, 1.0]
    assert found["points"][1]["lost"] == [-0.25, 1.25]
    assert found["points"][1]["budget"] == "60%"
    assert found["picked"] is None
    assert (found["metric"], found["n_examples"], found["device"]) == ("accuracy", 500, "one core")
    assert anyformer("show", searched, "--json", "--budget", "5ms").json["picked"] == found["points"][1]


def test_a_picture_is_drawn(anyformer, searched, tmp_path):
    pytest.importorskip("matplotlib")
    said = anyformer("show", searched, "--plot", tmp_path / "curve.PNG", "--json")
    assert said.json["plot"] == str(tmp_path / "curve.PNG")
    assert (tmp_path / "curve.PNG").read_bytes()[:4] == b"\x89PNG"


def test_a_page_is_written_with_the_tokens_of_a_text(anyformer, searched, tmp_path):
    said = anyformer(
        "show", searched, "--plot", tmp_path / "p.html", "--text", "the <i>cat</i> sat", "a dog", "--quiet"
    )
    assert said.code == 0
    text = (tmp_path / "p.html").read_text(encoding="utf-8")
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    first, second = data["texts"]
    assert "".join(token["gap"] + token["piece"] for token in first["tokens"][1:-1]) == "the <i>cat</i> sat"
    assert "<i>cat" not in text
    assert [len(left) for left in second["left"]] == [len(second["tokens"])] * 3
    assert "[CLS] a dog [SEP]" in said.out


def test_tokens_are_followed_under_the_picked_point_without_a_page_too(anyformer, searched):
    found = anyformer("show", searched, "--text", "the cat sat on the mat", "--budget", "40%", "--json").json
    (text,) = found["texts"]
    assert [token["piece"] for token in text["tokens"]][1:3] == ["the", "cat"]
    assert sum(left == N_LAYERS for left in text["left"]) == 2
    said = anyformer("show", searched, "--text", "the cat sat on the mat", "--budget", "40%")
    assert "at 40.0% of the MACs\n  comes in  [CLS] the cat sat on the mat [SEP]\n  after 0   [CLS]" in said.out


def test_a_text_beyond_the_positions_is_cut_and_said(anyformer, searched):
    said = anyformer("show", searched, "--text", "cat " * 500, "a dog", "--quiet")
    assert said.err == f"note: texts cut at {POSITIONS} tokens: 1\n"


def test_a_text_that_no_encoding_can_say_is_shown(anyformer, searched, tmp_path):
    said = anyformer("show", searched, "--plot", tmp_path / "p.html", "--text", "a \ud800 film", "--json", "--quiet")
    assert said.code == 0
    assert (tmp_path / "p.html").read_text(encoding="utf-8")


def test_without_a_text_the_model_is_not_loaded(searched, tmp_path):
    heavy = "{'torch', 'transformers', 'numpy', 'safetensors'} & set(sys.modules)"
    argv = ["show", str(searched), "--plot", str(tmp_path / "p.html"), "--budget", "full"]
    code = f"import sys; from anyformer.cli.main import main; assert main({argv}) == 0; assert not {heavy}, {heavy}"
    subprocess.run([sys.executable, "-c", code], check=True, stdout=subprocess.DEVNULL)
    assert "Made with a text of yours" in (tmp_path / "p.html").read_text(encoding="utf-8")


def test_a_folder_that_was_not_searched_says_what_would_make_a_frontier(anyformer, folder, tmp_path):
    copied = shutil.copytree(folder(), tmp_path / "model")
    (copied / FRONTIER).unlink()
    seal(copied)
    line = anyformer("show", copied).mistake
    assert f"has no frontier.json: `anyformer search {copied} --data …` makes one" in line


def test_a_damaged_folder_is_refused(anyformer, folder, tmp_path):
    copied = shutil.copytree(folder(), tmp_path / "model")
    (copied / FRONTIER).write_text("{}")
    assert "frontier.json is not as it was written" in anyformer("show", copied).mistake
    seal(copied)
    assert "frontier.json is damaged" in anyformer("show", copied).mistake


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--plot", "x.pdf"), "must end in .png or .html, found .pdf"),
        (("--plot", "picture"), "must end in .png or .html, found none"),
        (("--plot", "nowhere/x.png"), "there is no nowhere"),
        (("--budget", "5%"), "the cheapest point takes 60%"),
        (("--budget", "1ms"), "no point has a latency"),
        (("--budget", "40"), "has no unit"),
        (("--text",), "expected at least one argument"),
    ],
)
def test_a_wrong_call_is_one_line(anyformer, folder, flags, words):
    assert words in anyformer("show", folder(), *flags).mistake


def test_what_is_no_folder_is_named(anyformer, folder, tmp_path):
    assert "nowhere is not a folder" in anyformer("show", tmp_path / "nowhere").mistake
    assert "has no manifest.json" in anyformer("show", tmp_path).mistake
    assert "it is a folder" in anyformer("show", folder(), "--plot", _made(tmp_path / "a.png")).mistake


def test_a_model_for_questions_shows_its_frontier_but_no_tokens(anyformer, folder):
    assert anyformer("show", folder("qa")).code == 0
    assert "this one is for qa" in anyformer("show", folder("qa"), "--text", "a").mistake


def _made(path):
    path.mkdir()
    return path
