"""Every mistake a user can make ends in one of these; the message says what was found, what was expected, what to do.

The command line prints the message on one line and leaves with exit code 2.
"""


class AnyformerError(Exception):
    """The one base class: `except AnyformerError` catches whatever this library raises on purpose."""


class PlanError(AnyformerError, ValueError):
    """A plan, or a part of one, that cannot be run."""


class BudgetError(AnyformerError, ValueError):
    """A budget that cannot be read."""


class InfeasibleBudget(AnyformerError):
    """A budget that no point of the frontier meets; names the cheapest point."""


class UnsupportedModel(AnyformerError):
    """An architecture or head that no adapter names."""


class InputError(AnyformerError, ValueError):
    """A batch that the model cannot take."""


class DataError(AnyformerError):
    """A data set that is missing, empty or of other columns than expected."""


class FolderError(AnyformerError):
    """A model folder that is missing, truncated or altered."""


class MissingExtra(AnyformerError, ImportError):
    """Something that an extra would bring; says which one."""
