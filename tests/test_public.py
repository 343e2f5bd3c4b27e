import inspect
import subprocess
import sys
from typing import Literal, get_args, get_origin

import numpy as np
import pytest

import crosslens
from crosslens.data.dictionary import of_words
from crosslens.errors import RequestError
from toy_vectors import vectors


def test_every_public_name_is_there_and_sorted():
    names = [name for name in crosslens.__all__ if name != "__version__"]
    assert names == sorted(names)
    for name in crosslens.__all__:
        assert getattr(crosslens, name) is not None
    assert set(crosslens.__all__) <= set(dir(crosslens))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = crosslens.nothing


def test_errors_are_caught_by_their_public_names():
    for error in (crosslens.CrosslensError, crosslens.RequestError):
        with pytest.raises(error, match="not found"):
            crosslens.load_corpus("nowhere.conllu")


def test_importing_costs_nothing():
    code = "import sys, crosslens; print({'torch', 'numpy'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip() == "set()"


LANGUAGES = {"fr": 1.0, "de": 2.0, "ru": 3.0, "hi": 4.0}
SPACE = vectors(["a", "b", "c"], [[1, 0], [0, 1], [1, 1]])
WORDS = {"train": of_words([("a", "a"), ("b", "b")], name="train"), "test": of_words([("c", "c")], name="test")}
HALVES = {"train": "sample/test[:10]", "test": "sample/test[10:20]", "pair": ("en", "fr")}
CALLS = {
    "add_lora": lambda encoder, **option: crosslens.add_lora(encoder, "1", **option),
    "as_features": lambda encoder, **option: crosslens.as_features(encoder, **option),
    "as_tower": lambda encoder, **option: crosslens.as_tower(encoder, 1, **option),
    "compare": lambda encoder, **option: crosslens.compare(encoder, "sample/test[:20]", pairs="en-fr", **option),
    "correlate": lambda encoder, **option: crosslens.correlate(LANGUAGES, LANGUAGES, **option),
    "correlations": lambda encoder, **option: crosslens.correlations(
        crosslens.Results.of([]), required=False, **option
    ),
    "evaluate": lambda encoder, **option: crosslens.evaluate(tagger(encoder), "sample/fr:test[:2]", **option),
    "finetune": lambda encoder, **option: crosslens.finetune(encoder, "pos", train="sample/en:train[:9]", **option),
    "finetune_and_evaluate": lambda encoder, **option: crosslens.finetune_and_evaluate(
        encoder.name, "pos", train="sample/en:train[:9]", tests="sample/fr:test[:2]", **option
    ),
    "fresh_bilstm": lambda encoder, **option: crosslens.fresh_bilstm(
        crosslens.load_corpus("sample/en:train[:9]"), device="cpu", **option
    ),
    "intervene": lambda encoder, **option: crosslens.intervene(tagger(encoder), "1:noise=0.5", **option),
    "load_encoder": lambda encoder, **option: crosslens.load_encoder(encoder.name, **option),
    "predict": lambda encoder, **option: crosslens.predict(tagger(encoder), "sample/fr:test[:2]", **option),
    "probe": lambda encoder, **option: crosslens.probe(
        encoder, "upos", train="sample/en:train[:9]", test="sample/fr:test[:2]", **option
    ),
    "random_init": lambda encoder, **option: crosslens.random_init(encoder, "1", **option),
    "read_as": lambda encoder, **option: crosslens.read_as(encoder, **option),
    "represent": lambda encoder, **option: crosslens.represent(encoder, "sample/fr[:2]", **option),
    "sentence_retrieval": lambda encoder, **option: crosslens.sentence_retrieval(encoder, encoder, **HALVES, **option),
    "transfer_by_layer": lambda encoder, **option: crosslens.transfer_by_layer(
        encoder, "pos", train="sample/en:train[:9]", tests="sample/fr:test[:2]", pair=("en", "fr"), **option
    ),
    "untrained_vectors": lambda encoder, **option: list(
        crosslens.untrained_vectors(encoder, encoder, languages=("en", "fr"), **option)
    ),
    "word_translation": lambda encoder, **option: crosslens.word_translation(SPACE, SPACE, **WORDS, **option),
}
"""Public function -> a valid call, but for one option."""


def tagger(encoder):
    return crosslens.finetune(encoder, "pos", train="sample/en:train[:9]", recipe={"epochs": 1, "select": "last"})


def alternatives(annotation):
    if get_origin(annotation) is Literal:
        return get_args(annotation)
    return tuple(choice for inner in get_args(annotation) for choice in alternatives(inner))


OPTIONS = [
    (name, option.name)
    for name in crosslens.__all__
    if inspect.isfunction(getattr(crosslens, name))
    for option in inspect.signature(getattr(crosslens, name)).parameters.values()
    if alternatives(option.annotation)
]


@pytest.mark.parametrize(("function", "option"), OPTIONS)
def test_a_misspelt_option_is_refused(function, option, encoder):
    """It would be another option, recorded under a name that does not exist."""
    with pytest.raises(RequestError, match=r"misspelt|input should be"):
        CALLS[function](encoder, **{option: "misspelt"})


SEEDS = [
    (name, option)
    for name in crosslens.__all__
    if inspect.isfunction(getattr(crosslens, name))
    for option in inspect.signature(getattr(crosslens, name)).parameters
    if option in ("seed", "seeds", "baseline_seeds")
]


@pytest.mark.parametrize(("function", "option"), SEEDS)
def test_what_is_no_seed_is_refused(function, option, encoder):
    """Seeds "3" and 3.0 would give other layers than seed 3, and records cannot hold them, nor what is out of range."""
    for wrong in ("3", 3.0, True, -3, 2**63):
        given = wrong if option == "seed" else [wrong]
        with pytest.raises(RequestError, match=f"{option}={wrong!r} is not an integer from 0 to {2**63 - 1}"):
            CALLS[function](encoder, **{option: given})
    if option != "seed":
        with pytest.raises(RequestError, match=f"{option}=3 is not a list of seeds"):
            CALLS[function](encoder, **{option: 3})


def test_an_integer_of_numpy_is_the_same_seed(encoder):
    layers = [crosslens.random_init(encoder, "1", seed=seed) for seed in (3, np.int64(3))]
    assert layers[0].digest == layers[1].digest
    assert type(layers[1].seed) is int
