"""Linear layers of a CPU with weights packed once for oneDNN: the same products, without the layout work of each call.

PyTorch hands a float32 linear layer to MKL, which on many processors is half as fast as oneDNN with packed weights.
`packed(model)` is a twin of the model that shares its weights and runs its linear layers that way.
"""

import copy

import torch
from torch import Tensor, nn

from anyformer.model import AdaptiveModel

TYPICAL_ROWS = 512  # that the packed layout is chosen for


def packed(model: AdaptiveModel) -> AdaptiveModel:
    """The same weights, the same answers; elsewhere than on a CPU the model itself."""
    if model.device.type != "cpu" or not torch.backends.mkldnn.is_available():
        return model
    shared = {id(tensor): tensor for tensor in (*model.parameters(), *model.buffers())}
    twin = copy.deepcopy(model, shared | {id(model.tokenizer): model.tokenizer})
    for module in twin.modules():
        if type(module) is nn.Linear:
            module.__class__ = PackedLinear
    return twin


class PackedLinear(nn.Linear):
    """Weights are packed at the first call, in the precision of the call, and again when they have changed."""

    def forward(self, x: Tensor) -> Tensor:
        weight = self.weight
        if torch.is_grad_enabled() or weight.device.type != "cpu":
            return super().forward(x)
        dtype = torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else weight.dtype
        now = 0 if weight.is_inference() else weight._version  # those of inference mode cannot change
        known = self.__dict__.get("_packed")
        if known is None or known[:2] != (now, dtype):
            ready = torch.ops.mkldnn._reorder_linear_weight(weight.detach().to(dtype), TYPICAL_ROWS)
            known = self.__dict__["_packed"] = now, dtype, ready
        bias = None if self.bias is None else self.bias.to(dtype)
        return torch.ops.mkldnn._linear_pointwise(x.to(dtype), known[2], bias, "none", [], "")
