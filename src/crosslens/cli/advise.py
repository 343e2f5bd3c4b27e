"""``crosslens advise``: recommend how to use an encoder for a language."""

import importlib.util
from typing import TYPE_CHECKING

import click

from crosslens.cli._names import ENCODER, EncoderCommand
from crosslens.cli._options import data_option, device_option, json_option, split_names
from crosslens.errors import RequestError

if TYPE_CHECKING:
    from crosslens.data.corpus import Corpus


@click.command("advise", cls=EncoderCommand)
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

    import langcodes
    import pandas as pd

    from crosslens.cli._display import print_object, print_table, say
    from crosslens.corpora.catalogue import load_corpus, load_text, names_text, split_name
    from crosslens.corpora.parallel import load_parallel
    from crosslens.data.corpus import trained_languages
    from crosslens.data.language_families import bare_language
    from crosslens.data.scripts import script_name
    from crosslens.encoders.load import load_encoder
    from crosslens.lab.presets import given_name
    from crosslens.unseen.advice import advise
    from crosslens.unseen.rule import read_rule

    try:
        language = langcodes.standardize_tag(language)
        if not language.partition("-")[0].isalpha():  # 419 is a region
            raise ValueError
    except ValueError:
        hint = "give a language tag, such as wo for Wolof; qaa to qtz stand for languages without one"
        raise RequestError(f"{language!r} is not a language tag", hint=hint) from None
    if not langcodes.tag_is_valid(language):
        say(f"{language!r} is not a registered language tag")
    if split_name(text)[1]:
        raise RequestError(
            f"{text} is transliterated, but scores are estimated for text in its original script",
            hint=f"give {split_name(text)[0]}; --schemes tries transliterations",
        )
    corpus = load_text(text, data=data) if names_text(text) else load_corpus(text, split="train", data=data)
    candidates: dict[str, Corpus] = {}
    for source in (load_corpus(name, split="train", data=data) for name in split_names(sources)):
        other = candidates.setdefault(source.language or source.name, source)
        if other is not source:
            raise RequestError(
                f"{other.name} and {source.name} are both in {source.language}", hint="give one source per language"
            )
        if bare_language(language) in map(bare_language, trained_languages(source.language)):
            raise RequestError(
                f"{source.name} is in {language}, so transfer from it is not zero-shot",
                hint="leave it out, or fine-tune on it",
            )
    scheme_names = [] if schemes == "none" else split_names(schemes or "uroman")
    if schemes is None and importlib.util.find_spec("uroman") is None:
        say("uroman is not installed, so no transliteration is tried (pip install 'crosslens[translit]')")
        scheme_names = []
    translations = load_parallel(parallel, data=data) if parallel else None
    if translations is not None and bare_language(language) not in map(bare_language, translations.languages):
        raise RequestError(
            f"--parallel {parallel} has {' and '.join(translations.languages)}, but no sentences in {language}",
            hint=f"give sentences of a source and of the language, such as en=FILE,{language}=FILE",
        )
    advice = advise(
        load_encoder(encoder, device=device),
        replace(corpus, language=language),
        candidates,
        parallel=translations,
        schemes=scheme_names,
        rule=read_rule(rule),
    )
    if as_json:
        described = {each.name: getattr(advice, each.name) for each in fields(advice) if each.name != "rule"}
        print_object({"language": language, **described, "rule": advice.rule.about})
        return
    texts = {
        scheme or "as it is written": {
            "script": ", ".join(f"{script_name(s)} {share:.0f} %" for s, share in list(evidence.scripts.items())[:2]),
            "words": evidence.coverage.words,
            "unknown %": evidence.coverage.unknown,
            "broken %": evidence.coverage.broken,
            "subwords per word": evidence.coverage.fertility,
        }
        for scheme, evidence in advice.evidence.items()
    }
    title = f"{language}: coverage of {corpus.name} by the tokenizer of {given_name(encoder)}"
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
    click.secho(advice.recommendation, bold=True)
    for reason in (*advice.refusals, *advice.reasons):
        click.echo(f"  {reason}")
    click.echo()
    fitted = advice.rule
    if fitted.measured:
        errors = {"error of an estimate": fitted.error, "error of a constant guess": fitted.constant_error}
        if fitted.choices:
            errors["regret of the choice"] = fitted.regret
            errors[f"regret of always {fitted.sources[0]}"] = fitted.default_regret
        frame = pd.DataFrame.from_dict(
            {
                name: {"mean": mean.value, "95 % CI": f"[{mean.low:.1f}, {mean.high:.1f}]"}
                for name, mean in errors.items()
            },
            orient="index",
        )
        print_table(
            frame, title=f"The rule on languages left out, in points ({language} is not among them)", decimals=1
        )
    click.echo(f"The rule ({rule or 'as shipped'}) was fitted to {fitted.about}.")
