"""From what a user names to records: read (files, hub, embedded), find the columns, split into train and validation."""

from anyformer.data.columns import canonical, columns_of, find_columns, guess_task
from anyformer.data.inputs import load_inputs
from anyformer.data.records import Data, Record, Records
from anyformer.data.sources import read, stream
from anyformer.data.splits import Splits, halves, load_labelled, load_named, load_splits

__all__ = [
    "Data",
    "Record",
    "Records",
    "Splits",
    "canonical",
    "columns_of",
    "find_columns",
    "guess_task",
    "halves",
    "load_inputs",
    "load_labelled",
    "load_named",
    "load_splits",
    "read",
    "stream",
]
