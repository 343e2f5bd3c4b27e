"""Zero-shot transfer between independently pretrained encoders (Conneau, Wu et al. 2020, section 5.1.2, Figure 5).

A head of four randomly initialised Transformer layers is trained on one frozen layer of the source encoder. It is then
applied to the same layer of the target encoder, or to the layer at the same relative depth, rotated into the source
space.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
import torch

from crosslens.alignment.baselines import BASELINES, Baseline, choose_baselines, fit_rotations
from crosslens.alignment.measure import count_shared, require_pair
from crosslens.alignment.rotation import Rotation, refuse_different_widths
from crosslens.alignment.vectors import occurrences
from crosslens.corpora.catalogue import CorpusLike, load_corpora, load_corpus
from crosslens.corpora.parallel import load_parallel
from crosslens.data.corpus import Corpus, shared_items
from crosslens.data.formats.text import cut_words
from crosslens.data.links import Links, align_words, one_to_one, read_links
from crosslens.data.parallel import Parallel
from crosslens.data.sentence import Text
from crosslens.digests import require_seed, require_seeds
from crosslens.encoders.encoder import Encoder, require_encoder
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.layers import format_layers, name_layer, pair_layers, parse_layers
from crosslens.encoders.readouts.transformer import TransformerReadout, as_tower, mapping_digest, rotated
from crosslens.encoders.reinit import untrained_pair
from crosslens.errors import RequestError
from crosslens.progress import Listener, listening
from crosslens.results.record import Results, concatenated
from crosslens.tasks import find_task
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.model import TaskModel
from crosslens.training.recipe import Recipe

MOST = 20_000
"""Maximum number of word pairs for a rotation, spread evenly over the text."""


def linked_states(
    source: Encoder, target: Encoder, sentences: tuple[Corpus, Corpus], links: Links, *, most: int = MOST
) -> tuple[np.ndarray, np.ndarray]:
    """Return the contextual states of word translations, for fitting rotations.

    The state of a word is that of its labelled subword, which taggers read.

    Args:
        target: encoder of the second corpus.
        sentences: two parallel corpora.
        links: word alignments; only words with exactly one link are used.
        most: maximum number of word pairs.

    Returns:
        Target and source states, ``(layers + 1, pairs, width)`` each, with the layers of its encoder; the target is
        rotated into the source.

    Raises:
        RequestError: if no word has exactly one link, or the encoders differ in width.
    """
    pairs = one_to_one(links)
    if not pairs:
        raise RequestError(f"no word of {sentences[0].name} has exactly one link")
    refuse_different_widths(source, target)
    pairs = [pairs[i] for i in np.unique(np.linspace(0, len(pairs) - 1, min(most, len(pairs))).astype(int))]
    y = occurrences(source, sentences[0], [(number, i) for number, i, _ in pairs])
    x = occurrences(target, sentences[1], [(number, j) for number, _, j in pairs])
    return x, y


def train_on_layer(
    source: Encoder,
    layer: int,
    task: str,
    *,
    train: Corpus,
    rotation: Rotation | None = None,
    dev: Corpus | None = None,
    recipe: Recipe | None = None,
    seed: int = 1,
) -> TaskModel:
    """Train a task with four randomly initialised Transformer layers on one frozen layer of an encoder.

    Args:
        source: encoder of the training data; not modified.
        rotation: rotation to be used in `transplant`; its normalisation of source states is applied in training.
    """
    encoder = as_tower(source, layer, seed=seed)
    assert isinstance(encoder.readout, TransformerReadout)
    if rotation is not None:
        readout = rotated(encoder.readout, torch.from_numpy(rotation.target.means), encoder.readout.matrix)
        change = OnOneLayer(layer=layer, height=len(readout.stack.layers), mapping=mapping_digest(readout))
        encoder = replace(source.changed(Change(change, seed), since=source), model=encoder.model, readout=readout)
    return finetune(encoder, task, train=train, dev=dev, recipe=recipe, seed=seed)


def transplant(
    model: TaskModel, target: Encoder, rotation: Rotation, *, layer: int | None = None, baseline: str | None = None
) -> TaskModel:
    """Replace the encoder of a model by another one, rotated into the space that the head was trained on.

    Args:
        model: model from `train_on_layer`.
        target: encoder of the target language.
        rotation: rotation of the space of the target's layer into that of the model's layer.
        layer: layer of the target encoder; None: of the same number as the model's.
        baseline: name of the rotation if it is a baseline.

    Raises:
        RequestError: if the model was not trained on a single frozen layer.
        EncoderError: for a layer that the target encoder does not have.
    """
    readout = model.encoder.readout
    if not isinstance(readout, TransformerReadout):
        raise RequestError(
            "only a model trained on one fixed layer can be moved to another encoder", hint="see train_on_layer"
        )
    (read,) = parse_layers(readout.layers[0] if layer is None else layer, target.depth)
    means, matrix = torch.from_numpy(rotation.source.means), torch.from_numpy(rotation.matrix)
    mapped = rotated(readout, means, matrix, layer=read)
    change = OnOneLayer(
        layer=read,
        height=len(readout.stack.layers),
        mapped_from=target.given_name,
        mapping=mapping_digest(mapped),
        mapped_by=baseline,
    )
    encoder = replace(target.changed(Change(change), since=target), readout=mapped.to(target.device).eval())
    return replace(model, encoder=encoder)


def check_languages(pair: tuple[str, str], train: Corpus, tests: Sequence[Corpus]) -> None:
    """Check that training data are in the first language of a pair, if known, and test data in the second.

    Raises:
        RequestError: if they are not.
    """
    source, target = pair
    if train.language not in (None, source):
        raise RequestError(
            f"the head is trained on {source}, the first language of the pair, but {train.name} is {train.language}",
            hint="the pair is that of training and target language, such as en-fr",
        )
    if all(corpus.language != target for corpus in tests):
        raise RequestError(
            f"no test corpus is in {target}, the second language of the pair",
            hint=f"give the language of a file as {target}=FILE",
        )


def transfer_by_layer(
    source: Encoder,
    task: str,
    *,
    pair: tuple[str, str],
    train: CorpusLike,
    tests: CorpusLike,
    dev: CorpusLike | None = None,
    against: Encoder | None = None,
    parallel: Parallel | str | None = None,
    links: str | Path | None = None,
    layers: str | None = None,
    against_layers: Literal["same", "relative"] = "same",
    recipe: Recipe | None = None,
    seed: int = 1,
    baselines: Baseline | Sequence[Baseline] = BASELINES,
    baseline_seeds: Sequence[int] = (1,),
    progress: Listener = None,
) -> Results:
    """Train a task on each frozen layer of an encoder, and evaluate it on the rotated layer of another.

    Parallel sentences that are tested in the second language are left out, and the tag ``shared_pairs`` counts them.

    Args:
        source: encoder of the training data, and of test data not in the second language.
        task: task name.
        pair: source and target language.
        train: training data in the source language: a name, a file, or anything else that `load_corpus` takes.
        tests: test data in both languages: one corpus or several, as in `evaluate`.
        dev: development data, if the recipe selects by it.
        against: encoder of the target language; None: ``source`` reads both languages without a rotation.
        parallel: parallel sentences for fitting rotations, or their name; required with ``against``.
        links: file of word alignments in Pharaoh format; None: align words with eflomal.
        layers: layers of ``source`` such as ``0-4`` or ``1,3``; None: all that are paired, including 0, the embeddings.
        against_layers: layers of ``against``, see `crosslens.encoders.layers.pair_layers`; encoders of different depth
            need ``relative``.
        recipe: training recipe; None: the task's default.
        seed: random seed for the new layers, task head and data order.
        baselines: ``untrained``: both encoders are re-initialised before training; ``shuffled``: the rotation is fitted
            to shuffled word pairs; ``identity``: no rotation.
        baseline_seeds: random seeds, each of which re-initialises encoders and head, and shuffles word pairs once.
        progress: listener for layers.

    Returns:
        Scores with the source's layer as ``layer``, that of ``against`` as ``target_layer`` if it is another one, and
        the source encoder as ``encoder``. Baselines have their own conditions: layers ``0-…`` re-initialised, or
        ``mapped_by`` a baseline.

    Raises:
        RequestError: for data that are not in the languages of the pair; ``against`` without parallel sentences, or
            where all of them are tested; layers that the encoder does not have, or that are not paired with a layer of
            ``against``; encoders that differ in width, or in depth with ``against_layers="same"``; an unknown baseline.
        DataError: for a corpus without the annotation; links that do not fit the sentences.
    """
    for encoder in filter(None, (source, against)):
        require_encoder(encoder)
    require_pair(pair)
    seed, baseline_seeds = require_seed(seed), require_seeds(baseline_seeds, "baseline_seeds")
    if against is not None and parallel is None:
        raise RequestError("a rotation is learnt from parallel sentences", hint="give parallel, such as ud/pud")
    form = find_task(task).format
    train, tests = load_corpus(train, split="train", format=form), load_corpora(tests, format=form)
    dev = None if dev is None else load_corpus(dev, split="dev", format=form)
    parallel = None if parallel is None else load_parallel(parallel, languages=pair)
    check_languages(pair, train, tests)
    wanted = choose_baselines(baselines, mapping="identity" if against is None else "procrustes")
    if against is not None:
        refuse_different_widths(source, against)
    paired = dict(pair_layers(source, against or source, layers=against_layers))
    chosen = parse_layers(layers, source.depth) if layers else tuple(paired)
    for layer in chosen:
        if layer not in paired:
            raise RequestError(
                f"layer {layer} of {source.name} has no layer of {(against or source).name} at the same relative depth",
                hint=f"layers {format_layers(paired)} have one",
            )
    listener = listening(progress)
    linked = None
    tags: dict[str, int] = {}
    if against is not None and parallel is not None:
        kept = _untested(parallel, [corpus for corpus in tests if corpus.language == pair[1]], language=pair[1])
        tags = count_shared(parallel, kept)
        listener.report("aligning words", 0)
        linked = _linked(parallel, pair, kept, links)

    def on_every_layer(
        first: Encoder, second: Encoder, wanted: Sequence[Baseline], seed: int, stage: str
    ) -> Iterator[Results]:
        if linked is not None:
            listener.report("learning rotations", 0)
        states = linked_states(first, second, *linked) if linked is not None else None
        for number, layer in enumerate(chosen):
            listener.report(stage, number, len(chosen), "layers", f"layer {layer}")
            rotations = (
                fit_rotations(states[0][paired[layer]], states[1][layer], baselines=wanted, seeds=baseline_seeds)
                if states is not None
                else []
            )
            rotation = rotations[0].rotation if rotations else None
            model = train_on_layer(
                first, layer, task, train=train, dev=dev, recipe=recipe, seed=seed, rotation=rotation
            )
            place = partial(transplant, model, second, layer=paired[layer])
            mapped = place(rotation) if rotation is not None else model
            for corpus in tests:
                is_target = corpus.language == pair[1]
                named = name_layer((layer, paired[layer]), source, against or source) if is_target else {"layer": layer}
                yield evaluate(mapped if is_target else model, [corpus]).with_columns(**named)
                for other in rotations[1:] if is_target else ():
                    drawn = seed if other.seed is None else other.seed
                    scores = evaluate(place(other.rotation, baseline=other.name), [corpus])
                    yield scores.with_columns(**named, seed=drawn)
        listener.report(stage, len(chosen), len(chosen), "layers")

    stage = "training a head on each layer"
    parts = [*on_every_layer(source, against or source, wanted, seed, stage)]
    for drawn in baseline_seeds if "untrained" in wanted else ():
        pair_of_encoders = untrained_pair(source, against or source, seed=drawn)
        parts += on_every_layer(*pair_of_encoders, (), drawn, f"{stage}, untrained")
    results = concatenated(parts).with_columns(encoder=source.given_name, encoder_digest=source.loaded_digest)
    return Results.of(replace(record, tags={**record.tags, **tags}) for record in results) if tags else results


def _untested(parallel: Parallel, tests: Sequence[Corpus], *, language: str) -> list[int]:
    """Indices of the parallel sentences that are not tested in a language, alone or in a pair of texts."""
    tested = shared_items(parallel[language], *tests, *map(_one_by_one, tests))
    kept = [number for number in range(len(parallel)) if number not in tested]
    if not kept:
        raise RequestError(
            f"all {len(parallel)} sentences of {parallel.name} are tested in {language}",
            hint="learn the mapping from other sentences, such as parallel sentences (--parallel)"
            " ud/pud[:500] for a test corpus (--test) ud/fr_pud[500:]",
        )
    return kept


def _one_by_one(corpus: Corpus) -> Corpus:
    """The texts of pairs, such as premises and hypotheses, which parallel corpora have alone."""
    texts = (Text((segment,)) for item in corpus if isinstance(item, Text) for segment in item.segments)
    return replace(corpus, items=tuple(texts))


def _linked(
    parallel: Parallel, pair: tuple[str, str], kept: Sequence[int], links: str | Path | None
) -> tuple[tuple[Corpus, Corpus], Links]:
    """The kept sentences, cut into words, and their links; a file of links has those of all sentences."""
    words = Parallel({language: cut_words(parallel[language]) for language in pair}, parallel.name)
    first, second = (words.select(kept)[language] for language in pair)
    if not links:
        return (first, second), align_words(first, second)
    every = read_links(links, words[pair[0]], words[pair[1]])
    return (first, second), tuple(every[number] for number in kept)
