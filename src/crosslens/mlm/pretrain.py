"""Pretraining of masked and causal language models on raw text.

By default, batches follow Conneau, Wu et al. (2020, section 3): each language's text is concatenated and cut into
sequences of equal length, and each step reads one language, sampled in proportion to n^exponent.
"""

import json
import math
import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn
from transformers import (
    BertConfig,
    BertForMaskedLM,
    LlamaConfig,
    LlamaForCausalLM,
    PreTrainedModel,
    PreTrainedTokenizerFast,
)

from crosslens import __version__
from crosslens.checksums import write_checksums
from crosslens.corpora.catalogue import load_text
from crosslens.corpora.dictionaries import load_dictionary, require_languages
from crosslens.digests import digest, order_of, stream_seed
from crosslens.encoders.encoder import find_device
from crosslens.encoders.interventions.checkpoints import CHECKPOINTS
from crosslens.encoders.load import quiet, save_tokenizers
from crosslens.encoders.models.language_specific import RoutedBertConfig, RoutedBertForMaskedLM
from crosslens.errors import RequestError, require_integer
from crosslens.files import new_folder, refuse_existing
from crosslens.formatting import counted
from crosslens.initial_weights import initial_weights
from crosslens.mlm.code_switching import switch_words
from crosslens.mlm.objective import Batch, claimed, train_language_model
from crosslens.mlm.pretrain_settings import Pretraining, find_text
from crosslens.mlm.streams import Lines, Masker, Streams, cut_stream, cut_streams, next_subwords, sort_lines
from crosslens.mlm.vocabulary import SPECIALS, VOCABULARIES, make_vocabularies
from crosslens.progress import Listener, listening
from crosslens.training import versions
from crosslens.training.distributed import processes
from crosslens.training.loop import Loop, Optimiser, parameter_groups


@torch.inference_mode(mode=False)  # also where the caller switched gradients off
def pretrain(
    settings: Pretraining | Mapping[str, Any],
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
    """Pretrain an encoder or decoder, and save it as a Hugging Face masked or causal language model.

    The weights of ``settings.checkpoints`` are saved in the same form, and loaded as ``FOLDER@STEP``.

    The training state is in ``FOLDER.partial``. After an interruption, the same call resumes, bit-identically on a CPU
    with the same number of threads. In processes started with `torchrun` and joined with `join_processes`, each one
    computes its part of every batch, and the first one writes.

    Args:
        settings: pretraining settings, or a mapping of them, as in ``{"corpora": {"en": "en.txt"}, "steps": 1000}``.
        folder: new output folder.
        base: folder that relative paths of corpora start from.
        data: folder searched first for named text and dictionaries.
        save_every: steps between saved training states.
        device: None: a GPU if available.
        progress: listener for steps and perplexities.
        stepped: called after every step with the number of steps and the loss.
        validated: called after every evaluation with the number of steps and each language's perplexity.

    Returns:
        ``loss`` (mean over the last hundred steps), ``subwords`` (number read) and ``steps``; with validation
        ``perplexity LANGUAGE`` of the kept weights, and ``kept_step``.

    Raises:
        DataError: if text or a dictionary cannot be read.
        RequestError: if a setting is invalid, the folder exists, the unfinished training there has other settings, a
            language has too little text, none that its vocabulary knows, or more characters than that has room for, a
            dictionary shares no word with the text, or ``save_every`` is below 1.
        TrainingError: if the loss is not finite, or the checkpoint is damaged.
    """
    if isinstance(settings, Mapping):
        settings = Pretraining(**{str(name): value for name, value in settings.items()})
    elif not isinstance(settings, Pretraining):
        raise RequestError(
            f"pretraining needs settings, not a {type(settings).__name__}",
            hint='xl.Pretraining(corpora={"en": "en.txt"}) makes them, or give a mapping',
        )
    save_every = require_integer(save_every, "save_every", least=1)
    folder = refuse_existing(folder)
    device = find_device(device)
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
            **order_of(corpora),
        }
    )
    tokenizers = _tokenizers(text, settings)
    sequences = _sequences(text, tokenizers, settings)
    objectives = {language: _objective(tokenizer, settings) for language, tokenizer in tokenizers.items()}
    mixed_objective = next(iter(objectives.values()))
    unseen = _held_out_batches(held_out, tokenizers, objectives, settings)
    group = processes()
    partial = folder.with_name(f"{folder.name}.partial")
    # An invalid request has failed by now.
    with claimed(partial, identity) if group.rank == 0 else nullcontext():
        group.wait()

        model = fresh_model(settings, tokenizers)
        model.to(device).train()  # pyright: ignore[reportArgumentType]
        subwords_read = 0
        started: tuple[float, int] | None = None  # time and subwords after the first step, which is slower

        def batches(step: int) -> list[Batch]:
            nonlocal subwords_read
            language, ids = sequences.language(step), sequences.batch(step, size=settings.batch)
            subwords_read += ids.size
            generator = np.random.default_rng(stream_seed(settings.seed, "mask", step))
            arrays = (objectives[language] if language else mixed_objective)(ids, generator)
            part = [rows[group.rank :: group.size] for rows in arrays]
            size = settings.micro_batch or len(ids)
            if settings.micro_batch and settings.reading == "lines":  # as many positions as that many full sequences
                size = settings.micro_batch * settings.shape.positions // ids.shape[1]
            return [
                (language, *(rows[first : first + size] for rows in part)) for first in range(0, len(part[0]), size)
            ]  # pyright: ignore[reportReturnType]

        def note(loss: float) -> str:
            nonlocal started
            now = time.perf_counter()
            if started is None:
                started = (now, subwords_read)
                return f"loss {loss:.3f}"
            return f"loss {loss:.3f}, {(subwords_read - started[1]) / (now - started[0]):,.0f} subwords/s"

        def keep(step: int) -> None:
            if step in settings.kept_steps and not (partial / CHECKPOINTS / str(step)).exists():
                _save(model, tokenizers, partial / CHECKPOINTS / str(step))

        facts = train_language_model(
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
            reached=keep,
            stepped=stepped,
            validated=validated,
        )
        facts["subwords"] = sequences.subwords(facts["steps"], size=settings.batch)
        if group.rank == 0:
            description = {
                "crosslens": __version__,
                "identity": identity,
                "settings": settings.model_dump(mode="json"),
                "facts": facts,
                "corpora": {language: corpus.digest for language, corpus in corpora.items()},
            }
            model.cpu().eval()  # pyright: ignore[reportCallIssue]
            _save(model, tokenizers, folder, description=description, checkpoints=partial / CHECKPOINTS)
    group.wait()
    return facts


Objective = Callable[[np.ndarray, np.random.Generator], tuple[np.ndarray, np.ndarray, np.ndarray]]
"""``(sequences, length)`` ids and a generator -> ids to predict, input ids, and bool positions to predict."""


def _objective(tokenizer: PreTrainedTokenizerFast, settings: Pretraining) -> Objective:
    if settings.objective == "causal":
        return lambda ids, generator: next_subwords(ids)
    masker = Masker.of(tokenizer, settings.masking)
    return lambda ids, generator: (ids, *masker.hide(ids, generator))


def fresh_model(settings: Pretraining, tokenizers: Mapping[str, PreTrainedTokenizerFast]) -> PreTrainedModel:
    """Initialise a BERT model, with language-specific layers if the settings ask for them, or a Llama model."""
    shape = settings.shape
    tokenizer = next(iter(tokenizers.values()))
    config = {
        "vocab_size": len(tokenizer),
        "hidden_size": shape.width,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "intermediate_size": shape.feedforward or 4 * shape.width,
        "max_position_embeddings": shape.positions,
        "pad_token_id": tokenizer.get_vocab()[SPECIALS["pad_token"]],
        "initializer_range": shape.initializer_range or 0.55 / math.sqrt(shape.width),
    }
    dropout = {"hidden_dropout_prob": shape.dropout, "attention_probs_dropout_prob": shape.dropout}
    with initial_weights(stream_seed(settings.seed, "model")):
        if settings.objective == "causal":
            first, last = (tokenizer.get_vocab()[SPECIALS[name]] for name in ("cls_token", "sep_token"))
            model: PreTrainedModel = LlamaForCausalLM(
                LlamaConfig(
                    attention_dropout=shape.dropout,
                    bos_token_id=first,
                    eos_token_id=last,
                    tie_word_embeddings=True,
                    use_cache=False,
                    **config,
                )
            )
        elif settings.separate:
            sizes = {language: len(tokenizer) for language, tokenizer in tokenizers.items()}
            config["vocab_size"] = max(sizes.values())
            model = RoutedBertForMaskedLM(
                RoutedBertConfig(vocabularies=sizes, separate=settings.separate_layers, **dropout, **config)
            )
        else:
            model = BertForMaskedLM(BertConfig(**dropout, **config))
        if shape.embedding_range:
            with torch.no_grad():
                for table in word_tables(model):
                    table.mul_(shape.embedding_range / config["initializer_range"])
        return model


def word_tables(model: nn.Module) -> list[nn.Parameter]:
    """Word embedding tables: one, or one per language."""
    endings = ("word_embeddings.weight", "embed_tokens.weight")
    return [p for name, p in model.named_parameters() if name.endswith(endings)]


def _hold_out(text: Mapping[str, list[str]], lines: int) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Split off the last lines of each language."""
    for language, all_lines in text.items():
        if len(all_lines) <= lines:
            raise RequestError(
                f"{language} has {counted(len(all_lines), 'line', 'lines')}, too few to hold out {lines}",
                hint="lower validation.lines" if len(all_lines) > 1 else "give more text",
            )
    train = {language: all_lines[:-lines] for language, all_lines in text.items()}
    return train, {language: all_lines[-lines:] for language, all_lines in text.items()}


def _with_extra_anchors(
    text: dict[str, list[str]], settings: Pretraining, base: str | Path, data: str | Path | None
) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Code-switch the text; return it with the digests of the dictionaries."""
    extra = settings.extra_anchors
    if extra is None:
        return text, {}
    tables: dict[str, dict[str, list[tuple[str, float]]]] = {}
    digests = {}
    for pair, name in settings.dictionaries.items():
        dictionary = load_dictionary(find_text(name, base), data=data)
        require_languages(dictionary, *settings.sides(pair))
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
    """Train each language's tokenizer; with language-specific embeddings, the ids of each start at 0."""
    vocabulary, positions = settings.vocabulary, settings.shape.positions
    if 0 in settings.separate_layers and vocabulary.anchors != "joint":
        share, train = vocabulary.size // len(text), VOCABULARIES[vocabulary.kind]
        return {language: train(lines, size=share, positions=positions) for language, lines in text.items()}
    return make_vocabularies(
        text, kind=vocabulary.kind, size=vocabulary.size, positions=positions, anchors=vocabulary.anchors
    )


def _sequences(
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
    objectives: Mapping[str, Objective],
    settings: Pretraining,
) -> dict[str, list[Batch]]:
    """Batches of held-out text, with the same subwords to predict in every evaluation."""
    length = settings.shape.positions
    batches: dict[str, list[Batch]] = {}
    for language, lines in text.items():
        if settings.reading == "lines":
            rows = sort_lines({language: lines}, tokenizers, length=length, budget=length, seed=0).sequences
        else:
            rows = (cut_stream(f"the held-out text of {language}", lines, tokenizers[language], length=length),)
        generator = np.random.default_rng(stream_seed(settings.seed, "held-out", language))
        batches[language] = [
            (language, *objectives[language](part, generator))
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


def _save(
    model: PreTrainedModel,
    tokenizers: Mapping[str, PreTrainedTokenizerFast],
    folder: Path,
    *,
    description: dict[str, Any] | None = None,
    checkpoints: Path | None = None,
) -> None:
    """Save model, tokenizers and description to a new folder, and move the checkpoints there."""
    separate = len({id(tokenizer) for tokenizer in tokenizers.values()}) > 1 or isinstance(model, RoutedBertForMaskedLM)
    with new_folder(folder) as partial, quiet():
        model.save_pretrained(partial)
        save_tokenizers(next(iter(tokenizers.values())), dict(tokenizers) if separate else {}, partial)
        if description is not None:
            text = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False)
            (partial / "pretraining.json").write_text(text + "\n", "utf-8")
        write_checksums(partial)  # checkpoints have their own
        if checkpoints is not None and checkpoints.exists():
            shutil.move(checkpoints, partial / CHECKPOINTS)
