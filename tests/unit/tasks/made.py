"""A tokenizer as BERT's are, made here: a few whole words, every other ASCII word in its letters."""

import string

from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import PreTrainedTokenizerFast

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = ["the", "cat", "dog", "sat", "on", "mat", "in", "paris", "a", "good", "bad", "film", "who", "where", "##s"]
PIECES = [*string.punctuation, *string.ascii_lowercase, *string.digits]


def made_tokenizer(max_length=64):
    vocabulary = dict.fromkeys([*SPECIAL, *WORDS, *PIECES, *(f"##{c}" for c in string.ascii_lowercase + string.digits)])
    ids = {token: i for i, token in enumerate(vocabulary)}
    backend = Tokenizer(WordPiece(ids, unk_token="[UNK]"))
    backend.normalizer = BertNormalizer(lowercase=True)
    backend.pre_tokenizer = BertPreTokenizer()
    backend.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", ids["[CLS]"]), ("[SEP]", ids["[SEP]"])],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=max_length,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )
