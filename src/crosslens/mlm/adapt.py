"""Adaptation of an encoder to an unseen language by continued masked language modelling on raw text.

As Muller et al. (2021, NAACL; their released command: blocks of 128 subwords, 8 a step, 20 passes, 5e-5), with three
differences: lines are cut into blocks and not cut off behind 128, the best pass by the perplexity of held-out lines
is kept and not the last, and all draws are seeded.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import torch

from crosslens import __version__
from crosslens.corpora.catalogue import load_text
from crosslens.data.corpus import Corpus
from crosslens.data.scripts import main_script
from crosslens.digests import digest, stream_seed
from crosslens.encoders.coverage import measure_coverage
from crosslens.encoders.encoder import Encoder, default_device
from crosslens.encoders.freeze import freeze
from crosslens.encoders.load import load_encoder, load_masked_lm, quiet, save_tokenizers
from crosslens.encoders.models.language_specific import RoutedBertModel
from crosslens.errors import DataError, EncoderError, RequestError
from crosslens.files import new_folder, refuse_existing
from crosslens.mlm.adapt_settings import Adaptation
from crosslens.mlm.objective import (
    Batch,
    Perplexities,
    claim,
    describe_perplexities,
    perplexities,
    release,
    train_masked,
)
from crosslens.mlm.pretrain_settings import Validation
from crosslens.mlm.streams import Masker, cut_stream
from crosslens.progress import Listener, listening
from crosslens.training import versions
from crosslens.training.loop import Loop, Optimiser, parameter_groups


def adapt(
    encoder: str | Path,
    texts: Mapping[str, str | Corpus],
    folder: str | Path,
    *,
    settings: Adaptation | None = None,
    data: str | Path | None = None,
    save_every: int = 1000,
    device: str | torch.device | None = None,
    progress: Listener = None,
    validated: Callable[[int, Perplexities], None] | None = None,
) -> dict[str, Any]:
    """Adapt an encoder to raw text, and write it as a Hugging Face masked language model that `load_encoder` reads.

    The tokenizer is kept. Interrupted, the same call resumes, to the same bits on a CPU with the same number of
    threads.

    Args:
        encoder: a hub name or a folder.
        texts: language -> raw text, or its name. Several languages are read in turn, by size.
        folder: to make.
        settings: of the training; None: the defaults.
        data: a folder that is looked through first.
        save_every: steps between two states kept.
        device: None: a GPU where there is one.
        progress: hears of every step and measurement.
        validated: called after every pass, and before the first, with steps done and each language's perplexity.

    Returns:
        ``loss``, ``steps``, ``kept_step``; for each language ``perplexity LANGUAGE``, ``perplexity before LANGUAGE``,
        ``words LANGUAGE``, and what the vocabulary made of them in percent: ``unknown LANGUAGE`` and ``broken
        LANGUAGE``, ``fertility LANGUAGE``; ``fresh_head``: tensors of the head that the checkpoint lacked.

    Raises:
        DataError: for text that cannot be read, or that has no letter of any script.
        RequestError: when the folder exists, or a partial training of other settings does; for too little text; when
            every layer is frozen and so is the head.
        EncoderError: for an encoder that has no masked language model.
        TrainingError: when the loss is no longer a number, or the state kept is damaged.
    """
    folder = refuse_existing(folder)
    settings = settings or Adaptation()
    device = torch.device(device or default_device())
    corpora = {
        language: text if isinstance(text, Corpus) else load_text(text, language=language, data=data)
        for language, text in texts.items()
    }
    loaded = load_encoder(encoder, device="cpu")
    if isinstance(loaded.model, RoutedBertModel):
        raise EncoderError(f"{encoder} has language-specific layers, and none for a new language")
    measured = {
        f"{what} {language}": value
        for language, corpus in corpora.items()
        for what, value in asdict(measure_coverage(loaded, readable(corpus))).items()
    }
    blocks, unseen = _blocks(loaded, corpora, settings)
    model, fresh = load_masked_lm(loaded, seed=stream_seed(settings.seed, "head"))
    if settings.freeze is not None:
        _freeze(model, loaded, settings.freeze)
    loaded_digest = loaded.digest
    identity = digest(
        {
            "encoder": loaded_digest,
            "settings": settings.model_dump(mode="json"),
            "semantics": versions.ADAPTATION,
            "text": {language: corpus.digest for language, corpus in corpora.items()},
        }
    )
    partial = folder.with_name(f"{folder.name}.partial")
    claim(partial, identity)
    model.to(device).train()  # pyright: ignore[reportArgumentType]

    a_pass = -(-len(blocks) // settings.batch)
    steps = settings.epochs * a_pass
    masking = settings.masking
    masker = Masker.of(loaded.tokenizer, share=masking.share, masked=masking.masked, replaced=masking.replaced)  # pyright: ignore
    held_out: dict[str, list[Batch]] = {
        language: [
            (None, rows, *masker.hide(rows, np.random.default_rng(stream_seed(settings.seed, "held-out", number))))
            for number, rows in enumerate(np.array_split(sequences, -(-len(sequences) // settings.batch)))
        ]
        for language, sequences in unseen.items()
    }

    def batches(step: int) -> list[Batch]:
        epoch, place = divmod(step, a_pass)
        order = np.random.default_rng(stream_seed(settings.seed, "blocks", epoch)).permutation(len(blocks))
        ids = blocks[order[place * settings.batch : (place + 1) * settings.batch]]
        return [(None, ids, *masker.hide(ids, np.random.default_rng(stream_seed(settings.seed, "mask", step))))]

    optimiser = Optimiser(steps=steps, warmup=settings.warmup, weight_decay=settings.weight_decay, clip=settings.clip)
    groups = parameter_groups(model, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay)
    loop: Loop[Batch] = Loop(model, groups, optimiser, seed=settings.seed, identity=identity)
    facts = _before(partial, model, held_out)
    before = {language: facts[f"perplexity before {language}"] for language in corpora}
    listener = listening(progress)
    listener.say(f"before adapting: {describe_perplexities(before)}")
    if validated is not None:
        validated(0, before)
    facts |= train_masked(
        loop,
        model,
        batches,
        partial=partial,
        unseen=held_out,
        save_every=save_every,
        stage="adapting",
        validation=Validation(lines=1, every=a_pass, select="mean"),
        progress=listener,
        validated=validated,
    )
    facts |= measured | {"fresh_head": list(fresh)}
    description = {
        "crosslens": __version__,
        "identity": identity,
        "settings": settings.model_dump(mode="json"),
        "facts": facts,
        "encoder": str(encoder),
        "encoder_digest": loaded_digest,
        "corpora": {language: {"name": corpus.name, "digest": corpus.digest} for language, corpus in corpora.items()},
    }
    with new_folder(folder) as made, quiet():
        model.cpu().eval().save_pretrained(made)  # pyright: ignore[reportCallIssue]
        save_tokenizers(loaded.tokenizer, {}, made)
        text = json.dumps(description, indent=1, ensure_ascii=False, allow_nan=False)
        (made / "adaptation.json").write_text(text + "\n", "utf-8")
    release(partial)
    return facts


def readable(corpus: Corpus) -> Corpus:
    """Raw text, when anything in it can be read.

    Raises:
        DataError: when no letter of it is of a known script.
    """
    if main_script(item.text for item in corpus) is None:
        raise DataError(f"{corpus.name} has no letter of any known script", hint="check that it is text in UTF-8")
    return corpus


def _blocks(
    encoder: Encoder, corpora: Mapping[str, Corpus], settings: Adaptation
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """``(blocks, length)`` ids that are trained on, and those of the lines that are held out."""
    length = min(settings.length, encoder.capacity)
    blocks, unseen = [], {}
    for language, corpus in corpora.items():
        lines = [item.text for item in corpus]
        kept = max(1, round(settings.held_out * len(lines)))
        if kept >= len(lines):
            raise RequestError(f"{corpus.name} has only {len(lines)} line; one must be held out")
        blocks.append(cut_stream(corpus.name, lines[:-kept], encoder.tokenizer, length=length))  # pyright: ignore
        rest = f"what is held out of {corpus.name}"
        unseen[language] = cut_stream(rest, lines[-kept:], encoder.tokenizer, length=length)  # pyright: ignore
    return np.concatenate(blocks), unseen


def _freeze(model: Any, encoder: Encoder, layers: str) -> None:
    """Freeze these layers; weights tied to frozen embeddings are frozen with them."""
    names = {name for change in freeze(encoder, layers).changes for name in change.tensors}
    for name, parameter in model.base_model.named_parameters():
        if name in names:
            parameter.requires_grad_(False)


def _before(partial: Path, model: Any, held_out: Mapping[str, list[Batch]]) -> dict[str, Any]:
    """Each language's perplexity before the first step; kept beside the state, for whoever goes on from that."""
    note = partial / "before.json"
    if not note.exists():
        note.write_text(json.dumps(perplexities(model, held_out)), "utf-8")
    return {f"perplexity before {language}": value for language, value in json.loads(note.read_text()).items()}
