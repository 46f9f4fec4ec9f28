"""docs/reference/cli.md is what the commands say."""

from anyformer.cli import reference
from anyformer.cli.main import NAMES


def test_the_page_is_up_to_date():
    assert reference.main(["--check"]) == 0


def test_a_stale_page_fails(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(reference, "PAGE", tmp_path / "docs" / "cli.md")
    assert reference.main(["--check"]) == 1
    assert "run python -m anyformer.cli.reference" in capsys.readouterr().err
    assert reference.main([]) == 0
    assert reference.main(["--check"]) == 0


def test_every_command_and_its_flags_are_listed():
    page = reference.page()
    assert all(f"\n## {name}\n" in page for name in NAMES)
    assert "`--device auto\\|cpu\\|cuda\\|mps`" in page
    assert "40% of the full model's MACs" in page
