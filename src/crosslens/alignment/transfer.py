"""Zero-shot transfer between encoders that never met (Conneau, Wu et al. 2020, section 5.1.2, Figure 5).

A head of four fresh Transformer layers learns a task on one fixed layer of the source's encoder. The target's encoder
is rotated into that layer, and the head reads it as if it were the source's.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from crosslens.alignment.links import Links, align_words, one_to_one, read_links
from crosslens.alignment.rotation import Rotation, fit_rotation, refuse_different
from crosslens.alignment.vectors import occurrences
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.data.text import cut_words
from crosslens.encoders.changes import Change
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.tower import Tower as OnOneLayer
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.tower import Tower, as_tower, mapping_digest, rotated
from crosslens.errors import RequestError
from crosslens.progress import Listener, listening
from crosslens.results.record import Results
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.model import TaskModel
from crosslens.training.recipe import Recipe

MOST = 20_000
"""Word pairs that rotations are learnt from; of more, as many are spread evenly over the text."""


def contextual_rotations(
    source: Encoder, target: Encoder, sentences: tuple[Corpus, Corpus], links: Links, *, most: int = MOST
) -> list[Rotation]:
    """For every layer the rotation of the target's space into the source's, from words that translate each other.

    Args:
        source: reads the first corpus.
        target: reads the second.
        sentences: of words, translations of one another.
        links: which words are linked; only those with one link are used, and of each its first subword's state.
        most: pairs that are used.

    Raises:
        RequestError: when no word has one link, or the encoders differ in layers or width.
    """
    pairs = one_to_one(links)
    if not pairs:
        raise RequestError(f"no word of {sentences[0].name} has exactly one link")
    refuse_different(source, target)
    pairs = [pairs[i] for i in np.unique(np.linspace(0, len(pairs) - 1, min(most, len(pairs))).astype(int))]
    y = occurrences(source, sentences[0], [(number, i) for number, i, _ in pairs])
    x = occurrences(target, sentences[1], [(number, j) for number, _, j in pairs])
    return [fit_rotation(a, b) for a, b in zip(x, y, strict=True)]


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
    """Learn a task on one fixed layer of an encoder, with four fresh Transformer layers.

    Args:
        source: reads the training data; left as it is.
        layer: 0 is the embeddings.
        task: its name.
        train: labelled data.
        rotation: what the target will be rotated by: its states of the source are normalised the same way here.
        dev: where the recipe selects by it.
        recipe: None: the task's usual one.
        seed: of the fresh layers, the head and the order.
    """
    tower = as_tower(source, layer, seed=seed)
    assert isinstance(tower.top, Tower)
    if rotation is not None:
        top = rotated(tower.top, torch.from_numpy(rotation.target.means), tower.top.matrix)
        done = OnOneLayer(layer=layer, height=len(top.stack.layers), mapping=mapping_digest(top))
        tower = replace(source.changed(Change(done, seed), since=source), model=tower.model, top=top)
    return finetune(tower, task, train=train, dev=dev, recipe=recipe, seed=seed)


def transplant(model: TaskModel, target: Encoder, rotation: Rotation) -> TaskModel:
    """A model whose head reads another encoder, rotated into the one that it was trained on.

    Args:
        model: from `train_on_layer`.
        target: reads the target language.
        rotation: of the target's space into the source's, at the model's layer.

    Raises:
        RequestError: for a model that reads more than one layer.
    """
    top = model.encoder.top
    if not isinstance(top, Tower):
        raise RequestError("only a model on one fixed layer can be given another encoder", hint="see train_on_layer")
    moved = rotated(top, torch.from_numpy(rotation.source.means), torch.from_numpy(rotation.matrix))
    done = OnOneLayer(
        layer=top.reads[0], height=len(top.stack.layers), mapped_from=target.name, mapping=mapping_digest(moved)
    )
    encoder = replace(target.changed(Change(done), since=target), top=moved.to(target.device).eval())
    return replace(model, encoder=encoder)


def transfer_by_layer(
    source: Encoder,
    task: str,
    *,
    pair: tuple[str, str],
    train: Corpus,
    tests: Sequence[Corpus],
    dev: Corpus | None = None,
    against: Encoder | None = None,
    parallel: Parallel | None = None,
    links: str | Path | None = None,
    layers: str | None = None,
    recipe: Recipe | None = None,
    seed: int = 1,
    progress: Listener = None,
) -> Results:
    """Learn a task on each fixed layer of an encoder, and evaluate it on the rotated layer of another.

    Args:
        source: reads the training data, and the test data that are not of the pair's second language.
        task: its name.
        pair: the languages.
        train: labelled data of the first language.
        tests: labelled data of both languages.
        dev: where the recipe selects by it.
        against: the encoder of the second language; None: ``source`` reads both languages, and nothing is rotated.
        parallel: sentences of both languages, whose words the rotations are learnt from; needed with ``against``.
        links: a file of word links in Pharaoh's format; None: eflomal aligns the words.
        layers: such as ``0-4`` or ``1,3``; None: all, and 0, the embeddings.
        recipe: None: the task's usual one.
        seed: random seed of the fresh layers, the head and the order.
        progress: hears of every layer.

    Returns:
        The scores of every layer, with its number as ``layer`` and the source's encoder as ``encoder``.

    Raises:
        RequestError: for ``against`` without parallel sentences; layers that the encoder does not have; encoders that
            differ in layers or width.
        DataError: for a corpus without the annotation; links that do not fit the sentences.
    """
    if against is not None and parallel is None:
        raise RequestError("a rotation is learnt from parallel sentences", hint="give parallel, such as ud/pud")
    chosen = parse_layers(layers or f"0-{source.depth}", source.depth)
    listener = listening(progress)
    rotations = None
    if against is not None and parallel is not None:
        listener.report("learning rotations", 0)
        sentences = (cut_words(parallel[pair[0]]), cut_words(parallel[pair[1]]))
        linked = read_links(links, *sentences) if links else align_words(*sentences)
        rotations = contextual_rotations(source, against, sentences, linked)
    results = Results.of([])
    stage = "training a head on each layer"
    for number, layer in enumerate(chosen):
        listener.report(stage, number, len(chosen), "layers", f"layer {layer}")
        rotation = rotations[layer] if rotations else None
        model = train_on_layer(source, layer, task, train=train, dev=dev, recipe=recipe, seed=seed, rotation=rotation)
        moved = transplant(model, against, rotation) if against is not None and rotation is not None else model
        for corpus in tests:
            scores = evaluate(moved if corpus.language == pair[1] else model, [corpus])
            results += scores.with_columns(encoder=source.name, encoder_digest=source.loaded_digest, layer=layer)
    listener.report(stage, len(chosen), len(chosen), "layers")
    return results
