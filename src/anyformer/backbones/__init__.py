"""One short file a family: it names the parts of an untouched Hugging Face model, the loop in run.py drives them."""
