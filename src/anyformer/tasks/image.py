"""Image classification: a path, a PIL image, bytes or an array -> pixels -> a label with its probability.

Images are opened when their batch is made, so a data set is as large as its list of paths. A folder's own image
processor prepares them; without one they are resized and normalised here.
"""

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from anyformer.data.records import Record
from anyformer.errors import DataError, InputError, MissingExtra
from anyformer.tasks.base import Feature, Notes, Prediction, Task, TaskSettings, softmax, to_numpy
from anyformer.tasks.classification import best_label, right_tallies
from anyformer.tasks.labels import checked_class_id, head_config
from anyformer.tasks.tallies import mean_points

MEAN = STD = 0.5


@dataclass(frozen=True)
class Image(Task):
    """`processor` is an image processor or None; images come out as size × size, in patches of patch × patch."""

    processor: Any
    labels: tuple[str, ...]
    size: int = 224
    patch: int = 16
    settings: TaskSettings = field(default_factory=TaskSettings)

    name: ClassVar[str] = "image"
    auto_class: ClassVar[str] = "AutoModelForImageClassification"
    metric: ClassVar[str] = "accuracy"

    @property
    def config(self) -> dict[str, Any]:
        return head_config(self.labels)

    def record(self, value: Any) -> Record:
        """A path, bytes, an array or a PIL image, bare or as {"image"}."""
        image = value.get("image") if isinstance(value, Mapping) and "image" in value else value
        if image is None:
            raise InputError("image is missing; a path, bytes, an array or a PIL image is expected")
        return {"image": image}

    def features(self, records: Sequence[Record], notes: Notes | None = None, labelled: bool = False) -> list[Feature]:
        labels = [checked_class_id(r, i, self.labels) if labelled else None for i, r in enumerate(records)]
        n_tokens = (self.size // self.patch) ** 2 + 1
        return [Feature(i, {"image": r["image"]}, n_tokens, labels[i]) for i, r in enumerate(records)]

    def collate(self, features: Sequence[Feature]) -> dict[str, Any]:
        import torch

        pixels = np.stack([self._pixels(feature.inputs["image"]) for feature in features])
        batch = {"pixel_values": torch.from_numpy(pixels)}
        if features[0].labels is not None:
            batch["labels"] = torch.tensor([feature.labels for feature in features])
        return batch

    def _pixels(self, image: Any) -> np.ndarray:
        """(3, size, size), float32."""
        opened = open_image(image)
        if self.processor is not None:
            return np.asarray(self.processor(opened, return_tensors="np")["pixel_values"][0], dtype=np.float32)
        return normalised(resized(opened, self.size))

    def decode(self, output: Any, features: Sequence[Feature]) -> list[np.ndarray]:
        return list(softmax(to_numpy(output.logits)))

    def finish(self, raw: Sequence[Any], features: Sequence[Feature], records: Sequence[Record]) -> list[Prediction]:
        return [best_label(probabilities, self.labels, self.settings.every_label) for probabilities in raw]

    def pipeline_output(self, prediction: Prediction) -> Any:
        return prediction.get("labels", [prediction])

    def score(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> dict[str, float]:
        return {self.metric: float(self.score_of(self.tallies(predictions, references).sum(axis=0)))}

    def tallies(self, predictions: Sequence[Prediction], references: Sequence[Record]) -> np.ndarray:
        """[right, 1]."""
        return right_tallies(predictions, references, self.labels)

    def score_of(self, sums: np.ndarray) -> np.ndarray:
        return mean_points(sums)


def open_image(image: Any) -> np.ndarray:
    """(height, width, 3), uint8."""
    if isinstance(image, Mapping):  # as Parquet files of the hub hold images
        image = image.get("bytes") or image.get("path")
    if isinstance(image, str | Path | bytes):
        image = _decoded(image)
    array = np.asarray(image.convert("RGB") if type(image).__module__.startswith("PIL.") else image)
    if array.ndim == 2:
        array = np.repeat(array[:, :, None], 3, axis=2)
    if array.ndim != 3 or array.shape[2] not in (3, 4) or array.size == 0 or array.dtype.kind not in "uif":
        found = f"{type(image).__name__} of shape {array.shape}"
        raise DataError(f"an image is {found}; numbers of shape (height, width) or (height, width, 3) are expected")
    return _as_bytes(array[:, :, :3])


def _as_bytes(array: np.ndarray) -> np.ndarray:
    """Whole numbers are 0 to 255, decimals 0 to 1."""
    scaled = np.rint(array * 255) if array.dtype.kind == "f" else array
    return np.clip(scaled, 0, 255).astype(np.uint8)


def _decoded(image: str | Path | bytes) -> Any:
    pil = _pil()
    try:
        return pil.open(io.BytesIO(image) if isinstance(image, bytes) else image).convert("RGB")
    except (OSError, ValueError, SyntaxError, pil.DecompressionBombError) as error:
        name = "an image" if isinstance(image, bytes) else str(image)
        raise DataError(f"{name} cannot be read as an image ({type(error).__name__})") from error


def resized(image: np.ndarray, size: int) -> np.ndarray:
    if image.shape[:2] == (size, size):
        return image
    pil = _pil()
    return np.asarray(pil.fromarray(image).resize((size, size), resample=pil.Resampling.BILINEAR))


def normalised(image: np.ndarray) -> np.ndarray:
    """[0, 255] -> [-1, 1], channels first."""
    return ((image.astype(np.float32) / 255 - MEAN) / STD).transpose(2, 0, 1)


def _pil() -> Any:
    try:
        import PIL.Image
    except ImportError:
        raise MissingExtra('reading and resizing images needs Pillow: pip install "anyformer[train]"') from None
    return PIL.Image
