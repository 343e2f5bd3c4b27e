"""Model cards: the README.md of a model folder, as the Hugging Face hub displays it."""

import io
import re
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from transformers import PreTrainedTokenizerBase

from crosslens import __version__
from crosslens.data.corpus import trained_languages
from crosslens.data.subwords import LONE_PREFIXES, LONGEST_WORD, word_prefix
from crosslens.formatting import plain
from crosslens.tasks.tagging import Tagging
from crosslens.training.model import TaskModel

CARD = "README.md"
HUB_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")


def model_card(model: TaskModel, *, exported: bool) -> str:
    """Write the model card as Markdown: what the model is, and how to use it with crosslens or plain transformers.

    The YAML header follows the hub's format and leaves the licence to the publisher.

    Args:
        exported: whether encoder and head are saved as a token classifier of transformers.
    """
    alone = exported and bool(model.encoder.tokenizer.is_fast) and not model.encoder.tokenizers
    ending = model.task.format.ending
    parts = [
        f"---\n{_header(model, alone=alone)}---",
        f"# {_short_name(model)} fine-tuned for {model.task.name}",
        _training(model),
        "This card names no licence: add `license: …` to its header before publishing the model.",
        "## With crosslens",
        _code("sh", f"crosslens predict FOLDER text{ending} --out predicted{ending}"),
        "## With plain transformers",
        *(_plain_tagging(model) if alone else [_unreadable(model, exported=exported)]),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _header(model: TaskModel, *, alone: bool) -> str:
    base, languages = model.encoder.name, trained_languages(model.source)
    facts = {
        "language": [*languages] if len(languages) > 1 else model.source,
        "library_name": "transformers" if alone else "crosslens",
        "base_model": base if HUB_NAME.fullmatch(base) and not Path(base).exists() else None,
        "pipeline_tag": "token-classification" if isinstance(model.task, Tagging) else None,
        "tags": ["crosslens", model.task.name],
        "metrics": [model.recipe.select_by or model.task.metric] if "dev_score" in model.facts else None,
    }
    text = io.StringIO()
    YAML().dump({key: value for key, value in facts.items() if value is not None}, text)
    return text.getvalue()


def _short_name(model: TaskModel) -> str:
    return Path(model.encoder.name).name


def _training(model: TaskModel) -> str:
    facts, sentences = model.facts, [f"`{_short_name(model)}`, fine-tuned by crosslens {__version__}."]
    if "train" in facts:
        language = f" ({model.source})" if model.source else ""
        unit = "sentences" if "train_words" in facts else "texts"
        sentences.append(
            f"Training data: `{facts['train']}`{language}, {facts['train_sentences']} {unit}; seed {model.seed}."
        )
    if model.encoder.condition.change:
        sentences.append(
            f"The encoder was modified before fine-tuning; crosslens condition: `{model.encoder.condition.change}`."
        )
    if "dev_score" in facts:
        score = plain(float(facts["dev_score"]), decimals=2)
        sentences.append(
            f"Development score on `{facts['dev']}`: {model.recipe.select_by or model.task.metric} {score}."
        )
    return "\n".join(sentences)


def _plain_tagging(model: TaskModel) -> list[str]:
    return [
        "A word's tag is predicted at its first subword that contains a character. Some vocabularies, such as XLM-R's,"
        " often start\na word with a lone `▁`, so neither"
        ' `pipeline("token-classification")` nor the first subword of each of the `word_ids`\ngives the tags of this'
        " model. Use this code:",
        _code("python", snippet(model.encoder.tokenizer)),
        f"crosslens splits sentences of more than {model.encoder.capacity} subwords (special tokens included) into"
        f" windows, and truncates\nwords to {LONGEST_WORD} subwords. The code above does neither.",
    ]


def snippet(tokenizer: PreTrainedTokenizerBase) -> str:
    """Python code that tags words with plain transformers exactly as crosslens does.

    Args:
        tokenizer: the model's tokenizer, which must align subwords with words.
    """
    # transformers does not save `add_prefix_space` of byte-level vocabularies; a space before a word does the same.
    backend: Any = tokenizer.backend_tokenizer
    spaced = word_prefix(tokenizer) == " " or getattr(backend.pre_tokenizer, "add_prefix_space", False)
    word = 'f" {word}"' if spaced else "word"
    marks = ", ".join(f'"{mark}"' for mark in LONE_PREFIXES)
    return f"""import torch
from transformers import AutoModelForTokenClassification, AutoTokenizer

FOLDER = "."  # the folder of this card, or the name of the model on the hub
MARKS = ({marks})  # subwords without a character
tokenizer = AutoTokenizer.from_pretrained(FOLDER)
model = AutoModelForTokenClassification.from_pretrained(FOLDER).eval()


def tag(words):
    words = [{word} if tokenizer.tokenize(word) else tokenizer.unk_token for word in words]
    inputs = tokenizer(words, is_split_into_words=True, return_tensors="pt", return_token_type_ids=False)
    with torch.inference_mode():
        best = model(**inputs).logits[0].argmax(-1).tolist()
    subwords, owners, tags = inputs.tokens(), inputs.word_ids(), []
    for number in range(len(words)):
        place = owners.index(number)
        if subwords[place] in MARKS and owners[place + 1 : place + 2] == [number]:
            place += 1
        tags.append(model.config.id2label[best[place]])
    return tags


print(tag(["The", "dog", "barks", "."]))"""


def _unreadable(model: TaskModel, *, exported: bool) -> str:
    encoder = model.encoder.model
    if exported:
        return (
            "Plain transformers loads the weights with `AutoModelForTokenClassification`, but cannot align subwords"
            " with words for\nthis tokenizer: tag with crosslens."
        )
    known = type(encoder).__module__.startswith("transformers.")
    reading = (
        f" `{type(encoder).__name__}.from_pretrained` loads\nthe fine-tuned encoder without the head." if known else ""
    )
    return (
        "Plain transformers cannot load the head of this model (`head.safetensors`): its `AutoModelFor…` classes would"
        f" initialise a\nrandom head instead, with only a warning.{reading}"
    )


def _code(language: str, text: str) -> str:
    return f"```{language}\n{text}\n```"
