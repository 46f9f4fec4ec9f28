"""Settings: refused in one line, changed by section, complete in their help."""

import dataclasses

import pytest

from anyformer.train.config import PAPER, Adapt, FineTune, Run, SettingsError, TrainSettings, read_toml


@pytest.mark.parametrize("stage", [FineTune, Adapt, Run])
def test_a_stage_has_at_most_fifteen_fields_each_with_a_line_of_help(stage):
    fields = dataclasses.fields(stage)
    assert len(fields) <= 15
    assert all(field.metadata["help"] and "\n" not in field.metadata["help"] for field in fields)


@pytest.mark.parametrize(
    ("stage", "values", "words"),
    [
        (Adapt, {"kl": "sideways"}, "forward, reverse"),
        (Adapt, {"p": 1.0}, "out of its range"),
        (Adapt, {"n_random": -1}, "out of its range"),
        (Adapt, {"epochs": "many"}, "type float"),
        (FineTune, {"learning_rate": 0.0}, "out of its range"),
        (FineTune, {"learning_rate": float("nan")}, "out of its range"),
        (Run, {"batch_rows": 0}, "out of its range"),
        (Run, {"checkpointing": 1}, "type bool"),
    ],
)
def test_a_value_that_cannot_be_is_refused(stage, values, words):
    with pytest.raises(SettingsError, match=words):
        stage(**values)


def test_changes_go_over_what_is_there_and_unknown_names_are_listed():
    changed = TrainSettings().with_changes(PAPER)
    assert (changed.adapt.kl, changed.adapt.layerdrop, changed.adapt.space, changed.adapt.epochs) == (
        "reverse", "all", "every", 5.0,
    )  # fmt: skip
    assert changed.run == Run()
    assert TrainSettings.from_dict(changed.to_dict()) == changed
    with pytest.raises(SettingsError, match=r"\[adapt\] has no setting 'klx'; it has .*kl"):
        TrainSettings().with_changes({"adapt": {"klx": 1}})
    with pytest.raises(SettingsError, match="section 'adopt' is not known"):
        TrainSettings().with_changes({"adopt": {}})


def test_a_file_that_is_no_toml_is_named(tmp_path):
    (tmp_path / "a.toml").write_text("[adapt\n")
    with pytest.raises(SettingsError, match=r"a\.toml is not TOML"):
        read_toml(tmp_path / "a.toml")
    with pytest.raises(SettingsError, match="is not there"):
        read_toml(tmp_path / "b.toml")
