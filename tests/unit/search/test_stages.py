"""A search from end to end on a toy: what is found, what is kept, what is refused."""

import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from anyformer import load
from anyformer.errors import FolderError
from anyformer.plan import Plan
from anyformer.search.config import SearchSettings
from anyformer.search.stages import Means, run_search, search
from tests.unit.search.made import examples, trained

pytest.importorskip("accelerate")
SETTINGS = SearchSettings(iterations=3, population=6, mutations=8, crossovers=8)
KILLS = int(os.environ.get("ANYFORMER_KILLS", "2"))


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("searched")
    trained(root)
    return root


@pytest.fixture
def folder(root, tmp_path):
    return Path(shutil.copytree(root / "model", tmp_path / "model"))


def test_the_folder_gets_a_frontier_whose_budgets_work(folder):
    frontier = search(folder, examples(), SETTINGS)
    model = load(folder)
    assert model.frontier.points == frontier.points
    assert model.frontier.full.macs_ratio == 1
    assert frontier.n_examples == 120
    point = frontier.pick("60%")
    assert point.macs_ratio <= 0.6
    assert model.resolve(budget="60%") == point.plan
    assert "| MACs | score | plan |" in (folder / "README.md").read_text()


def test_scores_are_of_the_half_that_was_not_searched(folder):
    from anyformer.data.splits import halves
    from anyformer.search.score import Jury
    from anyformer.tasks.find import labels_of_model, task_for

    records = examples()
    frontier, model = search(folder, records, SETTINGS), load(folder)
    task = task_for("classification", model.tokenizer, labels_of_model("classification", model.config), model.config)
    jury = Jury(model, task, halves(records, "classification")[1], "fp32")
    for point in frontier.points:
        (tally,) = jury.tallies([point.plan])
        assert point.score == pytest.approx(100 * tally[:, 0].mean())


def test_an_open_model_is_searched_without_a_folder(root):
    model = load(root / "model")
    frontier = search(model, examples(), SETTINGS)
    assert model.frontier is frontier
    assert frontier.n_examples == 120


@pytest.mark.slow
def test_two_workers_find_what_one_process_finds(folder, tmp_path):
    search(folder, examples(), SETTINGS)
    alone = (folder / "frontier.json").read_bytes()
    search(folder, examples(), SETTINGS, workers=2)
    assert (folder / "frontier.json").read_bytes() == alone


@pytest.mark.slow
def test_two_ray_workers_find_the_same(folder):
    pytest.importorskip("ray")
    search(folder, examples(), SETTINGS)
    alone = (folder / "frontier.json").read_bytes()
    search(folder, examples(), SETTINGS, workers="ray")
    assert (folder / "frontier.json").read_bytes() == alone


def test_racing_gives_plans_up_and_reports_the_rest_in_full(folder):
    found = run_search(load(folder), examples(600), replace(SETTINGS, racing=0.5), folder)
    assert found.frontier.full.plan == Plan.full(3)
    assert '"score": null' in (folder / ".search" / "journal.jsonl").read_text()


def test_a_search_goes_on_where_the_journal_ends(folder):
    search(folder, examples(), SETTINGS)
    whole, journal = (folder / "frontier.json").read_bytes(), folder / ".search" / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    for kept in (1, 5, len(lines) // 2):
        journal.write_bytes(b"".join(lines[:kept]) + lines[kept][:20])
        said = []
        search(folder, examples(), SETTINGS, resume=True, say=said.append)
        assert (folder / "frontier.json").read_bytes() == whole
        assert any("cut off in writing" in line for line in said)
        assert journal.read_bytes() == b"".join(lines)


@pytest.mark.slow
def test_a_search_that_is_killed_anywhere_finds_the_same(folder, tmp_path):
    data = tmp_path / "val.jsonl"
    data.write_text("".join(__import__("json").dumps(record) + "\n" for record in examples()))
    command = [sys.executable, "-m", "anyformer", "search", str(folder), "--data", str(data), "--workers", "1"]
    command += [
        "--iterations",
        "3",
        "--population",
        "6",
        "--mutations",
        "8",
        "--crossovers",
        "8",
        "--precision",
        "fp32",
    ]
    subprocess.run(command, check=True, capture_output=True)
    whole = (folder / "frontier.json").read_bytes()
    (folder / "frontier.json").unlink()
    shutil.rmtree(folder / ".search")
    from anyformer.folder import seal

    seal(folder)
    for kill in range(KILLS):
        running = subprocess.Popen([*command, "--resume"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(2.5 + 0.37 * kill)
        running.send_signal(signal.SIGKILL)
        running.wait()
    subprocess.run([*command, "--resume"], check=True, capture_output=True)
    assert (folder / "frontier.json").read_bytes() == whole


def test_a_frontier_of_another_model_is_refused(folder, root):
    search(folder, examples(), SETTINGS)
    from anyformer.folder import seal

    text = (folder / "frontier.json").read_text()
    model = load(folder).frontier.model
    (folder / "frontier.json").write_text(text.replace(model, "0" * 64))
    seal(folder)
    with pytest.raises(FolderError, match="is of another model"):
        load(folder)


def test_few_examples_promise_nothing_and_say_so(folder):
    said = []
    frontier = search(folder, examples(60), SETTINGS, say=said.append)
    assert any("fewer than 50" in line for line in said)
    assert all(point.loss_bound is None for point in frontier.points[:-1])


def test_on_the_data_of_the_training_the_held_out_part_judges(root, folder):
    from tests.unit.train.made import texts

    said = []
    records = [*texts(200), *texts(40, seed=1)]
    run_search(load(folder), records, SETTINGS, folder, means=Means(say=said.append))
    assert any("was trained on" in line for line in said)


def test_latencies_are_measured_where_they_are_the_objective(folder):
    frontier = search(folder, examples(), replace(SETTINGS, objective="latency", iterations=1))
    assert all(point.latency_ms > 0 for point in frontier.points)
    assert frontier.device
    slowest = max(point.latency_ms for point in frontier.points)
    assert frontier.pick(f"{slowest * 2}ms").latency_ms <= slowest
