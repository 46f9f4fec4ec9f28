"""How fast is a generation judged? Against a naive loop: padded to 384 tokens, eager attention, a plan at a time.

    python runs/search_speed.py --data squad/dev.jsonl.xz --rows 64 --threads 1

Both judge the same plans (children of a search of MiniLM in the paper's space) on the same windows of questions and
contexts. The naive loop drops the same shares of each row's own tokens, so answers must be the same; it computes what
the published code computes: every pad, every probability, every plan from its first layer on.
"""

import argparse
import json
import time
from random import Random

import torch
from torch import Tensor
from transformers.utils import logging

from anyformer import AdaptiveModel
from anyformer.data import load_labelled
from anyformer.plan import Plan, Space
from anyformer.search.config import SearchSettings
from anyformer.search.evolve import Judged, Problem, evolve
from anyformer.search.score import Jury
from anyformer.search.stages import share_of_macs
from anyformer.tasks import TaskSettings, task_for

WIDTH, BATCH = 384, 8


def naive(model: AdaptiveModel, batch: dict[str, Tensor], plan: Plan) -> tuple[Tensor, Tensor]:
    """BERT under a plan, padded: start and end logits of all tokens, restored."""
    bert, mask = model.hf.bert, batch["attention_mask"].bool()
    x = bert.embeddings(batch["input_ids"], batch["token_type_ids"])
    restored, places = x.clone(), torch.arange(x.shape[1]).expand(len(x), -1)
    counts = torch.tensor([plan.counts(int(n)) for n in mask.sum(1)])
    for i, layer in enumerate(bert.encoder.layer):
        own, shape = layer.attention.self, (len(x), x.shape[1], 12, -1)
        q, k, v = (part(x).view(shape).transpose(1, 2) for part in (own.query, own.key, own.value))
        added = torch.zeros(mask.shape).masked_fill(~mask, torch.finfo(torch.float32).min)[:, None, None]
        probabilities = (q @ k.transpose(-1, -2) * own.scaling + added).softmax(-1)
        context = (probabilities @ v).transpose(1, 2).flatten(2)
        score = (probabilities * mask[:, None, :, None]).sum((1, 2)).masked_fill(~mask, -1)
        x = layer.attention.output(context, x)
        keep = score.topk(int(counts[:, i].max())).indices.sort(1).values
        rank = score.gather(1, keep).argsort(1, descending=True).argsort(1)
        mask = rank < counts[:, i : i + 1]
        x = x.gather(1, keep[..., None].expand(-1, -1, x.shape[-1]))
        places = places.gather(1, keep)
        x = layer.feed_forward_chunk(x)
        at = places[..., None].expand_as(x)
        restored = restored.scatter(1, at, torch.where(mask[..., None], x, restored.gather(1, at)))
    return tuple(model.hf.qa_outputs(restored).unbind(-1))


def children(model: AdaptiveModel, lengths: list[int], turns: int) -> list[Plan]:
    """The plans of a later generation; scores are made up, which is enough for plans to be related."""
    space, cost = Space(model.n_layers, "every"), share_of_macs(model, lengths)
    generation = evolve(Problem(space, "attention", cost, SearchSettings(space="every"), Random(0)))
    plans = next(generation)
    for _ in range(turns):
        plans = generation.send([Judged(p, cost(p), sum(k**0.5 for k in p.keep)) for p in plans])
    return plans


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True)
    parser.add_argument("--rows", type=int, default=64)
    parser.add_argument("--naive-plans", type=int, default=6, help="plans that the naive loop runs; its time is scaled")
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    logging.disable_progress_bar()
    torch.manual_seed(0)
    model = AdaptiveModel.from_pretrained("minilm", "qa", attn_implementation="sdpa").eval()
    task = task_for("qa", model.tokenizer, (), model.config, TaskSettings(max_length=WIDTH))
    records = Random(0).sample(load_labelled(args.data, "qa"), args.rows)
    juries = {precision: Jury(model, task, records, precision) for precision in ("fp32", "bf16")}
    jury = juries["fp32"]
    plans = children(model, jury.lengths, 5)
    features = jury.prepared.features
    took, seconds = {}, 0.0
    with torch.inference_mode():
        raw = [[None] * len(features) for _ in range(args.naive_plans)]
        for at in range(0, len(features), BATCH):
            own = features[at : at + BATCH]
            batch = task.collate(own)
            batch = {k: torch.nn.functional.pad(v, (0, WIDTH - v.shape[1])) for k, v in batch.items()}
            for p, plan in enumerate(plans[: args.naive_plans]):
                begun = time.perf_counter()
                start, end = naive(model, batch, plan)
                seconds += time.perf_counter() - begun
                width = max(f.n_tokens for f in own)
                out = type("Out", (), {"start_logits": start[:, :width], "end_logits": end[:, :width]})
                for i, result in zip(range(at, at + len(own)), task.decode(out, own), strict=True):
                    raw[p][i] = result
    took["naive"] = seconds / args.naive_plans * len(plans)
    wanted = [float(task.score_of(jury._tallied(one).sum(0))) for one in raw]
    scores = {}
    for name, one in juries.items():
        one.tallies(plans[:2])  # warm-up: weights are packed
        begun = time.perf_counter()
        tallies = one.tallies(plans)
        took[name] = time.perf_counter() - begun
        scores[name] = [float(task.score_of(tally.sum(0))) for tally in tallies]
    same = sum(a == b for a, b in zip(wanted, scores["fp32"], strict=False))
    found = {"plans": len(plans), "rows": len(features), "mean_tokens": sum(jury.lengths) / len(features)}
    found |= {"threads": args.threads, "seconds": {name: round(value, 2) for name, value in took.items()}}
    found |= {"ratio": {name: round(took["naive"] / took[name], 2) for name in juries}}
    found |= {"equal scores, fp32": f"{same} of {len(wanted)}"}
    print(json.dumps(found))


if __name__ == "__main__":
    main()
