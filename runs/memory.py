"""Peak memory of a pass over reviews: the stock model on padded batches, or anyformer unpadded. One process a side.

    for side in stock unpadded; do python runs/memory.py $side; done

Linux only: what the process allocated (RssAnon) and all that was resident, with mapped weights (VmRSS), sampled every
few milliseconds.
"""

import random
import sys
import threading
import time
from pathlib import Path

import torch
from transformers import AutoModel, AutoTokenizer

from anyformer import AdaptiveModel
from anyformer.data import read
from anyformer.embedded import resolve_model


def watch(peak_mb: dict[str, int]) -> None:
    while True:
        for line in Path("/proc/self/status").read_text().splitlines():
            name, _, value = line.partition(":")
            if name in peak_mb:
                peak_mb[name] = max(peak_mb[name], int(value.split()[0]) // 1024)
        time.sleep(0.003)


def main() -> None:
    torch.set_num_threads(1)
    peak_mb = {"RssAnon": 0, "VmRSS": 0}
    threading.Thread(target=watch, args=(peak_mb,), daemon=True).start()
    source = resolve_model("minilm")
    texts = [record["text"] for record in read("imdb", "test").records]
    texts = random.Random(0).sample(texts, 256)
    hf, tokenizer = AutoModel.from_pretrained(source).eval(), AutoTokenizer.from_pretrained(source)
    model = hf if sys.argv[1] == "stock" else AdaptiveModel.wrap(hf)
    with torch.inference_mode():
        for at in range(0, len(texts), 8):
            model(**tokenizer(texts[at : at + 8], padding=True, truncation=True, max_length=512, return_tensors="pt"))
    print(f"{sys.argv[1]}: {peak_mb['RssAnon']} MB allocated, {peak_mb['VmRSS']} MB resident")


if __name__ == "__main__":
    main()
