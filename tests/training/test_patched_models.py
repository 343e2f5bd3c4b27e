"""Models with the states of translations: words have the predictions of linked words."""

import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.encoders.condition import Condition
from crosslens.encoders.inputs import read_windows
from crosslens.errors import DataError, EncoderError, RequestError
from crosslens.training.evaluate import evaluate
from crosslens.training.intervene import intervene, parse_intervention
from crosslens.training.predict import predict


@pytest.fixture(scope="module")
def corpora(treebanks):
    return tuple(load_corpus(f"ud/{name}_pud", data=treebanks) for name in ("en", "fr"))


def links_file(tmp_path, corpus, link=lambda i, n: f"{i}-{i}"):
    lines = [" ".join(link(i, len(s)) for i in range(len(s))) for s in corpus.sentences]
    path = tmp_path / "links"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return str(path)


def test_at_the_top_a_word_has_the_tag_of_its_linked_word_and_others_keep_theirs(tagger, corpora, tmp_path):
    english, french = corpora
    links = links_file(tmp_path, english, lambda i, n: f"{i}-{n - 2 - i}" if i < 2 else "")
    own, theirs = (predict(tagger, corpus).sentences for corpus in (french, english))
    model = intervene(tagger, {"patch": "4.output", "patch_links": links}, reference=english)
    found = predict(model, french).sentences
    linked = 0
    for number, sentence in enumerate(found):
        n = len(english.sentences[number])
        pairs = {n - 2 - i: i for i in range(2) if n - 2 - i < len(sentence)}
        for word, tag in enumerate(sentence.upos):
            expected = theirs[number].upos[pairs[word]] if word in pairs else own[number].upos[word]
            assert tag == expected
            linked += word in pairs
    assert linked > len(found)


def test_from_the_command_line_the_corpus_and_its_content_are_recorded(tagger, corpora, treebanks, tmp_path):
    english, french = corpora
    links = links_file(tmp_path, english, lambda i, n: "0-0" if i == 0 else "")
    text = f"2.output:patch=ud/en_pud;links={links}"
    (record,) = evaluate(intervene(tagger, text, data=treebanks), french).filter(metric="accuracy")
    condition = Condition.parse(record.condition)
    assert condition.plain == {
        "patch": "2.output",
        "patch_from": "ud/en_pud",
        "patch_digest": english.digest[:12],
        "patch_links": links,
    }
    assert condition.label == "patch 2.output from ud/en_pud word-aligned"
    assert parse_intervention("1.output:patch=ud/en_pud;by=sentences").plain["patch_by"] == "sentences"
    with pytest.raises(RequestError, match="patch_nonsense"):
        parse_intervention("1.output:patch=ud/en_pud;nonsense=1")


def test_labels_name_alignments_and_no_path():
    named = {
        "links/{language}.links": "",
        "/me/links/eflomal-{language}.links": " (eflomal)",
        "a/{language}.txt": " (a)",
    }
    for links, name in named.items():
        assert Condition(patch="0", patch_links=links).label == f"patch 0 word-aligned{name}"


def test_what_has_no_translation_is_refused(tagger, corpora, toy):
    english, french = corpora
    model = intervene(tagger, {"patch": "2.output", "patch_by": "sentences"}, reference=english[:2])
    with pytest.raises(DataError, match=r"ud/fr_pud:test is not parallel to ud/en_pud:test.*'n03'"):
        evaluate(model, french)
    with pytest.raises(RequestError, match="needs a corpus of the source language"):
        intervene(tagger, {"patch": "2.output"})
    with pytest.raises(EncoderError, match="layer 9 does not exist"):
        intervene(tagger, {"patch": "9.output"}, reference=english)
    edited = intervene(tagger, {"patch": "2.output"}, reference=english).encoder
    with pytest.raises(RequestError, match="needs the corpus"):
        edited.prepared(read_windows(tagger.encoder, english).windows)
