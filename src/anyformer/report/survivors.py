"""Which tokens of a text survive each layer, as the model's own trace has them: what the page and the terminal show.

A token is shown as the piece of the text that it stands for, with what lies before it, so the pieces read as the text.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from anyformer.errors import AnyformerError
from anyformer.model import AdaptiveModel
from anyformer.pipeline import task_of
from anyformer.plan import Plan
from anyformer.tasks.texts import check_fast, clean, encode, inputs_of, position_limit

TASKS = ("classification", "tagging")
BLANK = "·"  # a token whose characters an earlier one has shown


@dataclass(frozen=True)
class Token:
    """gap: what stands before it in the text; special: one that the tokenizer added."""

    piece: str
    gap: str = ""
    special: bool = False


@dataclass(frozen=True)
class Survivors:
    """left: for each plan and token the layer at which the token leaves, the number of layers for one that stays."""

    tokens: tuple[Token, ...]
    left: tuple[tuple[int, ...], ...]
    n_layers: int
    is_cut: bool

    def after(self, plan: int, layer: int) -> str:
        """The text as it goes on after a layer, with … where tokens are gone; -1: as it comes in."""
        words, gone = "", False
        for token, left in zip(self.tokens, self.left[plan], strict=True):
            if left > layer:
                words += (" … " if gone else token.gap or " " * token.special) + token.piece + " " * token.special
            gone = left <= layer
        return " ".join((words + " …" * gone).split())


def survivors(model: AdaptiveModel, plans: Sequence[Plan], texts: Sequence[str]) -> list[Survivors]:
    """A text at a time; a plan's exit rule is left out: what is shown is a text that runs to the end."""
    if (task := task_of(model)) not in TASKS:
        raise AnyformerError(
            f"tokens of a text are followed in models for {' and '.join(TASKS)}; this one is for {task}"
        )
    tokenizer = check_fast(model.tokenizer)
    limit = position_limit(tokenizer, model.config)
    cleaned = [clean(text) for text in texts]
    found = []
    for i, encoding in encode(tokenizer, cleaned, truncation=True, max_length=limit):
        batch = {name: torch.from_numpy(ids).long()[None] for name, ids in inputs_of(tokenizer, encoding).items()}
        left = tuple(_left(model, replace(plan, exit=None), batch) for plan in plans)
        tokens = tuple(_tokens(cleaned[i], encoding))
        found.append(Survivors(tokens, left, model.n_layers, bool(encoding.overflowing)))
    return found


@torch.inference_mode()
def _left(model: AdaptiveModel, plan: Plan, batch: dict[str, Any]) -> tuple[int, ...]:
    """How many layers each token survives, which is the number of the layer at which it leaves."""
    trace = model(**{name: ids.to(model.device) for name, ids in batch.items()}, plan=plan, return_dict=True).trace
    survived = torch.zeros(trace.start.width, dtype=torch.long)
    for positions in trace.kept_positions():
        survived[positions[0][positions[0] >= 0]] += 1
    return tuple(survived.tolist())


def _tokens(text: str, encoding: Any) -> Iterator[Token]:
    shown = 0
    for token, (start, end), special in zip(
        encoding.tokens, encoding.offsets, encoding.special_tokens_mask, strict=True
    ):
        if special:
            yield Token(token, special=True)
            continue
        start, end = max(start, shown), max(end, shown)
        piece = text[start:end].lstrip()
        yield Token(piece or BLANK, text[shown : end - len(piece)])
        shown = end
