"""anyformer: train a transformer once, run it at any compute budget.

The public names, each imported on first use: `import anyformer` loads neither torch nor transformers.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anyformer.budget import Budget
    from anyformer.errors import AnyformerError, InfeasibleBudget
    from anyformer.frontier import Frontier, Point
    from anyformer.model import AdaptiveModel, load
    from anyformer.pipeline import pipeline
    from anyformer.plan import Exit, Plan, Space
    from anyformer.search.config import SearchSettings
    from anyformer.search.stages import search
    from anyformer.train.config import TrainSettings
    from anyformer.train.stages import train

__version__ = "0.1.0"

__all__ = [
    "AdaptiveModel",
    "AnyformerError",
    "Budget",
    "Exit",
    "Frontier",
    "InfeasibleBudget",
    "Plan",
    "Point",
    "SearchSettings",
    "Space",
    "TrainSettings",
    "__version__",
    "load",
    "pipeline",
    "search",
    "train",
]

_HOME = {
    "AdaptiveModel": "model",
    "AnyformerError": "errors",
    "Budget": "budget",
    "Exit": "plan",
    "Frontier": "frontier",
    "InfeasibleBudget": "errors",
    "Plan": "plan",
    "Point": "frontier",
    "SearchSettings": "search.config",
    "Space": "plan",
    "TrainSettings": "train.config",
    "load": "model",
    "pipeline": "pipeline",
    "search": "search.stages",
    "train": "train.stages",
}


class _Package(ModuleType):
    """Importing the module anyformer.pipeline must not put it in the place of the function anyformer.pipeline."""

    def __setattr__(self, name: str, value: object) -> None:
        if not (name in _HOME and isinstance(value, ModuleType)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'anyformer' has no attribute {name!r}")
    value = getattr(import_module(f"anyformer.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
