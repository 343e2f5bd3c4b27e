"""Adaptation of an encoder to an unseen language by continued masked language modelling on raw text.

The defaults follow the released command of Muller et al. (2021, NAACL): blocks of 128 subwords, batch size 8, 20
epochs, learning rate 5e-5; warm-up and weight decay are ours. There are three differences: lines are concatenated and
cut into blocks, not truncated; the epoch with the lowest held-out perplexity is kept, not the last; and all randomness
is seeded.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from crosslens import __version__
from crosslens.checksums import write_checksums
from crosslens.corpora.catalogue import CorpusLike, load_corpus, load_text
from crosslens.data.corpus import Corpus
from crosslens.data.scripts import main_script
from crosslens.digests import digest, order_of, stream_seed
from crosslens.encoders.coverage import measure_coverage
from crosslens.encoders.encoder import Encoder, find_device
from crosslens.encoders.freeze import freeze
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.load import load_encoder, load_masked_lm, quiet, save_tokenizers
from crosslens.errors import DataError, EncoderError, RequestError, require_integer
from crosslens.files import new_folder, refuse_existing
from crosslens.formatting import counted
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.lab_encoder import encoder_folder
from crosslens.mlm.objective import (
    Batch,
    Perplexities,
    claimed,
    describe_perplexities,
    perplexities,
    train_language_model,
)
from crosslens.mlm.pretrain_settings import Validation
from crosslens.mlm.streams import Masker, cut_stream
from crosslens.progress import Listener, listening
from crosslens.settings import replace_settings
from crosslens.training import versions
from crosslens.training.loop import Loop, Optimiser, parameter_groups


@torch.inference_mode(mode=False)  # also where the caller switched gradients off
def adapt(
    encoder: str | Path,
    texts: Mapping[str, CorpusLike],
    folder: str | Path,
    *,
    settings: Adaptation | Mapping[str, Any] | None = None,
    data: str | Path | None = None,
    save_every: int = 1000,
    device: str | torch.device | None = None,
    progress: Listener = None,
    validated: Callable[[int, Perplexities], None] | None = None,
) -> dict[str, Any]:
    """Adapt an encoder to raw text, and save it as a Hugging Face masked language model.

    The tokenizer stays the same. After an interruption, the same call resumes, bit-identically on a CPU with the same
    number of threads.

    Args:
        encoder: hub name, folder, or ``lab:good`` for the encoder of a laboratory.
        texts: language -> a name or file of raw text, or lines of text, as in ``{"wo": ["Ñu ngi dem.", …]}``.
            Blocks of all languages are shuffled together.
        folder: new output folder.
        settings: training settings, or a mapping of those that differ from the defaults; None: the defaults.
        data: folder searched first for named text.
        save_every: steps between checkpoints.
        device: None: a GPU if available.
        progress: listener for steps and perplexities.
        validated: called before the first epoch and after every epoch with the number of steps and each language's
            perplexity.

    Returns:
        ``loss``, ``steps``, ``kept_step`` and ``fresh_head`` (tensors of the head that the checkpoint lacks); for each
        language ``perplexity LANGUAGE``, ``perplexity before LANGUAGE``, and the vocabulary's coverage of the text (see
        `Coverage`), such as ``words LANGUAGE``, ``unknown LANGUAGE``, ``broken LANGUAGE`` and ``fertility LANGUAGE``.

    Raises:
        DataError: if text cannot be read, or has no letter of a known script.
        RequestError: if the folder exists, the unfinished training there has other settings, there is too little text,
            the tokenizer knows no word of a language's text, all parameters are frozen, or ``save_every`` is below 1.
        EncoderError: if the encoder has no masked language model, or a vocabulary for each language, or cannot be
            computed in the precision.
        TrainingError: if the loss is not finite, or the checkpoint is damaged.
    """
    if not isinstance(texts, Mapping) or not texts:
        raise RequestError("raw text is given by language", hint='texts={"wo": "wolof.txt"}')
    save_every = require_integer(save_every, "save_every", least=1)
    folder = refuse_existing(folder)
    if not isinstance(settings, Adaptation):
        settings = replace_settings(Adaptation(), settings or {}, what="an adaptation")
    device = find_device(device)
    corpora = {language: _lines(text, language, data) for language, text in texts.items()}
    for corpus in corpora.values():
        _split(readable(corpus), settings)  # refuses text that is too short, before the encoder is loaded
    encoder = encoder_folder(encoder, progress=progress)
    loaded = load_encoder(encoder, device="cpu")
    if loaded.tokenizers:
        raise EncoderError(
            f"{encoder} has a vocabulary for each of {', '.join(loaded.tokenizers)}, and none for adaptation",
            hint="adapt an encoder with one vocabulary",
        )
    InPrecision(precision=settings.precision).apply(loaded, seed=0)  # refuses what cannot be computed in it
    coverage = {
        f"{name} {language}": value
        for language, corpus in corpora.items()
        for name, value in asdict(measure_coverage(loaded, corpus)).items()
    }
    blocks, unseen = _blocks(loaded, corpora, settings)
    model, fresh = load_masked_lm(loaded, seed=stream_seed(settings.seed, "head"))
    if settings.freeze is not None:
        _freeze(model, loaded, settings.freeze)
    loaded_digest = loaded.digest
    identity = digest(
        {
            "encoder": loaded_digest,
            "settings": settings.identity,
            "semantics": versions.ADAPTATION,
            "text": {language: corpus.digest for language, corpus in corpora.items()},
            **order_of(corpora),
        }
    )
    partial = folder.with_name(f"{folder.name}.partial")
    with claimed(partial, identity):
        model.to(device).train()  # pyright: ignore[reportArgumentType]

        steps_per_epoch = -(-len(blocks) // settings.batch)
        steps = settings.epochs * steps_per_epoch
        masker = Masker.of(loaded.tokenizer, settings.masking)  # pyright: ignore[reportArgumentType]
        held_out: dict[str, list[Batch]] = {
            language: [
                (None, rows, *masker.hide(rows, np.random.default_rng(stream_seed(settings.seed, "held-out", number))))
                for number, rows in enumerate(np.array_split(sequences, -(-len(sequences) // settings.batch)))
            ]
            for language, sequences in unseen.items()
        }

        def batches(step: int) -> list[Batch]:
            epoch, place = divmod(step, steps_per_epoch)
            order = np.random.default_rng(stream_seed(settings.seed, "blocks", epoch)).permutation(len(blocks))
            ids = blocks[order[place * settings.batch : (place + 1) * settings.batch]]
            return [(None, ids, *masker.hide(ids, np.random.default_rng(stream_seed(settings.seed, "mask", step))))]

        optimiser = Optimiser(
            steps=steps, warmup=settings.warmup, weight_decay=settings.weight_decay, clip=settings.clip
        )
        groups = parameter_groups(model, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay)
        loop: Loop[Batch] = Loop(model, groups, optimiser, seed=settings.seed, identity=identity)
        before = perplexities(model, held_out)  # again after an interruption, of the same weights
        listener = listening(progress)
        if fresh:
            advice = f"; first train it alone, on languages that the encoder knows (freeze=0-{loaded.depth})"
            listener.say(
                f"{encoder} has no masked language modelling head: a randomly initialised one is trained"
                + (advice if settings.freeze is None else "")
            )
        listener.say(f"before adapting: {describe_perplexities(before)}")
        if validated is not None:
            validated(0, before)
        facts = train_language_model(
            loop,
            model,
            batches,
            partial=partial,
            unseen=held_out,
            precision=settings.precision,
            save_every=save_every,
            stage="adapting",
            validation=Validation(lines=1, every=steps_per_epoch, select="mean"),
            progress=listener,
            validated=validated,
        )
        facts |= {f"perplexity before {language}": value for language, value in before.items()}
        facts |= coverage | {"fresh_head": list(fresh)}
        description = {
            "crosslens": __version__,
            "identity": identity,
            "settings": settings.model_dump(mode="json"),
            "facts": facts,
            "encoder": str(encoder),
            "encoder_digest": loaded_digest,
            "corpora": {
                language: {"name": corpus.name, "digest": corpus.digest} for language, corpus in corpora.items()
            },
        }
        with new_folder(folder) as made, quiet():
            model.cpu().eval().save_pretrained(made)  # pyright: ignore[reportCallIssue]
            save_tokenizers(loaded.tokenizer, {}, made)
            text = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False)
            (made / "adaptation.json").write_text(text + "\n", "utf-8")
            write_checksums(made)
    return facts


def _lines(text: CorpusLike, language: str, data: str | Path | None) -> Corpus:
    """Read raw text, or take lines of text."""
    if isinstance(text, str | Path):
        return load_text(text, language=language, data=data)
    return text if isinstance(text, Corpus) else load_corpus(text, language=language)


def readable(corpus: Corpus) -> Corpus:
    """Return the corpus if it has letters.

    Raises:
        DataError: if no letter is of a known script.
    """
    if main_script(item.text for item in corpus) is None:
        raise DataError(f"{corpus.name} has no letter of any known script", hint="check that it is text in UTF-8")
    return corpus


def _blocks(
    encoder: Encoder, corpora: Mapping[str, Corpus], settings: Adaptation
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """``(blocks, length)`` ids for training, and those of each language's held-out lines."""
    length = min(settings.length, encoder.capacity)
    blocks, unseen = [], {}
    for language, corpus in corpora.items():
        names = corpus.name, f"the held-out text of {corpus.name}"
        cut, unseen[language] = (
            cut_stream(name, lines, encoder.tokenizer, length=length, setting="length")  # pyright: ignore
            for name, lines in zip(names, _split(corpus, settings), strict=True)
        )
        blocks.append(cut)
    return np.concatenate(blocks), unseen


def _split(corpus: Corpus, settings: Adaptation) -> tuple[list[str], list[str]]:
    """Lines for training, and the held-out ones."""
    lines = [item.text for item in corpus]
    count = max(1, round(settings.held_out * len(lines)))
    if count >= len(lines):
        raise RequestError(
            f"{corpus.name} has {counted(len(lines), 'line', 'lines')}, of which {count} must be held out",
            hint="give more text" if count == 1 else "lower held_out",
        )
    return lines[:-count], lines[-count:]


def _freeze(model: Any, encoder: Encoder, layers: str) -> None:
    """Freeze layers, including weights tied to frozen embeddings; with all of them, a final normalisation too."""
    names = {name for change in freeze(encoder, layers).changes for name in change.tensors}
    everything = len(parse_layers(layers, encoder.depth)) == encoder.depth + 1
    for name, parameter in model.base_model.named_parameters():
        if everything or name in names:
            parameter.requires_grad_(False)
