"""Peak memory of a pass over reviews: the stock model on padded batches, or anyformer unpadded.

    python runs/memory.py tensors                                              # both: bytes of live tensors, exactly
    for side in stock unpadded; do python runs/memory.py $side; done           # a process a side: what the system gave
    MALLOC_MMAP_THRESHOLD_=65536 MALLOC_TRIM_THRESHOLD_=65536 python runs/memory.py stock    # memory given back at once

`tensors` adds up what PyTorch allocates and frees in each batch; the weights are not in it. A process is sampled every
few milliseconds (Linux): what it allocated (RssAnon) and all that was resident, with mapped weights (VmRSS). Its peak
depends on what glibc's malloc keeps after it was freed, which the two variables switch off.
"""

import random
import sys
import threading
import time
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile
from transformers import AutoModel, AutoTokenizer

from anyformer import AdaptiveModel
from anyformer.data import read
from anyformer.embedded import resolve_model

SIDES = ("stock", "unpadded")


def watch(peak_mb: dict[str, int]) -> None:
    while True:
        for line in Path("/proc/self/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in peak_mb:
                peak_mb[name] = max(peak_mb[name], int(value.split()[0]) // 1024)
        time.sleep(0.003)


def peak_of_tensors(model: torch.nn.Module, batch: dict) -> int:
    """The most bytes that tensors made in the call took at one time."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        model(**batch)
    events = [event for event in seen.profiler.kineto_results.events() if event.name() == "[memory]"]
    now = most = 0
    for event in sorted(events, key=lambda event: event.start_ns()):
        now += event.nbytes()
        most = max(most, now)
    return most


def exactly(models: dict, batches: list) -> None:
    peaks = [[peak_of_tensors(models[side], batch) / 1e6 for side in SIDES] for batch in batches]
    stock, own = (max(column) for column in zip(*peaks, strict=True))
    lower = sum(a >= b for a, b in peaks)
    print(f"tensors at the peak: stock {stock:.1f} MB, unpadded {own:.1f} MB; lower in {lower} of {len(peaks)} batches")


def main() -> None:
    side = sys.argv[1]
    torch.set_num_threads(1)
    peak_mb = {"RssAnon": 0, "VmRSS": 0}
    threading.Thread(target=watch, args=(peak_mb,), daemon=True).start()
    source = resolve_model("minilm")
    texts = [record["text"] for record in read("imdb", "test").records]
    texts = random.Random(0).sample(texts, 256)
    hf, tokenizer = AutoModel.from_pretrained(source).eval(), AutoTokenizer.from_pretrained(source)
    parts = [texts[at : at + 8] for at in range(0, len(texts), 8)]
    batches = (tokenizer(p, padding=True, truncation=True, max_length=512, return_tensors="pt") for p in parts)
    with torch.inference_mode():
        if side == "tensors":
            return exactly({"stock": hf, "unpadded": AdaptiveModel.wrap(hf)}, list(batches))
        model = hf if side == "stock" else AdaptiveModel.wrap(hf)
        for batch in batches:
            model(**batch)
    print(f"{side}: {peak_mb['RssAnon']} MB allocated, {peak_mb['VmRSS']} MB resident")


if __name__ == "__main__":
    main()
