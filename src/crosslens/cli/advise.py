"""``crosslens advise``: what to do with a language, before anything is trained."""

import importlib.util

import click

from crosslens.cli.options import data_option, device_option, split_names


@click.command("advise")
@click.argument("language")
@click.option("--text", required=True, metavar="TEXT", help="Raw text or a treebank of it: FILE, raw/wol, ud/wo_wtb.")
@click.option("--encoder", required=True, metavar="ENCODER", help="A hub name or a folder.")
@click.option("--sources", default="ud/en_ewt", show_default=True, metavar="CORPORA", help="Of candidate sources.")
@click.option("--schemes", metavar="NAMES", help="Transliterations; none: none [uroman, where it is installed].")
@click.option("--parallel", metavar="NAME", help="Some sentences of it and of a source: en=FILE,wo=FILE.")
@click.option("--rule", metavar="FILE", help="Transfer that you measured yourself [what is shipped].")
@data_option
@device_option
def command(
    language: str, text: str, encoder: str, sources: str, schemes: str | None, parallel: str | None, rule: str | None,
    data: str | None, device: str | None,
) -> None:  # fmt: skip
    """Recommend how to use ENCODER for LANGUAGE: as it is, from another source, transliterated, or adapted.

    Scripts, unknown and broken-up words, and shared subwords are counted; a rule that was fitted to transfer that was
    measured says what to expect of each way, and its error on languages that it was not fitted to is printed with it.
    """
    import pandas as pd

    from crosslens.catalogue import load_corpus, load_text
    from crosslens.cli.show import print_table, say
    from crosslens.data.scripts import script_name
    from crosslens.encoders.load import load_encoder
    from crosslens.translations import load_parallel
    from crosslens.unseen.advice import advise
    from crosslens.unseen.rule import read_rule

    is_text = text.startswith("raw/") or text.endswith(".txt")
    its = load_text(text, language=language, data=data) if is_text else load_corpus(text, split="train", data=data)
    named = {
        corpus.language or corpus.name: corpus
        for corpus in (load_corpus(name, split="train", data=data) for name in split_names(sources))
    }
    tried = [] if schemes == "none" else split_names(schemes or "uroman")
    if schemes is None and importlib.util.find_spec("uroman") is None:
        say("uroman is not installed: the text is looked at as it is written (pip install 'crosslens[translit]')")
        tried = []
    both = load_parallel(parallel, data=data) if parallel else None
    advice = advise(
        load_encoder(encoder, device=device), its, named, parallel=both,
        schemes=tried, rule=read_rule(rule),
    )  # fmt: skip
    rows = {
        scheme or "as it is written": {
            "script": ", ".join(f"{script_name(s)} {share:.0f} %" for s, share in list(found.scripts.items())[:2]),
            "words": found.coverage.words, "unknown %": found.coverage.unknown, "broken %": found.coverage.broken,
            "pieces a word": found.coverage.fertility,
            **{f"shared with {source} %": share for source, share in found.overlap.items()},
            **{f"expected from {way.source}": way.expected for way in sorted(advice.ways, key=lambda w: w.source)
               if way.scheme == scheme},
        }
        for scheme, found in advice.evidence.items()
    }  # fmt: skip
    print_table(
        pd.DataFrame.from_dict(rows, orient="index"), title=f"{language}: {its.name}, as {encoder} reads it", decimals=1
    )
    if advice.alignment is not None:
        layers = pd.DataFrame([dict(enumerate(advice.alignment))], index=["found %"])
        print_table(layers, title=f"parallel sentences of {parallel} found in each layer", decimals=1)
    click.secho(advice.recommendation, bold=True)
    for reason in advice.reasons:
        click.echo(f"  {reason}")
    its_rule = advice.rule
    click.echo(
        f"The rule: {its_rule.about or rule}. Languages left out: wrong by {its_rule.error:.1f} points"
        f" ({its_rule.spread:.1f} if it knew nothing); its choice of source and script is {its_rule.regret:.1f} points"
        f" below the best, the usual choice {its_rule.regret_by_default:.1f}."
    )
