"""Settings of a search: frozen, checked when made."""

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from anyformer.train.config import SettingsError, check, setting


@dataclass(frozen=True)
class SearchSettings:
    """The defaults are the paper's: 22 plans at first, then 30 mutations and 30 crossovers in each of 30 iterations."""

    objective: str = setting("macs", "what a plan costs: its MACs, or measured milliseconds", ("macs", "latency"))
    space: str = setting("few", "plans drop at one to three layers, or at every layer", ("few", "every"))
    p: float = setting(0.2, "largest share of tokens that a layer drops (every)")
    floor: float = setting(0.125, "smallest share of tokens that is left (few)")
    score: str = setting(
        "auto", "what ranks tokens: auto is ramp where ramps rank tokens", ("auto", "attention", "ramp", "both")
    )
    iterations: int = setting(30, "generations after the first")
    population: int = setting(20, "plans of the first generation, beside the smallest and the full one")
    mutations: int = setting(30, "mutants a generation")
    crossovers: int = setting(30, "crossovers a generation")
    p_mutate: float = setting(0.5, "chance that a mutation changes a layer")
    racing: float = setting(0.0, "share of the examples on which plans are given up that are surely worse; 0: none")
    precision: str = setting(
        "auto", "of the search's passes; auto is bf16 where the CPU has AMX", ("auto", "fp32", "bf16")
    )
    examples: int = setting(0, "labelled examples that are read at most; 0 reads all")
    seed: int = setting(0, "of the draws")

    def __post_init__(self) -> None:
        check(self)
        if not self.p_mutate <= 1 or not self.racing < 1:
            raise SettingsError(f"p_mutate {self.p_mutate} and racing {self.racing} are shares: at most 1, below 1")

    def to_dict(self) -> dict[str, Any]:
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "SearchSettings":
        known = {field.name for field in dataclasses.fields(cls)}
        for key in data:
            if key not in known:
                raise SettingsError(f"a search has no setting {key!r}; it has {', '.join(sorted(known))}")
        return cls(**data)
