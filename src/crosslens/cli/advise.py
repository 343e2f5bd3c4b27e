"""``crosslens advise``: recommend how to use an encoder for a language."""

import importlib.util
from typing import TYPE_CHECKING

import click

from crosslens.cli._names import ENCODER
from crosslens.cli._options import data_option, device_option, json_option, split_names
from crosslens.errors import RequestError

if TYPE_CHECKING:
    from crosslens.data.corpus import Corpus
    from crosslens.data.parallel import Parallel
    from crosslens.unseen.advice import Advice
    from crosslens.unseen.rule import Rule


@click.command("advise")
@click.argument("language")
@click.option(
    "--text", required=True, metavar="TEXT", help="Raw text or a treebank of the language: FILE, raw/wol, ud/wo_wtb."
)
@click.option("--encoder", required=True, type=ENCODER, metavar="ENCODER", help="Encoder: a hub name or a folder.")
@click.option(
    "--sources",
    default="ud/en_ewt",
    show_default=True,
    metavar="CORPORA",
    help="Candidate source treebanks, with UPOS.",
)
@click.option(
    "--schemes", metavar="NAMES", help="Transliteration schemes to try, or none [default: uroman if installed]."
)
@click.option("--parallel", metavar="NAME", help="Parallel sentences of the language and a source: en=FILE,wo=FILE.")
@click.option(
    "--rule", metavar="FILE", help="CSV file of your own measured transfer scores [default: the shipped file]."
)
@data_option
@device_option
@json_option
def command(
    language: str,
    text: str,
    encoder: str,
    sources: str,
    schemes: str | None,
    parallel: str | None,
    rule: str | None,
    data: str | None,
    device: str | None,
    as_json: bool,
) -> None:
    """Recommend how to use ENCODER for LANGUAGE zero-shot: as it is, from another source, or adapted.

    Trains a part-of-speech probe on each source and applies it to the text: its confidence, and the agreement between
    probes, need no labels of LANGUAGE. A rule fitted to measured zero-shot scores then estimates the score from each
    source. The output names the data that the rule was fitted to, and compares its error on left-out languages with
    that of a constant guess. LANGUAGE itself is left out of the rule. Encoders and evidence outside the range of the
    rule get no estimate.
    """
    from dataclasses import fields, replace

    from crosslens.cli._display import print_object
    from crosslens.cli._evaluation import load_named_encoder
    from crosslens.corpora.catalogue import load_corpus, load_text, names_text
    from crosslens.data.formats import CONLLU, to_complete
    from crosslens.data.formats.conllu import LAYERS
    from crosslens.unseen.advice import advise
    from crosslens.unseen.rule import read_rule

    language = _language_tag(language)
    _refuse_transliterated(text)
    bare = to_complete(CONLLU, LAYERS)  # only the words are read, and their annotation may be incomplete
    corpus = (
        load_text(text, data=data) if names_text(text) else load_corpus(text, split="train", data=data, format=bare)
    )
    candidates = _sources(language, split_names(sources), data)
    scheme_names = _schemes(schemes)
    translations = _translations(language, parallel, data) if parallel else None
    known = read_rule(rule)
    advice = advise(
        load_named_encoder(encoder, device=device),
        replace(corpus, language=language),
        candidates,
        parallel=translations,
        schemes=scheme_names,
        rule=known,
    )
    if as_json:
        described = {each.name: getattr(advice, each.name) for each in fields(advice) if each.name != "rule"}
        print_object({"language": language, **described, "rule": advice.rule.about})
        return
    _show_evidence(advice, language=language, corpus=corpus.name, encoder=encoder, parallel=parallel)
    click.secho(advice.recommendation, bold=True)
    for reason in (*advice.refusals, *advice.reasons):
        click.echo(f"  {reason}")
    click.echo()
    _show_rule(advice.rule, language=language, name=rule or "as shipped")


def _language_tag(language: str) -> str:
    """Read a language tag in its standard form; one that is well formed but not registered is only remarked on."""
    import langcodes

    from crosslens.cli._display import say

    try:
        language = langcodes.standardize_tag(language)
        if not language.partition("-")[0].isalpha():  # 419 is a region
            raise ValueError
    except ValueError:
        hint = "give a language tag, such as wo for Wolof; qaa to qtz stand for languages without one"
        raise RequestError(f"{language!r} is not a language tag", hint=hint) from None
    if not langcodes.tag_is_valid(language):
        say(f"{language!r} is not a registered language tag")
    return language


def _refuse_transliterated(text: str) -> None:
    from crosslens.corpora.catalogue import split_name

    name, scheme = split_name(text)
    if scheme:
        raise RequestError(
            f"{text} is transliterated, but scores are estimated for text in its original script",
            hint=f"give {name}; --schemes tries transliterations",
        )


def _sources(language: str, names: list[str], data: str | None) -> dict[str, "Corpus"]:
    """Load the source treebanks, one for each language, none in the language that is asked for."""
    from crosslens.corpora.catalogue import load_corpus
    from crosslens.corpora.collection import is_trained_language

    sources: dict[str, Corpus] = {}
    for source in (load_corpus(name, split="train", data=data) for name in names):
        other = sources.setdefault(source.language or source.name, source)
        if other is not source:
            both = f"{other.name} and {source.name} are both in {source.language}"
            wrong = both if source.language else f"{source.name} is named twice"
            raise RequestError(wrong, hint="give one source per language")
        if is_trained_language(language, source.language):
            raise RequestError(
                f"{source.name} is in {language}, so transfer from it is not zero-shot",
                hint="leave it out, or fine-tune on it",
            )
    return sources


def _schemes(schemes: str | None) -> list[str]:
    from crosslens.cli._display import say

    if schemes == "none":
        return []
    if schemes is None and importlib.util.find_spec("uroman") is None:
        say("uroman is not installed, so no transliteration is tried (pip install 'crosslens[translit]')")
        return []
    return split_names(schemes or "uroman")


def _translations(language: str, name: str, data: str | None) -> "Parallel":
    from crosslens.corpora.collection import is_same_language
    from crosslens.corpora.parallel import load_parallel

    translations = load_parallel(name, data=data)
    if not any(is_same_language(language, known) for known in translations.languages):
        raise RequestError(
            f"--parallel {name} has {' and '.join(translations.languages)}, but no sentences in {language}",
            hint=f"give sentences of a source and of the language, such as en=FILE,{language}=FILE",
        )
    return translations


def _show_evidence(advice: "Advice", *, language: str, corpus: str, encoder: str, parallel: str | None) -> None:
    """Print how the tokenizer covers the text, what the probes make of it, and the retrieval of translations."""
    import pandas as pd

    from crosslens.cli._display import print_table
    from crosslens.data.scripts import script_name
    from crosslens.lab.presets import given_name

    texts = {
        scheme or "as it is written": {
            "script": ", ".join(f"{script_name(s)} {share:.0f} %" for s, share in list(evidence.scripts.items())[:2]),
            "words": evidence.coverage.words,
            "unknown %": evidence.coverage.unknown,
            "split %": evidence.coverage.broken,
            "subwords per word": evidence.coverage.fertility,
        }
        for scheme, evidence in advice.evidence.items()
    }
    title = f"{language}: coverage of {corpus} by the tokenizer of {given_name(encoder)}"
    print_table(pd.DataFrame.from_dict(texts, orient="index"), title=title, decimals=1)
    expected = {("", way.source): {"expected": way.expected} for way in advice.ways}
    transfers = {
        " ".join(filter(None, (source, scheme))): {
            "right on the source %": advice.accuracy[source],
            "confident %": confidence.confident,
            "agreed %": confidence.agreement,
            "shared %": evidence.overlap[source],
            **expected.get((scheme, source), {}),
        }
        for scheme, evidence in advice.evidence.items()
        for source, confidence in evidence.confidence.items()
    }
    title = "UPOS probes trained on each source and applied to the text; subwords shared with the source"
    print_table(pd.DataFrame.from_dict(transfers, orient="index"), title=title, decimals=1)
    if advice.retrieval is not None:
        layers = pd.DataFrame([dict(enumerate(advice.retrieval))], index=["retrieved %"])
        print_table(layers, title=f"Retrieval of the parallel sentences of {parallel} by layer", decimals=1)


def _show_rule(rule: "Rule", *, language: str, name: str) -> None:
    """Print the errors of the rule on languages left out, and what it was fitted to."""
    import pandas as pd

    from crosslens.cli._display import print_table

    if rule.measured:
        errors = {"error of an estimate": rule.error, "error of a constant guess": rule.constant_error}
        if rule.choices:
            errors["regret of the choice"] = rule.regret
            errors[f"regret of always {rule.sources[0]}"] = rule.default_regret
        rows = {
            error: {"mean": mean.value, "95 % CI": f"[{mean.low:.1f}, {mean.high:.1f}]"}
            for error, mean in errors.items()
        }
        title = f"The rule on languages left out, in points ({language} is not among them)"
        print_table(pd.DataFrame.from_dict(rows, orient="index"), title=title, decimals=1)
    click.echo(f"The rule ({name}) was fitted to {rule.about}.")
