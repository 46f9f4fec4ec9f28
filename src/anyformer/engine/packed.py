"""Linear layers of a CPU with weights packed once for oneDNN: the same products, without the layout work of each call.

PyTorch hands a float32 linear layer to MKL, which on many processors is half as fast as oneDNN with packed weights. In
`with packed(model):` linear layers run that way, on this thread; the model is left alone; elsewhere nothing changes.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

TYPICAL_ROWS = 512  # that the packed layout is chosen for


def packed(model: nn.Module) -> AbstractContextManager:
    """A scope for calls without gradients, to be entered as often as wanted, by any thread."""
    weight = next(model.parameters())
    if weight.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return nullcontext()
    return Packed(model)


class Packed(TorchFunctionMode):
    """Weights are packed when they are first met, in the precision of the call, and again when they have changed."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.linear = {id(m.weight): m.weight for m in model.modules() if isinstance(m, nn.Linear)}
        self.packed: dict[tuple[int, torch.dtype], tuple[int, Tensor]] = {}

    def __torch_function__(
        self, function: Callable, types: Any, args: Iterable = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        if function is F.linear and not kwargs and not torch.is_grad_enabled():
            x, weight, *bias = args
            if id(weight) in self.linear:
                return self._product(x, weight, bias[0] if bias else None)
        return function(*args, **(kwargs or {}))

    def _product(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else weight.dtype
        key = id(weight), dtype
        now = 0 if weight.is_inference() else weight._version  # those of inference mode cannot change
        version, ready = self.packed.get(key, (None, weight))
        if version != now:
            ready = torch.ops.mkldnn._reorder_linear_weight(weight.detach().to(dtype), TYPICAL_ROWS)
            self.packed[key] = now, ready
        bias = None if bias is None else bias.to(dtype)
        return torch.ops.mkldnn._linear_pointwise(x.to(dtype), ready, bias, "none", [], "")
