"""Dropout that a CPU draws quickly: a byte of chance an element, eight from each 64-bit word.

PyTorch draws a number an element on a CPU, one after another, which takes a seventh of a training step. In here
`F.dropout` compares bytes instead: an element is dropped with chance round(256·p)/256, and what stays is scaled by the
chance that was really used. Elsewhere than on a CPU nothing changes.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor
from torch.overrides import TorchFunctionMode

CHANCES = 256  # of a byte


class QuickDropout(TorchFunctionMode):
    """`with QuickDropout(): …` for the passes of a step; the model's own modules are not touched."""

    def __torch_function__(
        self, function: Callable, types: Any, args: Iterable = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if function is F.dropout:
            return dropout(*args, **(kwargs or {}))
        return function(*args, **(kwargs or {}))


def dropout(x: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    dropped = round(p * CHANCES)
    if x.device.type != "cpu" or not training or not 0 < dropped < CHANCES:
        return F.dropout(x, p, training, inplace)
    words = torch.empty(-(-x.numel() // 8), dtype=torch.int64).random_(torch.iinfo(torch.int64).min, None)
    keep = words.view(torch.uint8)[: x.numel()].view(x.shape) >= dropped
    return x * keep * (CHANCES / (CHANCES - dropped))
