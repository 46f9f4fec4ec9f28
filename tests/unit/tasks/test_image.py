"""Images of many forms -> pixels."""

import io
import sys

import numpy as np
import pytest
import torch

from anyformer.errors import DataError, InputError, MissingExtra
from anyformer.tasks import task_for
from anyformer.tasks.image import normalised, open_image, resized

RANDOM = np.random.default_rng(0)
PIXELS = RANDOM.integers(0, 256, (20, 30, 3), dtype=np.uint8)


def png(pixels=PIXELS):
    pil = pytest.importorskip("PIL.Image", reason="Pillow is not installed (extra train)")
    out = io.BytesIO()
    pil.fromarray(pixels).save(out, "png")
    return out.getvalue()


def test_an_image_may_be_a_path_bytes_an_array_or_pils_own(tmp_path):
    content = png()
    (tmp_path / "a.png").write_bytes(content)
    from PIL import Image as pil

    forms = [tmp_path / "a.png", str(tmp_path / "a.png"), content, {"bytes": content, "path": None}]
    forms += [pil.fromarray(PIXELS), PIXELS, PIXELS / 255, PIXELS.astype(int).tolist()]
    for form in forms:
        assert np.array_equal(open_image(form), PIXELS)


def test_grey_and_transparent_images_have_three_colours():
    assert open_image(PIXELS[:, :, 0]).shape == (20, 30, 3)
    assert open_image(np.dstack([PIXELS, PIXELS[:, :, :1]])).shape == (20, 30, 3)


def test_what_is_no_image_is_said_to_be_so(tmp_path):
    png()
    (tmp_path / "text.png").write_text("not an image")
    for wrong in (tmp_path / "text.png", tmp_path / "none.png", b"no"):
        with pytest.raises(DataError, match="cannot be read as an image"):
            open_image(wrong)
    for shape in ((3,), (4, 4, 2), (0, 4, 3)):
        with pytest.raises(DataError, match="numbers of shape"):
            open_image(np.zeros(shape))
    with pytest.raises(DataError, match="numbers of shape"):
        open_image([["a", "b"]])


def test_without_pillow_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    with pytest.raises(MissingExtra, match=r"anyformer\[train\]"):
        open_image(b"anything")
    assert np.array_equal(resized(PIXELS[:20, :20], 20), PIXELS[:20, :20])


def test_pixels_are_what_the_librarys_own_processor_makes():
    png()
    from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

    wanted = ViTImageProcessorPil()(PIXELS, return_tensors="np")["pixel_values"][0]
    assert np.allclose(normalised(resized(PIXELS, 224)), wanted, atol=1e-5)
    task = task_for("image", ViTImageProcessorPil(), ("cat", "dog"))
    batch = task.collate(task.features([{"image": PIXELS, "label": "dog"}], labelled=True))
    assert torch.equal(batch["pixel_values"], torch.from_numpy(wanted)[None])
    assert batch["labels"].tolist() == [1]


def test_images_are_opened_when_their_batch_is_made(tmp_path):
    png()
    task = task_for("image", None, ("cat", "dog"))
    features = task.features([{"image": str(tmp_path / "later.png")}])
    assert features[0].n_tokens == 197
    with pytest.raises(DataError, match="cannot be read"):
        task.collate(features)
    (tmp_path / "later.png").write_bytes(png())
    assert task.collate(features)["pixel_values"].shape == (1, 3, 224, 224)


def test_an_input_is_an_image_bare_or_named():
    task = task_for("image", None, ("cat", "dog"))
    assert task.record("a.png") == task.record({"image": "a.png"}) == {"image": "a.png"}
    with pytest.raises(InputError, match="image is missing"):
        task.record({"image": None})
