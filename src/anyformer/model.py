"""AdaptiveModel: any supported `AutoModelFor…` instance, called with a plan or a budget.

The wrapped model is untouched: a call runs its own forward, in which the encoder below the head is the loop of run.py
under this call's plan. The plan is an argument, so threads with different budgets share one model.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from transformers import PreTrainedModel
from transformers.modeling_outputs import BaseModelOutputWithPooling

from anyformer import folder
from anyformer.backbones.base import Backbone
from anyformer.backbones.find import find_backbone
from anyformer.budget import Budget
from anyformer.cost.macs import Shape
from anyformer.depth.ramps import Ramps, default_layers
from anyformer.errors import AnyformerError, InputError, PlanError, UnsupportedModel
from anyformer.frontier import Frontier
from anyformer.heads import head_products, kind_of, question_mask, reads_of, with_encoder
from anyformer.plan import Plan
from anyformer.rows import Rows
from anyformer.run import Extras, Reads, Trace, embed, run

TAKEN = {"attention_mask", "bool_masked_pos", "input_ids", "inputs_embeds", "interpolate_pos_encoding"}
TAKEN |= {"pixel_values", "position_ids", "token_type_ids"}
IDLE = {"return_dict", "use_cache"}


class AdaptiveModel(nn.Module):
    """`hf` is the wrapped model, `ramps` its exit heads, `frontier` its searched trade-off (None before a search)."""

    def __init__(self, hf: PreTrainedModel, tokenizer: Any = None, frontier: Frontier | None = None) -> None:
        super().__init__()
        self.backbone = find_backbone(hf)
        _check_finite(hf)
        self.hf = hf
        self.tokenizer = tokenizer
        self.frontier = frontier
        self.ramps: Ramps | None = None
        self.recompute = False  # gradient checkpointing, also where the family itself has none
        self.about: dict = {}
        self.reads, self.kind = reads_of(hf), kind_of(hf)
        self._head_products = head_products(hf)
        self.shape = Shape(
            self.backbone.n_layers, self.backbone.hidden, self.backbone.intermediate, self.backbone.ffn_products
        )

    @classmethod
    def wrap(cls, hf: PreTrainedModel, tokenizer: Any = None) -> "AdaptiveModel":
        """Any `AutoModelFor…` instance of a supported family, untouched."""
        return cls(hf, tokenizer)

    @classmethod
    def from_pretrained(cls, name: str | Path, task: str = "classification", **settings: Any) -> "AdaptiveModel":
        """A hub id, a local path or `minilm`, with the head of `task`; settings go to the Hugging Face class."""
        return cls(*folder.read_pretrained(name, task, **settings))

    @property
    def config(self) -> Any:
        return self.hf.config

    @property
    def device(self) -> torch.device:
        return next(self.hf.parameters()).device

    @property
    def dtype(self) -> torch.dtype:
        return next(self.hf.parameters()).dtype

    @property
    def n_layers(self) -> int:
        return self.backbone.n_layers

    def forward(
        self, plan: Plan | None = None, budget: Budget | str | None = None, protect: Tensor | None = None, **batch: Any
    ) -> Any:
        """What the wrapped model returns, with `kept`, `macs`, `exit_layer` and `trace` beside it."""
        plan = self.resolve(plan, budget)
        out, trace = self.call(batch, plan, protect)
        if not isinstance(out, tuple):
            self._annotate(out, plan, trace)
        return out

    def call(
        self,
        batch: dict,
        plan: Plan,
        protect: Tensor | None = None,
        probe: bool = False,
        embedded: tuple[Tensor, Rows] | None = None,
    ) -> tuple[Any, Trace]:
        """The wrapped model's output and the trace of its tokens; `probe` runs every ramp on the way, `embedded` is
        what `embed` gave where several calls share it."""
        extras = self.extras(batch, plan.score, protect)
        extras = replace(extras, probe=probe, recompute=self._recomputes(), embedded=embedded)
        encoder = _Encoder(self.backbone, plan, self.reads, extras)
        return self._headed(encoder, batch), encoder.trace

    def extras(self, batch: dict, score: str, protect: Tensor | None = None) -> Extras:
        """A ramp that looks for answers must not drop the question: protected, unless the caller says what is."""
        if protect is None and score != "attention" and self.kind == "span":
            protect = question_mask(batch, self._separator())
        return Extras(protect, self.ramps)

    def embed(self, batch: dict) -> tuple[Tensor, Rows]:
        """The tokens of a batch before the first layer, and their layout."""
        return embed(self.backbone, self.checked(batch), self.reads)

    def checked(self, batch: dict) -> dict:
        """What of a batch the encoder takes; anything that the loop cannot honour is refused."""
        return _checked(batch, self.backbone)

    def answer(self, batch: dict, states: Tensor) -> Any:
        """The model's output for states that the loop has already made."""
        return self._headed(_Given(self.backbone, states), batch)

    def _headed(self, encoder: Callable[..., Any], batch: dict) -> Any:
        """The wrapped model's own forward with `encoder` in the place of its base model."""
        return encoder(**batch) if self.hf.base_model is self.hf else with_encoder(self.hf, encoder)(**batch)

    def _separator(self) -> int | None:
        own = getattr(self.tokenizer, "sep_token_id", None)
        return own if own is not None else getattr(self.config, "sep_token_id", None)

    def add_ramps(self, layers: Iterable[int] | None = None) -> "AdaptiveModel":
        """Fresh exit heads, on every layer but the last unless layers are named."""
        if self.kind == "states":
            raise UnsupportedModel(f"{type(self.hf).__name__} has no head that a ramp could answer for")
        layers = list(default_layers(self.n_layers) if layers is None else layers)
        if not layers or not all(0 <= i < self.n_layers for i in layers):
            raise PlanError(f"ramps at layers {layers}: layers of this model are 0 to {self.n_layers - 1}")
        self.ramps = Ramps(layers, self.backbone.hidden, self.config.num_labels, self.kind).to(self.device)
        self.ramps.train(self.training)
        return self

    def resolve(self, plan: Plan | None = None, budget: Budget | str | None = None) -> Plan:
        """The plan that a call runs: the one given, the frontier's pick for a budget, or the full one."""
        if plan is not None and budget is not None:
            raise PlanError("a call takes a plan or a budget, not both")
        if budget is not None:
            plan = self._pick(Budget.parse(budget))
        if plan is None:
            return Plan.full(self.n_layers)
        if not isinstance(plan, Plan):
            raise PlanError(f"plan must be a Plan, not {type(plan).__name__}")
        if plan.n_layers != self.n_layers:
            raise PlanError(
                f"the plan has {plan.n_layers} layers, the model {self.n_layers}: keep needs one number a layer"
            )
        if plan.exit is not None:
            raise PlanError(f"exit rule {plan.exit.rule!r} needs exit heads; rows cannot leave early in this version")
        if plan.score != "attention":
            self._check_ramps(plan)
        return plan

    def _check_ramps(self, plan: Plan) -> None:
        if self.ramps is None:
            raise PlanError(
                f"score {plan.score!r} needs exit heads (ramps), and this model has none: `anyformer train` adds them"
            )
        for layer in plan.drops:
            self.ramps.at(layer)

    def _pick(self, budget: Budget) -> Plan:
        if self.frontier is None:
            if str(budget) == "full":
                return Plan.full(self.n_layers)
            raise AnyformerError(
                f"budget {str(budget)!r} needs a frontier, and this model has none: run `anyformer search` on it"
            )
        return self.frontier.pick(budget).plan

    def _recomputes(self) -> bool:
        """Gradient checkpointing: asked for here, or switched on in the wrapped model by its own method."""
        if not (self.training and torch.is_grad_enabled()):
            return False
        return self.recompute or any(getattr(module, "gradient_checkpointing", False) for module in self.hf.modules())

    def _annotate(self, out: Any, plan: Plan, trace: Trace) -> None:
        out.trace = trace
        out.kept = trace.kept()
        out.exit_layer = torch.full((len(trace.start.lengths),), plan.running[-1])
        out.macs = torch.tensor(self.row_macs(plan, trace))

    def row_macs(self, plan: Plan, trace: Trace) -> list[int]:
        """What each row cost."""
        kept = [[rows.lengths[b] for rows in trace.layers] for b in range(len(trace.start.lengths))]
        return [self._macs(plan, own, n) for own, n in zip(kept, trace.start.lengths, strict=True)]

    def plan_macs(self, plan: Plan, n_tokens: int) -> int:
        """What the plan costs a row of n tokens, known beforehand."""
        return self._macs(plan, plan.counts(n_tokens), n_tokens)

    def _macs(self, plan: Plan, counts: Sequence[int], n_tokens: int) -> int:
        """The layers in closed form, the head, and the ramps that ranked tokens; counts[i] tokens leave layer i."""
        total, now, drops = self._head_products * (1 if self.reads.first else n_tokens), n_tokens, set(plan.drops)
        for i in plan.running:
            total += self.shape.layers((i,), {i: counts[i]}, now) + self.backbone.extra_macs(now)
            if self.ramps and plan.score != "attention" and i in drops:
                total += self.ramps.at(i).macs(now)
            now = counts[i]
        return total

    def full_macs(self, n_tokens: int) -> int:
        """What the full plan costs a row of n tokens; `out.macs` over it is the row's MACs ratio."""
        return self.plan_macs(Plan.full(self.n_layers), n_tokens)

    def save(self, path: str | Path) -> Path:
        """A plain Hugging Face checkpoint and ours beside it; see folder.py."""
        return folder.save(self, Path(path))


def load(path: str | Path) -> AdaptiveModel:
    """A folder that `save` wrote; its manifest is verified first."""
    hf, tokenizer, frontier, about = folder.read(Path(path))
    model = AdaptiveModel(hf, tokenizer, frontier)
    model.about = about
    folder.read_ramps(model, Path(path))
    return model


class _Encoder:
    """Stands where the base model stands for the time of one call."""

    def __init__(self, backbone: Backbone, plan: Plan, reads: Reads, extras: Extras) -> None:
        self.backbone, self.plan, self.reads, self.extras = backbone, plan, reads, extras
        self.config = backbone.config

    def __call__(self, *first: Tensor, **batch: Any) -> BaseModelOutputWithPooling:
        if first:  # some heads hand on their main input without a name
            batch[self.backbone.base.main_input_name] = first[0]
        given = _checked(batch, self.backbone)
        states, self.trace = run(self.backbone, given, self.plan, self.reads, self.extras)
        return _encoded(self.backbone, states)


class _Given:
    """The same, of states that the loop has already made."""

    def __init__(self, backbone: Backbone, states: Tensor) -> None:
        self.backbone, self.states, self.config = backbone, states, backbone.config

    def __call__(self, *_: Tensor, **__: Any) -> BaseModelOutputWithPooling:
        return _encoded(self.backbone, self.states)


def _encoded(backbone: Backbone, states: Tensor) -> BaseModelOutputWithPooling:
    return BaseModelOutputWithPooling(last_hidden_state=states, pooler_output=backbone.pool(states))


def _checked(batch: dict, backbone: Backbone) -> dict:
    """Only what the loop can honour."""
    given = {name: value for name, value in batch.items() if value is not None and value is not False}
    unknown = sorted(set(given) - TAKEN - IDLE)
    if unknown:
        raise InputError(f"{unknown[0]} is not supported under a plan; supported: {', '.join(sorted(TAKEN))}")
    sources = [name for name in ("input_ids", "inputs_embeds", "pixel_values") if name in given]
    if len(sources) != 1:
        raise InputError(
            f"one of input_ids, inputs_embeds or pixel_values is needed; found {', '.join(sources) or 'none'}"
        )
    return given


def _check_finite(hf: PreTrainedModel) -> None:
    for name, parameter in hf.named_parameters():
        if parameter.numel() and not torch.stack(parameter.detach().aminmax()).isfinite().all():
            raise AnyformerError(
                f"weight {name} holds NaN or infinite values: this checkpoint is damaged or its training diverged"
            )
