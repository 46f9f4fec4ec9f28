"""Peak memory of a pass over reviews: the stock model on padded batches, or anyformer unpadded. One process a side.

for side in stock unpadded; do python runs/memory.py $side; done
"""

import random
import resource
import sys

import torch
from transformers import AutoModel, AutoTokenizer

from anyformer import AdaptiveModel
from anyformer.data import read
from anyformer.embedded import resolve_model


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    torch.set_num_threads(1)
    source = resolve_model("minilm")
    texts = [record["text"] for record in read("imdb", "test").records]
    texts = random.Random(0).sample(texts, 256)
    hf, tokenizer = AutoModel.from_pretrained(source).eval(), AutoTokenizer.from_pretrained(source)
    model = hf if sys.argv[1] == "stock" else AdaptiveModel.wrap(hf)
    with torch.inference_mode():
        model(**tokenizer(["warm up"], return_tensors="pt"))
        before = peak_mb()
        for at in range(0, len(texts), 8):
            model(**tokenizer(texts[at : at + 8], padding=True, truncation=True, max_length=512, return_tensors="pt"))
    print(f"{sys.argv[1]}: {peak_mb() - before:.0f} MB over {before:.0f} MB with the model loaded")


if __name__ == "__main__":
    main()
