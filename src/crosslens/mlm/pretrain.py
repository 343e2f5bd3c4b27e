"""Pretraining of a masked language model from raw text.

Streams and language sampling as in Conneau, Wu et al. (2020, section 3): each language's text is one stream, cut into
sequences of one length, so there is no padding; a step reads one language, drawn with probability n^exponent.
"""

import json
import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import BertConfig, BertForMaskedLM, PreTrainedModel, PreTrainedTokenizerFast

from crosslens import __version__
from crosslens.corpora.catalogue import load_text
from crosslens.corpora.dictionaries import load_dictionary
from crosslens.digests import digest, stream_seed
from crosslens.encoders.encoder import default_device
from crosslens.encoders.load import quiet, save_tokenizers
from crosslens.encoders.models.language_specific import RoutedBertConfig, RoutedBertForMaskedLM
from crosslens.errors import RequestError
from crosslens.files import new_folder
from crosslens.mlm.code_switching import switch_words
from crosslens.mlm.objective import Batch, claim, release, train_masked
from crosslens.mlm.pretrain_settings import Pretraining
from crosslens.mlm.streams import Lines, Masker, Streams, cut_stream, cut_streams, sort_lines
from crosslens.mlm.vocabulary import SPECIALS, VOCABULARIES, make_vocabularies
from crosslens.progress import Listener, listening
from crosslens.training import versions
from crosslens.training.distributed import processes
from crosslens.training.loop import Loop, Optimiser, parameter_groups


def pretrain(
    settings: Pretraining,
    folder: str | Path,
    *,
    base: str | Path = ".",
    data: str | Path | None = None,
    save_every: int = 200,
    device: str | torch.device | None = None,
    progress: Listener = None,
    stepped: Callable[[int, float], None] | None = None,
    validated: Callable[[int, Mapping[str, float]], None] | None = None,
) -> dict[str, float]:
    """Pretrain an encoder, and write it as a Hugging Face masked language model that `load_encoder` reads.

    ``FOLDER.partial`` holds the state during training; after an interruption the same call resumes from it, to the same
    bits on a CPU with the same number of threads. In processes that `torchrun` started and `join_processes`
    joined, each reads its share of every batch, and the first one writes.

    Args:
        settings: what to train.
        folder: to make.
        base: where the corpora's relative paths start.
        data: a folder that is looked through first for what is named in ``settings``.
        save_every: steps between two states kept.
        device: None: a GPU where there is one.
        progress: hears of every step and measurement.
        stepped: called after every step with steps done and the loss.
        validated: called after every measurement with steps done and each language's perplexity.

    Returns:
        ``loss`` (the mean over the last hundred steps), ``subwords``, ``steps``; with validation
        ``perplexity LANGUAGE`` of the weights that are kept, and ``kept_step``.

    Raises:
        DataError: for text or a dictionary that cannot be read.
        RequestError: when the folder exists, or a partial training of other settings does; for a language with too
            little text; for a dictionary that shares no word with the text.
        TrainingError: when the loss is no longer a number, or the state kept is damaged.
    """
    folder = Path(folder)
    device = torch.device(device or default_device())
    corpora = {
        language: load_text(find_text(name, base), language=language, data=data)
        for language, name in settings.corpora.items()
    }
    text = {language: [item.text for item in corpus] for language, corpus in corpora.items()}
    held_out: dict[str, list[str]] = {}
    if settings.validation is not None:
        text, held_out = _hold_out(text, settings.validation.lines)
    listener = listening(progress)
    listener.report("preparing text and vocabulary", 0)
    text, dictionaries = _with_extra_anchors(text, settings, base, data)
    identity = digest(
        {
            "settings": settings.model_dump(mode="json", exclude={"corpora"}),
            "semantics": versions.PRETRAINING,
            "text": {language: corpus.digest for language, corpus in corpora.items()},
            "dictionaries": dictionaries,
        }
    )
    tokenizers = _tokenizers(text, settings)
    read = _readable(text, tokenizers, settings)
    masking = settings.masking
    maskers = {
        language: Masker.of(tokenizer, share=masking.share, masked=masking.masked, replaced=masking.replaced)
        for language, tokenizer in tokenizers.items()
    }
    one = next(iter(maskers.values()))
    unseen = _held_out_batches(held_out, tokenizers, maskers, settings)
    among = processes()
    partial = folder.with_name(f"{folder.name}.partial")
    if among.rank == 0:
        claim(partial, identity)  # after all that can be wrong with the request
    among.wait()

    model = fresh_model(settings, tokenizers)
    model.to(device).train()  # pyright: ignore[reportArgumentType]
    subwords_read = 0
    started: tuple[float, int] | None = None  # after the first step, which is slower than the others

    def batches(step: int) -> list[Batch]:
        nonlocal subwords_read
        language, ids = read.language(step), read.batch(step, size=settings.batch)
        subwords_read += ids.size
        generator = np.random.default_rng(stream_seed(settings.seed, "mask", step))
        shown, chosen = (maskers[language] if language else one).hide(ids, generator)
        own = [rows[among.rank :: among.size] for rows in (ids, shown, chosen)]
        size = settings.micro_batch or len(ids)
        if settings.micro_batch and settings.reading == "lines":  # lines come in batches of as many positions
            size = max(1, settings.micro_batch * settings.shape.positions // ids.shape[1])
        return [(language, *(rows[first : first + size] for rows in own)) for first in range(0, len(own[0]), size)]  # pyright: ignore[reportReturnType]

    def note(loss: float) -> str:
        nonlocal started
        now = time.perf_counter()
        if started is None:
            started = (now, subwords_read)
            return f"loss {loss:.3f}"
        return f"loss {loss:.3f}, {(subwords_read - started[1]) / (now - started[0]):,.0f} subwords/s"

    facts = train_masked(
        _loop(model, settings, identity),
        model,
        batches,
        partial=partial,
        unseen=unseen,
        validation=settings.validation,
        precision=settings.precision,
        save_every=save_every,
        stage="pretraining",
        note=note,
        progress=listener,
        stepped=stepped,
        validated=validated,
    )
    facts["subwords"] = read.subwords(facts["steps"], size=settings.batch)
    if among.rank == 0:
        description = {
            "crosslens": __version__,
            "identity": identity,
            "settings": settings.model_dump(mode="json"),
            "facts": facts,
            "corpora": {language: corpus.digest for language, corpus in corpora.items()},
        }
        _write(folder, model, tokenizers, description)
        release(partial)
    among.wait()
    return facts


def fresh_model(settings: Pretraining, tokenizers: Mapping[str, PreTrainedTokenizerFast]) -> PreTrainedModel:
    """A BERT of this shape, drawn from the settings' seed; routed where something is separate."""
    shape = settings.shape
    one = next(iter(tokenizers.values()))
    usual = {
        "vocab_size": len(one),
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.feedforward or 4 * shape.width,
        "max_position_embeddings": shape.positions,
        "hidden_dropout_prob": shape.dropout,
        "attention_probs_dropout_prob": shape.dropout,
        "pad_token_id": one.get_vocab()[SPECIALS["pad_token"]],
        "initializer_range": shape.initializer_range or 0.55 / math.sqrt(shape.width),
    }
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(stream_seed(settings.seed, "model"))
        if settings.separate:
            sizes = {language: len(tokenizer) for language, tokenizer in tokenizers.items()}
            usual["vocab_size"] = max(sizes.values())
            model: PreTrainedModel = RoutedBertForMaskedLM(
                RoutedBertConfig(vocabularies=sizes, separate=settings.separate_layers, **usual)
            )
        else:
            model = BertForMaskedLM(BertConfig(**usual))
        if shape.embedding_range:
            with torch.no_grad():
                for table in word_tables(model):
                    table.mul_(shape.embedding_range / usual["initializer_range"])
        return model


def word_tables(model: nn.Module) -> list[nn.Parameter]:
    """The word embeddings: one table, or each language's."""
    return [p for name, p in model.named_parameters() if name.endswith("word_embeddings.weight")]


def find_text(name: str, base: str | Path) -> str:
    """A file relative to the settings' place; ``raw/…``, ``lab/…`` and ``muse/…`` are names."""
    path = Path(base) / name
    return str(path) if path.exists() or not name.startswith(("raw/", "lab/", "muse/")) else name


def _hold_out(text: Mapping[str, list[str]], lines: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    for language, lines_of in text.items():
        if len(lines_of) <= lines:
            raise RequestError(
                f"{language} has {len(lines_of)} lines, too few to hold out {lines}", hint="lower validation.lines"
            )
    return {k: all_lines[:-lines] for k, all_lines in text.items()}, {
        k: all_lines[-lines:] for k, all_lines in text.items()
    }


def _with_extra_anchors(
    text: dict[str, list[str]], settings: Pretraining, base: str | Path, data: str | Path | None
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """The text with words switched, and the digests of the dictionaries."""
    extra = settings.extra_anchors
    if extra is None:
        return text, {}
    tables: dict[str, dict[str, list[tuple[str, float]]]] = {}
    digests = {}
    for pair, name in settings.dictionaries.items():
        dictionary = load_dictionary(find_text(name, base), data=data)
        digests[pair] = digest([list(row) for row in dictionary.pairs])
        for language, side in zip(settings.sides(pair), (dictionary, dictionary.reversed()), strict=True):
            table = tables.setdefault(language, {})
            for word, translations in side.translations.items():
                table.setdefault(word, []).extend(translations)
    switched = {
        language: switch_words(
            text[language], table, probability=extra.probability, most=extra.most, seed=settings.seed, language=language
        )
        for language, table in tables.items()
    }
    return {language: switched.get(language, unchanged) for language, unchanged in text.items()}, digests


def _tokenizers(text: Mapping[str, list[str]], settings: Pretraining) -> dict[str, PreTrainedTokenizerFast]:
    """Each language's tokenizer; where the embeddings are separate too, the ids of each begin at 0."""
    chosen, positions = settings.vocabulary, settings.shape.positions
    if 0 in settings.separate_layers and chosen.anchors != "joint":
        share, train = chosen.size // len(text), VOCABULARIES[chosen.kind]
        return {language: train(lines, size=share, positions=positions) for language, lines in text.items()}
    return make_vocabularies(text, kind=chosen.kind, size=chosen.size, positions=positions, anchors=chosen.anchors)


def _readable(
    text: Mapping[str, list[str]], tokenizers: Mapping[str, PreTrainedTokenizerFast], settings: Pretraining
) -> Streams | Lines:
    length = settings.shape.positions
    if settings.reading == "lines":
        return sort_lines(
            text,
            tokenizers,
            length=length,
            budget=settings.batch * length,
            seed=settings.seed,
            together="one" if settings.separate else settings.mix,
        )
    return cut_streams(
        text, tokenizers, length=length, steps=settings.steps, exponent=settings.exponent, seed=settings.seed
    )


def _held_out_batches(
    text: Mapping[str, list[str]],
    tokenizers: Mapping[str, PreTrainedTokenizerFast],
    maskers: Mapping[str, Masker],
    settings: Pretraining,
) -> dict[str, list[Batch]]:
    """The held-out text as the model reads it, with the same subwords hidden every time."""
    length = settings.shape.positions
    batches: dict[str, list[Batch]] = {}
    for language, lines in text.items():
        if settings.reading == "lines":
            rows = sort_lines({language: lines}, tokenizers, length=length, budget=length, seed=0).sequences
        else:
            rows = (cut_stream(f"what is held out of {language}", lines, tokenizers[language], length=length),)
        generator = np.random.default_rng(stream_seed(settings.seed, "held-out", language))
        batches[language] = [
            (language, part, *maskers[language].hide(part, generator))
            for row in rows
            for part in np.array_split(row, -(-row.size // (settings.batch * length)))
        ]
    return batches


def _loop(model: nn.Module, settings: Pretraining, identity: str) -> Loop[Batch]:
    optimiser = Optimiser(
        steps=settings.steps,
        warmup=settings.warmup,
        betas=settings.betas,
        weight_decay=settings.weight_decay,
        clip=settings.clip,
        schedule=settings.schedule,
    )
    groups = parameter_groups(model, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay)
    if settings.embedding_learning_rate:
        tables = word_tables(model)
        known = {id(table) for table in tables}
        groups = [{**group, "params": [p for p in group["params"] if id(p) not in known]} for group in groups]
        groups.append({"params": tables, "peak": settings.embedding_learning_rate, "weight_decay": 0.0})
    return Loop(model, groups, optimiser, seed=settings.seed, identity=identity)


def _write(
    folder: Path, model: nn.Module, tokenizers: Mapping[str, PreTrainedTokenizerFast], description: dict[str, Any]
) -> None:
    one = next(iter(tokenizers.values()))
    with new_folder(folder) as made, quiet():
        model.cpu().eval().save_pretrained(made)  # pyright: ignore[reportCallIssue]
        several = dict(tokenizers) if len({id(tokenizer) for tokenizer in tokenizers.values()}) > 1 else {}
        if isinstance(model, RoutedBertForMaskedLM):
            several = dict(tokenizers)
        save_tokenizers(one, several, made)
        text_of = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False)
        (made / "pretraining.json").write_text(text_of + "\n", "utf-8")
