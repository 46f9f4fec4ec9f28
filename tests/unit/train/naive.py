"""A sandwich step without the library: a row at a time, with nothing but the modules of a BERT."""

import torch
import torch.nn.functional as F


def naive_logits(hf, ids, plan):
    """One row through a BERT classifier; what ranks tokens is the attention they receive, summed over heads."""
    n = len(ids)
    x = hf.bert.embeddings(ids[None])
    counts = plan.counts(n)
    for i in plan.running:
        layer = hf.bert.encoder.layer[i]
        context, probabilities = layer.attention.self(x, None)
        x = layer.attention.output(context, x)
        if counts[i] < x.shape[1]:
            score = probabilities.detach().sum((1, 2))[0]
            score[0] = torch.inf
            x = x[:, score.topk(counts[i]).indices.sort().values]
        x = layer.feed_forward_chunk(x)
    return hf.classifier(hf.dropout(hf.bert.pooler(x)))[0]


def naive_step(hf, rows, labels, draws, direction):
    """Gradients of L = 1/(n+2) · [CE + Σ KL], means over the batch; the loss."""
    full = torch.stack([naive_logits(hf, ids, draws.full) for ids in rows])
    teacher = full.detach()
    loss = F.cross_entropy(full, labels)
    for plan in draws.students:
        student = torch.stack([naive_logits(hf, ids, plan) for ids in rows])
        p_s, p_t = student.softmax(-1), teacher.softmax(-1)
        terms = p_t * (p_t.log() - p_s.log()) if direction == "forward" else p_s * (p_s.log() - p_t.log())
        loss = loss + terms.sum() / len(rows)
    loss = loss / (1 + len(draws.students))
    loss.backward()
    return loss.detach()
