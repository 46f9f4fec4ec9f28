"""The model card: what a folder holds, how it was made, and the score of every plan that was evaluated."""

from collections.abc import Mapping
from typing import Any

from anyformer.frontier import Frontier

USE = """\
```python
import anyformer

pipe = anyformer.pipeline("{path}", budget="{budget}")
```

`{head}.from_pretrained("{path}")` loads it as the plain model.
"""


def card(about: Mapping[str, Any], head: str, frontier: Frontier | None) -> str:
    """README.md of a model folder."""
    parts = ["---", "library_name: anyformer", "---", "", f"# An adaptive {head}", ""]
    parts += [f"Task: {about.get('task', 'not said')}. One checkpoint that runs at several compute budgets.", ""]
    parts += [USE.format(path="path/to/this/folder", budget="40%" if frontier else "full", head=head)]
    if about.get("scores"):
        metric = about.get("metric", "score")
        parts += ["## Scores", "", "On the validation records that training held out.", ""]
        parts += [f"| plan | {metric} |", "|---|---|"]
        parts += [f"| {name} | {value:.2f} |" for name, value in about["scores"].items()] + [""]
    if frontier is not None:
        parts += ["## Trade-off", "", "| MACs | score | plan |", "|---|---|---|"]
        for point in frontier.points:
            keep = " ".join(f"{k:.2f}" for k in point.plan.keep)
            parts.append(f"| {point.macs_ratio:.0%} | {point.score:.2f} | {keep} |")
        parts.append("")
    if about.get("settings"):
        parts += ["## Settings", "", "| stage | setting | value |", "|---|---|---|"]
        for stage, values in about["settings"].items():
            parts += [f"| {stage} | {name} | {value} |" for name, value in values.items()]
        parts.append("")
    return "\n".join(parts)
