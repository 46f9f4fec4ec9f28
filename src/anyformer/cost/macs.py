"""Multiply-accumulates of one row, in closed form.

With l_0 = n tokens and l_i leaving layer i, hidden width d and feed-forward width f (Kim and Cho 2021; their "FLOPs"):
    Σ_i 4·l_{i-1}·d² + 2·l_{i-1}²·d + 2·l_i·d·f
over the layers that run. Embeddings, norms and activations are not counted; heads and ramps are counted apart.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from anyformer.plan import Plan


@dataclass(frozen=True)
class Shape:
    """The sizes of a model that its cost depends on; ffn_products is 3 where the feed-forward block is gated."""

    n_layers: int
    hidden: int
    intermediate: int
    ffn_products: int = 2

    def attention(self, n_in: int) -> int:
        return 4 * n_in * self.hidden**2 + 2 * n_in**2 * self.hidden

    def feed_forward(self, n_out: int) -> int:
        return self.ffn_products * n_out * self.hidden * self.intermediate

    def layers(self, running: Iterable[int], counts: Mapping[int, int] | Sequence[int], n_tokens: int) -> int:
        """The layers `running`, for a row of n tokens of which counts[i] leave layer i."""
        total, now = 0, n_tokens
        for i in running:
            total += self.attention(now) + self.feed_forward(counts[i])
            now = counts[i]
        return total

    def plan(self, plan: Plan, n_tokens: int) -> int:
        """The encoder under a plan, without exits."""
        return self.layers(plan.running, plan.counts(n_tokens), n_tokens)

    def ratio(self, plan: Plan, lengths: Iterable[int]) -> float:
        """The plan's share of the full plan's MACs on the same texts, without padding."""
        lengths = list(lengths)
        full = Plan.full(self.n_layers)
        return sum(self.plan(plan, n) for n in lengths) / sum(self.plan(full, n) for n in lengths)
