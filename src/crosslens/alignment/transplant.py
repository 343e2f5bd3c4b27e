"""Zero-shot transfer between independently pretrained encoders (Conneau, Wu et al. 2020, section 5.1.2, Figure 5).

A head of four fresh Transformer layers learns a task on one fixed layer of the source's encoder. The target's encoder
is rotated into that layer, and the head reads it as if it were the source's.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from crosslens.alignment.baselines import BASELINES, Baseline, choose_baselines, fit_rotations
from crosslens.alignment.links import Links, align_words, one_to_one, read_links
from crosslens.alignment.rotation import Rotation, refuse_different
from crosslens.alignment.vectors import occurrences
from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import cut_words
from crosslens.data.parallel import Parallel
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions.change import Change
from crosslens.encoders.interventions.one_layer import OnOneLayer
from crosslens.encoders.layers import parse_layers
from crosslens.encoders.readouts.transformer import TransformerReadout, as_tower, mapping_digest, rotated
from crosslens.encoders.reinit import untrained_pair
from crosslens.errors import RequestError
from crosslens.progress import Listener, listening
from crosslens.results.record import Results, concatenated
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.model import TaskModel
from crosslens.training.recipe import Recipe

MOST = 20_000
"""Word pairs that rotations are learnt from; of more, as many are spread evenly over the text."""


def linked_states(
    source: Encoder, target: Encoder, sentences: tuple[Corpus, Corpus], links: Links, *, most: int = MOST
) -> tuple[np.ndarray, np.ndarray]:
    """The states of words that translate each other, which rotations are learnt from.

    Args:
        source: reads the first corpus.
        target: reads the second.
        sentences: of words, translations of one another.
        links: which words are linked; only those with one link are used, and of each its first subword's state.
        most: pairs that are used.

    Returns:
        Of the target and of the source, ``(layers + 1, pairs, width)`` each: the target is rotated into the source.

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
    assert isinstance(tower.readout, TransformerReadout)
    if rotation is not None:
        top = rotated(tower.readout, torch.from_numpy(rotation.target.means), tower.readout.matrix)
        done = OnOneLayer(layer=layer, height=len(top.stack.layers), mapping=mapping_digest(top))
        tower = replace(source.changed(Change(done, seed), since=source), model=tower.model, readout=top)
    return finetune(tower, task, train=train, dev=dev, recipe=recipe, seed=seed)


def transplant(model: TaskModel, target: Encoder, rotation: Rotation, *, baseline: str | None = None) -> TaskModel:
    """A model whose head reads another encoder, rotated into the one that it was trained on.

    Args:
        model: from `train_on_layer`.
        target: reads the target language.
        rotation: of the target's space into the source's, at the model's layer.
        baseline: what the rotation is called where it is a baseline.

    Raises:
        RequestError: for a model that reads more than one layer.
    """
    top = model.encoder.readout
    if not isinstance(top, TransformerReadout):
        raise RequestError(
            "only a model trained on one fixed layer can be moved to another encoder", hint="see train_on_layer"
        )
    moved = rotated(top, torch.from_numpy(rotation.source.means), torch.from_numpy(rotation.matrix))
    done = OnOneLayer(
        layer=top.layers[0],
        height=len(top.stack.layers),
        mapped_from=target.name,
        mapping=mapping_digest(moved),
        mapped_by=baseline,
    )
    encoder = replace(target.changed(Change(done), since=target), readout=moved.to(target.device).eval())
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
    baselines: Sequence[Baseline] = BASELINES,
    baseline_seeds: Sequence[int] = (1,),
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
        baselines: ``untrained``: both encoders are re-initialised, and a head is trained on them; ``shuffled``: the
            rotation is learnt from shuffled words; ``identity``: there is none.
        baseline_seeds: random seeds of the baselines. Each re-initialises the encoders, with the head on them, and
            shuffles the words once.
        progress: hears of every layer.

    Returns:
        The scores of every layer, with its number as ``layer`` and the source's encoder as ``encoder``. Baselines have
        conditions of their own: layers ``0-…`` re-initialised, or ``mapped_by`` a baseline.

    Raises:
        RequestError: for ``against`` without parallel sentences; layers that the encoder does not have; encoders that
            differ in layers or width; an unknown baseline.
        DataError: for a corpus without the annotation; links that do not fit the sentences.
    """
    if against is not None and parallel is None:
        raise RequestError("a rotation is learnt from parallel sentences", hint="give parallel, such as ud/pud")
    wanted = choose_baselines(baselines, mapping="identity" if against is None else "procrustes")
    chosen = parse_layers(layers or f"0-{source.depth}", source.depth)
    listener = listening(progress)
    linked = None
    if against is not None and parallel is not None:
        listener.report("aligning words", 0)
        sentences = (cut_words(parallel[pair[0]]), cut_words(parallel[pair[1]]))
        linked = sentences, read_links(links, *sentences) if links else align_words(*sentences)

    def on_every_layer(
        first: Encoder, second: Encoder, wanted: Sequence[Baseline], seed: int, stage: str
    ) -> Iterator[Results]:
        if linked is not None:
            listener.report("learning rotations", 0)
        states = linked_states(first, second, *linked) if linked is not None else None
        for number, layer in enumerate(chosen):
            listener.report(stage, number, len(chosen), "layers", f"layer {layer}")
            rotations = (
                fit_rotations(states[0][layer], states[1][layer], baselines=wanted, seeds=baseline_seeds)
                if states is not None
                else []
            )
            rotation = rotations[0].rotation if rotations else None
            model = train_on_layer(
                first, layer, task, train=train, dev=dev, recipe=recipe, seed=seed, rotation=rotation
            )
            moved = transplant(model, second, rotation) if rotation is not None else model
            for corpus in tests:
                of_second = corpus.language == pair[1]
                yield evaluate(moved if of_second else model, [corpus]).with_columns(layer=layer)
                for named in rotations[1:] if of_second else ():
                    moved_otherwise = transplant(model, second, named.rotation, baseline=named.name)
                    drawn = seed if named.seed is None else named.seed
                    yield evaluate(moved_otherwise, [corpus]).with_columns(layer=layer, seed=drawn)
        listener.report(stage, len(chosen), len(chosen), "layers")

    stage = "training a head on each layer"
    parts = [*on_every_layer(source, against or source, wanted, seed, stage)]
    for drawn in baseline_seeds if "untrained" in wanted else ():
        pair_of_encoders = untrained_pair(source, against or source, seed=drawn)
        parts += on_every_layer(*pair_of_encoders, (), drawn, f"{stage}, untrained")
    return concatenated(parts).with_columns(encoder=source.name, encoder_digest=source.loaded_digest)
