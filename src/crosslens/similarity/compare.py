"""Similarity of translations, layer by layer: the structural half of Muller et al. (2021, section 4.2)."""

from collections.abc import Callable, Mapping, Sequence

from crosslens import __version__
from crosslens.catalogue import load_parallel
from crosslens.data.parallel import Parallel
from crosslens.data.records import Record, Results
from crosslens.encoders.encoder import Encoder
from crosslens.encoders.represent import represent
from crosslens.errors import RequestError, suggest
from crosslens.similarity.cka import Centred, centre
from crosslens.similarity.measures import MEASURES, USUAL


def compare(
    encoder: Encoder,
    corpus: Parallel | str,
    *,
    pairs: Sequence[str],
    measures: Sequence[str] = USUAL,
    tags: Mapping[str, str | int | float] | None = None,
    done: Callable[[str], None] | None = None,
) -> Results:
    """How alike an encoder represents sentences and their translations, for every layer.

    Each language is read once, whatever the number of pairs.

    Args:
        encoder: pretrained, ablated or fine-tuned.
        corpus: parallel sentences, or their name such as ``ud/pud``.
        pairs: languages as ``en-fr``.
        measures: names from `MEASURES`; by default CKA, without its bias too, and its nulls.
        tags: kept with every record, such as which model this is.
        done: called after each language is read, with its name.

    Returns:
        A record for each pair, layer (0 is the embeddings) and measure.

    Raises:
        RequestError: for an unknown measure, or a pair that is none.
        DataError: for a language that the corpus does not have.
    """
    for measure in measures:
        if measure not in MEASURES:
            raise RequestError(f"there is no measure {measure!r}", hint=suggest(measure, MEASURES))
    wanted = [split_pair(pair) for pair in pairs]
    languages = sorted({language for pair in wanted for language in pair})
    parallel = load_parallel(corpus, languages=languages) if isinstance(corpus, str) else corpus
    sides: dict[str, list[Centred]] = {}
    digests = {language: parallel[language].digest for language in languages}
    for language in languages:
        lengths = [len(sentence.words) for sentence in parallel[language].sentences]
        sides[language] = [centre(layer, lengths=lengths) for layer in represent(encoder, parallel[language])]
        if done is not None:
            done(language)
    records = []
    for source, target in wanted:
        kept = {
            "corpus": parallel.name, "digest": digests[target], "source_digest": digests[source],
            "condition": encoder.condition, "encoder_digest": encoder.digest, "crosslens": __version__, **(tags or {}),
        }  # fmt: skip
        for layer, (x, y) in enumerate(zip(sides[source], sides[target], strict=True)):
            for measure in measures:
                value = MEASURES[measure].compute(x, y)
                records.append(
                    Record(
                        encoder=encoder.name,
                        source=source,
                        target=target,
                        measure=measure,
                        layer=layer,
                        ablation=encoder.ablation,
                        components=encoder.components,
                        metric="similarity",
                        value=value if value == value else None,
                        n=len(parallel),
                        tags=kept,
                    )
                )
    return Results.of(records)


def split_pair(pair: str) -> tuple[str, str]:
    """``en-fr`` as its two languages.

    Raises:
        RequestError: when it is not two languages.
    """
    source, _, target = pair.partition("-")
    if not source or not target or "-" in target:
        raise RequestError(f"{pair!r} is no pair of languages", hint="write it as en-fr")
    return source, target


def expand_pairs(pairs: Sequence[str], languages: Sequence[str]) -> list[str]:
    """Pairs with ``*`` written out: ``en-*`` is English with every other language."""
    expanded = []
    for pair in pairs:
        source, target = split_pair(pair)
        for a in languages if source == "*" else [source]:
            expanded += [f"{a}-{b}" for b in (languages if target == "*" else [target]) if a != b or "*" not in pair]
    return list(dict.fromkeys(expanded))
