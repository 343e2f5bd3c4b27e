"""Interventions on trained models: ablate states, exchange layers or add changes, without training again."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from crosslens.corpora.catalogue import CorpusLike, load_corpus
from crosslens.digests import require_seed
from crosslens.encoders.condition import Condition
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.interventions import Intervention
from crosslens.encoders.interventions.swap import Add, Revert, Swap
from crosslens.encoders.load import load_encoder
from crosslens.encoders.states.corpus_intervention import CorpusIntervention
from crosslens.encoders.states.corpus_states import CorpusStates
from crosslens.encoders.states.state_intervention import StateIntervention
from crosslens.errors import RequestError, suggest
from crosslens.training.checkpoint import as_model, is_model, load_model
from crosslens.training.model import TaskModel

VALUES = {
    "zero": None,
    "mean": None,
    "resample": None,
    "revert": None,
    "noise": "noise_dose",
    "rotate": "degrees",
    "swap": "swap_from",
    "add": "add_from",
    "erase": "erase_to",
    "patch": "patch_from",
}
"""Kind of intervention -> key of its value in study files; None without a value."""

NAMES = {"swap": "FOLDER", "add": "FOLDER", "erase": "ud/en_pud", "patch": "ud/en_pud"}
"""Kind of intervention whose value is a name -> example."""

NUMBERS = {"noise": "0.5", "rotate": "30"}
"""Kind of intervention whose value is a number -> example."""

_FORM = re.compile(r"(?P<address>[^:]+):(?P<kind>[a-z]+)(=(?P<value>[^;]+))?(?P<more>(;[^;]+)*)")


def intervene(
    model: TaskModel | str | Path,
    *interventions: str | Mapping[str, Any] | Condition,
    seed: int | None = None,
    pretrained: str | Path | None = None,
    reference: CorpusLike | None = None,
    data: str | Path | None = None,
) -> TaskModel:
    """Apply interventions to a trained model.

    The result is a model for `evaluate` and `predict`, and its encoder one for `compare` and `probe`. Interventions on
    states (zero, mean, resample, noise, rotate, erase, patch) leave the weights as they are; such a model cannot be
    saved. They act in the order of the records' conditions: revert, swap, add, zero, mean, resample, noise, rotate,
    erase, patch; several of one kind in the given order.

    Args:
        model: a fine-tuned model, or the folder of one; not modified.
        *interventions: ``"5-6:mean"``, or the keys of a study file, ``{"mean": "5-6"}``.
        seed: random seed of resample, noise, rotate and the control of erase, for those that name none; None: that of
            the model's training. Another one is recorded, as ``noise_seed``.
        pretrained: the pretrained encoder, which revert takes layers from and add measures a change from; None: by the
            name of the model's encoder.
        reference: corpus of the source language that erase moves states to, or that patch takes translations from, if
            they name none.
        data: data folder for corpora by name.

    Returns:
        A model whose condition names the interventions.

    Raises:
        RequestError: for an intervention that is invalid, acts before training, or would have to act before another
            one that was applied to the model already.
        EncoderError: for an address that the encoder does not have, or another model that does not fit.

    Examples:
        >>> french = xl.load_corpus("ud/fr_pud[:10]", data=sample)
        >>> results = xl.evaluate(xl.intervene(tagger, "1-2:mean"), french)
        >>> results[0].condition
        '{"mean": "1-2"}'
    """
    conditions = [
        parse_intervention(given) if isinstance(given, str) else Condition.read(given) for given in interventions
    ]
    loaded = as_model(model)
    drawn = loaded.seed if seed is None else require_seed(seed)
    return intervened(loaded, conditions, Sources(data), seed=drawn, pretrained=pretrained, reference=reference)


class Sources:
    """States of source languages' corpora, read once for all interventions that learn from them."""

    def __init__(self, data: str | Path | None = None) -> None:
        self._data = data
        self._states: dict[tuple[str, str], CorpusStates] = {}

    def __call__(self, intervention: CorpusIntervention, encoder: Encoder, corpus: CorpusLike) -> CorpusStates:
        """Return the states of a corpus; all encoders must have the same model."""
        loaded = load_corpus(corpus, data=self._data)
        key = intervention.kind, loaded.digest
        if key not in self._states:
            self._states[key] = intervention.source(encoder, loaded)
        return self._states[key]


def intervened(
    model: TaskModel,
    conditions: Iterable[Condition],
    sources: Sources,
    *,
    seed: int,
    pretrained: str | Path | None = None,
    reference: CorpusLike | None = None,
) -> TaskModel:
    """Apply the interventions of conditions to a model, see `intervene`.

    Args:
        sources: states of source languages, shared by calls for one model.
        seed: random seed of the interventions that name none; recorded if it is not that of the model.
    """
    conditions = [condition.scaled(written_for=None, depth=model.encoder.depth) for condition in conditions]
    encoder = model.encoder
    for intervention in _in_order(encoder, conditions):
        if isinstance(intervention, StateIntervention):
            intervention = intervention.drawn_with(seed, own=model.seed)
        if isinstance(intervention, Swap):
            encoder = intervention.take(encoder, _other(intervention.other, encoder))
        elif isinstance(intervention, Add):
            encoder = intervention.take(encoder, _other(intervention.other, encoder), _pretrained(pretrained, encoder))
        elif isinstance(intervention, Revert):
            encoder = intervention.take(encoder, _pretrained(pretrained, encoder))
        elif isinstance(intervention, CorpusIntervention) and (corpus := intervention.corpus or reference) is not None:
            encoder = intervention.fit(encoder, sources(intervention, encoder, corpus), seed=seed)
        else:
            encoder = intervention.apply(encoder, seed=seed)
    return replace(model, encoder=encoder)


def _in_order(encoder: Encoder, conditions: Iterable[Condition]) -> tuple[Intervention, ...]:
    """The interventions of conditions, in the order in which they are recorded."""
    parts = Condition.of(tuple(part for condition in conditions for part in condition.interventions)).interventions
    for part in parts:
        if part.stage != "after training":
            raise RequestError(
                f"{part.label} acts before training, not on a trained model", hint="pass it to crosslens.finetune"
            )
    applied = encoder.condition.up_to("after training").interventions
    if applied and parts and Condition.of((applied[-1], parts[0])).interventions[0] != applied[-1]:
        raise RequestError(
            f"{parts[0].label} acts before {applied[-1].label}, which was applied to the model already",
            hint="pass all interventions to one call of crosslens.intervene",
        )
    return parts


def parse_intervention(text: str) -> Condition:
    """Parse an intervention as `crosslens evaluate` takes it.

    >>> parse_intervention("5.output:rotate=30").text
    '{"rotate": "5.output", "degrees": 30.0}'

    Raises:
        RequestError: for an invalid text.
    """
    match = _FORM.fullmatch(text.strip())
    if match is None:
        raise RequestError(f"invalid intervention {text!r}", hint="write an address and a kind, such as 5-6:mean")
    kind, value, more = match["kind"], match["value"], match["more"].split(";")[1:]
    if kind not in VALUES:
        raise RequestError(f"unknown kind of intervention {kind!r} in {text!r}", hint=suggest(kind, VALUES))
    key = VALUES[kind]
    if (key is None) != (value is None):
        reason = f"{kind} takes {'no' if key is None else 'a'} value: {text!r}"
        raise RequestError(reason, hint=f"write {_example(match['address'], kind)}")
    settings: dict[str, Any] = {kind: match["address"]}
    if key is not None and value is not None:
        try:
            settings[key] = value if kind in NAMES else float(value)
        except ValueError:
            reason = f"{value!r} in {text!r} is not a number"
            raise RequestError(reason, hint=f"write {_example(match['address'], kind)}") from None
    for setting in more:
        name, _, given = setting.partition("=")
        if f"{kind}_{name}" in settings:
            raise RequestError(f"{text!r} sets {kind}_{name} twice", hint="give each setting once")
        settings[f"{kind}_{name}"] = given
    return Condition.read(settings)


def _example(address: str, kind: str) -> str:
    """A valid intervention of a kind at an address."""
    value = {**NAMES, **NUMBERS}.get(kind)
    return f"{address}:{kind}" if value is None else f"{address}:{kind}={value}"


def _pretrained(name: str | Path | None, encoder: Encoder) -> Encoder:
    return load_encoder(name or encoder.name, device=encoder.device)


def _other(name: str, encoder: Encoder) -> Encoder:
    if is_model(name):
        return load_model(name, device=encoder.device).encoder
    return load_encoder(name, device=encoder.device)
