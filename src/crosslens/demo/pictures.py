"""Opening of the demonstration's page: what the artificial languages are, in three sentences and three pictures."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

from crosslens.data.sentence import Sentence
from crosslens.encoders.condition import Condition
from crosslens.encoders.layers import format_layers
from crosslens.lab.grammar import KINDS
from crosslens.lab.laboratory import Laboratory
from crosslens.lab.language import Language
from crosslens.lab.presets import describe_preset

ROLES = {
    "root": "verb",
    "nsubj": "subject",
    "obj": "object",
    "amod": "adjective",
    "nmod": "of a noun",
    "case": "marker",
    "det": "article",
    "aux": "auxiliary",
    "advmod": "adverb",
    "obl": "place",
    "nummod": "number",
    "mark": "that",
    "ccomp": "clause",
    "acl:relcl": "clause",
    "conj": "and …",
    "cc": "and",
    "flat": "name",
}
"""Dependency relation -> what stands below its word in the picture."""

TELLING = ("nsubj", "obj", "amod", "nmod")
"""Relations that the languages order differently; the sentence shown has as many of them as possible."""

COLOURS = {"root": 0, "nsubj": 1, "obj": 2, "amod": 3, "nmod": 4, "advmod": 5}
"""Relation -> the number of its colour."""

SHOWN = {"noun": 3, "transitive": 1, "adjective": 1, "first_name": 2, "numeral": 1}
"""Word class -> how many of its most frequent concepts the table of words has."""

NAMES = {"noun": "noun", "transitive": "verb", "adjective": "adjective", "first_name": "name", "numeral": "number"}
"""Word class -> its name in the table of words."""

WORDS = {
    "shared": "shared: the same word in all languages",
    "friend": "false friend: means something else in another language",
    "own": "a word of its own",
}
"""Kind of word -> its entry in the legend."""

LAYERS = {"kept": "pretrained", "fresh": "re-initialised: random", "head": "task head, new in every condition"}
"""State of a layer -> its entry in the legend."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """How the words of a language relate to those of the other languages.

    Attributes:
        words: word of each content word and name, in the order of the concepts.
        kinds: what each word is, a key of `WORDS`.
    """

    words: Sequence[str]
    kinds: Sequence[str]

    def share(self, kind: str) -> float:
        """Percentage of the words that are of a kind."""
        return 100 * self.kinds.count(kind) / len(self.kinds)


def story(laboratory: Laboratory, *, depth: int) -> str:
    """Tell in three sentences what the languages are, and what is done with them."""
    source, *others = laboratory.languages
    about = f": in laboratory “{laboratory.preset}”, {describe_preset(laboratory.preset)}" if laboratory.preset else ""
    return (
        f"The artificial languages {_listed(laboratory.languages)} describe one toy world of"
        f" {len(laboratory.world.concepts)} concepts: things, actions, properties and names, of which the same are"
        " frequent and go together in every language."
        f" The languages differ in word order, grammatical words and vocabulary{about}."
        f" An encoder of {depth} layers was pretrained on raw text of all of them, without translations, and fine-tuned"
        f" on {source} only: its score in {_listed(others)} is zero-shot transfer, and re-initialising layers before"
        " fine-tuning shows which of them transfer needs."
    )


def pictures(laboratory: Laboratory, *, conditions: Sequence[Condition], depth: int) -> str:
    """Draw a sentence with its tree in every language, the words that languages share, and the layers.

    Args:
        conditions: conditions of the study; those that re-initialise layers are drawn.

    Returns:
        HTML for `crosslens.report.page.make_page`.
    """
    source = laboratory.languages[0]
    drawn = [_sentences(laboratory), f"<div>{_words(laboratory)}{_layers(conditions, depth, source)}</div>"]
    return f'<section id="world"><h2>The artificial languages</h2><div class="columns">{"".join(drawn)}</div></section>'


def _listed(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), names[-1])))


def vocabularies(laboratory: Laboratory) -> dict[str, Vocabulary]:
    """Classify the content words and names of each language as shared, false friends, or words of its own."""
    chosen = [place for place, (kind, _) in enumerate(laboratory.world.concepts) if _is_vocabulary(kind)]
    known = {}
    for language, lexicon in laboratory.lexicons.items():
        others = [words for name, words in laboratory.lexicons.items() if name != language]
        elsewhere = {word for words in others for word in words}
        kinds = [
            "shared"
            if others and all(words[place] == lexicon[place] for words in others)
            else "friend"
            if lexicon[place] in elsewhere and all(words[place] != lexicon[place] for words in others)
            else "own"
            for place in chosen
        ]
        known[language] = Vocabulary([lexicon[place] for place in chosen], kinds)
    return known


def _is_vocabulary(kind: str) -> bool:
    return KINDS[kind].content or KINDS[kind].entity is not None or kind == "numeral"


def telling_sentence(laboratory: Laboratory) -> dict[str, Sentence]:
    """Choose a short test sentence whose word order differs between the languages: language -> its translation."""
    corpora = [laboratory.corpus(language).sentences for language in laboratory.languages]

    def rank(translations: Sequence[Sentence]) -> tuple[int, int, int]:
        relations = [relation for relation in translations[0].relations or () if relation not in ("case", "det")]
        repeated = len(relations) - len(set(relations))
        return repeated, -len({*TELLING} & {*relations}), max(len(each.words) for each in translations)

    return dict(zip(laboratory.languages, min(zip(*corpora, strict=True), key=rank), strict=True))


def describe_grammar(grammar: Language, source: Language) -> str:
    """Describe a grammar by its word order and by what differs from the source language.

    >>> describe_grammar(Language(adjective="after", auxiliaries=False), Language())
    'SVO, adjective after the noun, no auxiliaries'
    """
    phrases: Mapping[str, str] = {
        "adjective": f"adjective {grammar.adjective} the noun",
        "adposition": f"markers {grammar.adposition} the noun",
        "genitive": f"“of a noun” {grammar.genitive} the noun",
        "relative": f"clause {grammar.relative} the noun",
        "adverb": f"adverb {grammar.adverb} the verb",
        "determiners": "articles" if grammar.determiners else "no articles",
        "auxiliaries": "auxiliaries" if grammar.auxiliaries else "no auxiliaries",
        "accusative": "marked objects" if grammar.accusative else "unmarked objects",
        "suffixes": "suffixes" if grammar.suffixes else "no suffixes",
        "script": f"{grammar.script.capitalize()} script",
    }
    differences = [phrase for name, phrase in phrases.items() if getattr(grammar, name) != getattr(source, name)]
    return ", ".join([grammar.order, *differences])


def _sentences(laboratory: Laboratory) -> str:
    grammars = laboratory.settings.languages
    source = grammars[laboratory.languages[0]]
    parts = [
        f"<h3><bdi>{escape(language)}</bdi> <span>{escape(describe_grammar(grammars[language], source))}</span></h3>"
        + _wide(f"Sentence and its tree in {language}", _tree(sentence, language))
        for language, sentence in telling_sentence(laboratory).items()
    ]
    caption = (
        "One sentence and its dependency tree in each language. A colour stands for one part of the meaning, which has"
        " another place and mostly another word in each language."
    )
    return _figure(caption, *parts)


def _tree(sentence: Sentence, language: str) -> str:
    """Draw a sentence with an arc from each word's head to the word, higher for words further away."""
    words = list(zip(sentence.words, sentence.heads or (), sentence.relations or (), strict=True))
    slots = [8 * max(len(word), len(ROLES.get(relation, ""))) + 13 for word, _, relation in words]
    centres = [sum(slots[:place]) + slot / 2 for place, slot in enumerate(slots)]
    arcs = [(place, head - 1) for place, (_, head, relation) in enumerate(words) if head and relation != "punct"]
    floor = 12 + 9 * max((abs(word - head) for word, head in arcs), default=1)
    parts = [_arc(centres[head], centres[word], floor, 9 * abs(word - head)) for word, head in arcs]
    for centre, slot, (word, _, relation) in zip(centres, slots, words, strict=True):
        colour = f" series{COLOURS[relation]}" if relation in COLOURS else ""
        if relation != "punct":
            box = f'x="{centre - slot / 2 + 3:.1f}" y="{floor + 3}" width="{slot - 6}" height="24"'
            parts.append(f'<rect class="word{colour}" {box}/>')
        parts.append(_text(centre, floor + 20, word))
        parts.append(_text(centre, floor + 42, ROLES.get(relation, ""), "role"))
    spoken = ", ".join(f"{word} ({ROLES[relation]})" for word, _, relation in words if relation in ROLES)
    return _svg((sum(slots), floor + 50), f"{language}: {spoken}", parts)


def _arc(start: float, end: float, floor: int, height: int) -> str:
    """An arc from a head to its dependent, with an arrow at the dependent."""
    side = 5 if end > start else -5
    top = floor - height
    path = f"M{start + side:.1f} {floor}Q{start + side:.1f} {top} {start + 3 * side:.1f} {top}"
    path += f"H{end - 2 * side:.1f}Q{end:.1f} {top} {end:.1f} {floor}l-3 -6h6l-3 6"
    return f'<path class="arc" d="{path}"/>'


def _words(laboratory: Laboratory) -> str:
    """Draw which words the languages share, and the words of some frequent concepts."""
    concepts = [concept for concept in laboratory.world.concepts if _is_vocabulary(concept[0])]
    known = vocabularies(laboratory)
    rows = [
        _table_row(name, [f"<td>{vocabulary.share(kind):.0f} %</td>" for vocabulary in known.values()])
        for kind, name in {"shared": "shared", "friend": "false friends", "own": "own"}.items()
    ]
    for place, (kind, rank) in enumerate(concepts):
        if rank < SHOWN.get(kind, 0):
            words = [f'<td class="{each.kinds[place]}">{escape(each.words[place])}</td>' for each in known.values()]
            rows.append(_table_row(f"{NAMES[kind]} {rank + 1}", words))
    heads = "".join(f'<th scope="col"><bdi>{escape(language)}</bdi></th>' for language in known)
    caption = (
        "How many per cent of the content words, names and numerals of each language are of which kind, and its words"
        " for some of the most frequent concepts."
    )
    table = (
        f'<table class="lexicon"><thead><tr><th class="left" scope="col">words</th>{heads}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table>"
    )
    return _figure(caption, _key(WORDS), _wide("Words of the languages", table))


def _table_row(name: str, cells: Sequence[str]) -> str:
    return f'<tr><th scope="row">{name}</th>{"".join(cells)}</tr>'


def _layers(conditions: Sequence[Condition], depth: int, source: str) -> str:
    """Draw which layers each condition re-initialises: one column a condition, the embeddings at the bottom."""
    columns = [
        (each.label if each.is_reference else format_layers(each.reinitialised(depth)), each.reinitialised(depth))
        for each in conditions
        if each.is_reference or each.reinitialised(depth)
    ]
    left, step, width = 104, 26, 92
    rows = ["task head", *(f"layer {layer}" for layer in range(depth, 0, -1)), "embeddings"]
    parts = [f'<text x="{left - 8}" y="{step * at + 17}" text-anchor="end">{row}</text>' for at, row in enumerate(rows)]
    for column, (label, layers) in enumerate(columns):
        x = left + width * column
        for row in range(len(rows)):
            kind = "head" if row == 0 else "fresh" if depth + 1 - row in layers else "kept"
            parts.append(
                f'<rect class="{kind}" x="{x + 4}" y="{step * row + 2}" width="{width - 8}" height="{step - 5}"/>'
            )
        parts.append(_text(x + width / 2, step * len(rows) + 18, label))
    spoken = "; ".join(label for label, _ in columns)
    size = left + width * len(columns), step * len(rows) + 28
    drawing = _svg(size, f"Re-initialised layers by condition (0: embeddings): {spoken}", parts)
    caption = f"The encoder in each condition, before it is trained on {source}."
    return _figure(caption, _key(LAYERS), _wide("Layers of each condition", drawing))


def _text(x: float, y: float, text: str, kind: str = "") -> str:
    style = f' class="{kind}"' if kind else ""
    return f'<text{style} x="{x:.1f}" y="{y:.0f}" text-anchor="middle">{escape(text)}</text>'


def _svg(size: tuple[int, int], spoken: str, parts: Sequence[str]) -> str:
    width, height = size
    box = f'viewBox="0 0 {width} {height}" width="{width}" height="{height}"'
    return f'<svg class="drawing" {box} role="img" aria-label="{escape(spoken)}">{"".join(parts)}</svg>'


def _wide(label: str, content: str) -> str:
    return f'<div class="wide" tabindex="0" role="region" aria-label="{escape(label)}">{content}</div>'


def _key(kinds: Mapping[str, str]) -> str:
    entries = (f'<li><i class="swatch {kind}"></i>{escape(text)}</li>' for kind, text in kinds.items())
    return f'<ul class="key">{"".join(entries)}</ul>'


def _figure(caption: str, *parts: str) -> str:
    return f"<figure><figcaption>{escape(caption)}</figcaption>{''.join(parts)}</figure>"
