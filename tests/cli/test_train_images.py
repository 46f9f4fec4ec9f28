"""`anyformer train --task image`: from a folder of pictures, one folder a class, to a folder that says what it sees."""

import json

import pytest
import torch
from transformers import AutoModelForImageClassification, ViTConfig, ViTForImageClassification, ViTImageProcessor

pytest.importorskip("accelerate")
pil = pytest.importorskip("PIL.Image")
COLOURS = {"blue": (20, 40, 220), "red": (220, 40, 20)}
MEAN = [0.2, 0.2, 0.2]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    torch.manual_seed(0)
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 64}
    folder = tmp_path_factory.mktemp("vit")
    ViTForImageClassification(ViTConfig(image_size=16, patch_size=8, **sizes)).save_pretrained(folder)
    ViTImageProcessor(size={"height": 16, "width": 16}, image_mean=MEAN).save_pretrained(folder)
    return folder


@pytest.fixture
def pictures(tmp_path):
    for name, colour in COLOURS.items():
        (tmp_path / "pictures" / name).mkdir(parents=True)
        for i in range(20):
            shade = tuple(max(0, part - 3 * i) for part in colour)
            pil.new("RGB", (20 + i, 18), shade).save(tmp_path / "pictures" / name / f"{i}.png")
    return tmp_path / "pictures"


def test_a_folder_of_pictures_becomes_a_model_that_names_them(anyformer, tiny, pictures, tmp_path):
    flags = ("--finetune-epochs", 4, "--adapt-epochs", 1, "--finetune-learning-rate", 3e-3, "--precision", "fp32")
    out = tmp_path / "out"
    said = anyformer("train", tiny, "--task", "image", "--data", pictures, "--out", out, *flags, "--json")
    assert said.code == 0, said.err
    assert "4 of 40 records are held out" in said.err
    assert said.json["full_score"] == 100
    config = AutoModelForImageClassification.from_pretrained(out).config
    assert config.id2label == {0: "blue", 1: "red"}
    assert json.loads((out / "preprocessor_config.json").read_text())["image_mean"] == MEAN
    for name in COLOURS:
        seen = anyformer("predict", out, "--image", pictures / name / "3.png", "--quiet").lines
        assert [one["label"] for one in seen] == [name]
    assert anyformer("evaluate", out, "--data", pictures, "--json").json["score"] == 100
    again = anyformer("train", out, "--data", pictures, "--out", tmp_path / "more", *flags, "--json")
    assert again.code == 0, again.err
    assert (tmp_path / "more" / "preprocessor_config.json").is_file()


def test_a_picture_that_cannot_be_read_is_named(anyformer, tiny, pictures, tmp_path):
    (pictures / "red" / "0.png").write_text("no picture")
    said = anyformer("train", tiny, "--data", pictures, "--out", tmp_path / "out", "--finetune-epochs", 1)
    assert said.code == 2
    assert "0.png cannot be read as an image" in said.err.splitlines()[-1]
