"""Record and Data: what every reader returns and every task takes. A record is one example as a plain dict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Record = dict[str, Any]
Records = list[Record]


@dataclass(frozen=True)
class Data:
    """Records, what to call them in a message, and the names of the labels of a column where the source gives them."""

    records: Records
    origin: str
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.records)
