"""What the records of a comparison say besides the similarity: of which text, encoder and seed it is."""

from dataclasses import replace

import pytest

from crosslens.corpora.parallel import load_parallel
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.data.sentence import Sentence
from crosslens.data.subwords import lone_prefixes
from crosslens.encoders.reinit import random_init
from crosslens.encoders.represent import represent
from crosslens.errors import RequestError
from crosslens.similarity.cka import linear_cka
from crosslens.similarity.compare import compare, select_sentences
from crosslens.similarity.measures import choose_measures
from toy_tokenizers import ACROSS, SPACES, pipeline
from toys import byte_level, loaded_with


@pytest.fixture(scope="module")
def pud(treebanks):
    return load_parallel("ud/pud", data=treebanks)


WORDS = (("en", "cat"), ("fr", "chat"))


def compared(encoder, corpus, **more):
    return compare(encoder, corpus, pairs=["en-fr"], measures=["cka"], **more)[0]


def test_texts_by_language_are_compared_as_the_corpus_of_them(encoder, pud):
    texts = {language: [item.text for item in pud[language]] for language in ("en", "fr")}
    first, second = (compared(encoder, corpus) for corpus in (texts, load_parallel(texts)))
    assert first == second
    with pytest.raises(RequestError, match=r"does not contain language 'fr' \(known: en\)"):
        compared(encoder, {"en": texts["en"]})


def test_pairs_and_baselines_of_any_iterable_are_those_of_a_list(encoder, pud):
    asked = {"pairs": ["en-fr", "fr-en"], "baselines": ["shuffled", "untrained"]}
    assert compare(encoder, pud, **{name: iter(each) for name, each in asked.items()}) == compare(encoder, pud, **asked)


def test_fertility_is_that_of_the_encoder_which_reads_the_target(encoder, pud, tmp_path):
    other = loaded_with(byte_level(), tmp_path)
    by_reader = {reader: represent(reader, pud["fr"]).subwords.sum() / pud["fr"].words for reader in (encoder, other)}
    assert len(set(by_reader.values())) == 2
    across = {"layers": "all-pairs"}
    for first, second, reader in ((encoder, other, other), (other, encoder, encoder), (other, None, other)):
        record = compared(first, pud, against=second, **across)
        assert record.fertility == pytest.approx(by_reader[reader])


def test_subwords_that_the_reader_of_a_side_does_not_know_are_counted(encoder, tmp_path):
    """One encoder does not know the Chinese character, the other, of bytes, knows all; a mark alone is no subword."""
    texts = {"en": ["the cat 日", "a dog ."] * 2, "fr": ["日 日", "le chat ."] * 2}
    of_bytes = loaded_with(byte_level(), tmp_path)
    for first, second in ((encoder, None), (encoder, of_bytes), (of_bytes, encoder)):
        tags = compared(first, texts, against=second, layers="all-pairs").tags
        sides = {"source_": (first, "en"), "": (second or first, "fr")}
        for prefix, (reader, language) in sides.items():
            lone = set(lone_prefixes(reader.tokenizer))
            ids = [i for text in texts[language] for i in reader.tokenizer.encode(text, add_special_tokens=False)]
            assert tags[f"{prefix}subwords"] == len([i for i in ids if i not in lone])
            unknown = {"en": 2, "fr": 4}[language] if reader is encoder else 0
            assert tags[f"{prefix}unknown_subwords"] == unknown


def test_the_seed_is_that_of_the_last_random_change_of_the_encoder_and_else_of_the_second_one(encoder, pud):
    once, twice = random_init(encoder, "1", seed=3), random_init(random_init(encoder, "1", seed=3), "2", seed=5)
    assert [compared(each, pud).seed for each in (encoder, once, twice)] == [None, 3, 5]
    assert [compared(each, pud, against=twice).seed for each in (encoder, once)] == [5, 3]


@pytest.mark.parametrize("language", ["en", "fr"])
def test_the_digest_changes_with_the_text_of_either_language(encoder, pud, language):
    corpus = pud[language]
    first = replace(corpus[0], words=("other", *corpus[0].words[1:]))
    changed = Parallel({**pud.corpora, language: replace(corpus, items=(first, *corpus.items[1:]))}, pud.name)
    digests = [compared(encoder, each).corpus_digest for each in (pud, pud, changed)]
    assert digests[0] == digests[1] != digests[2]


def test_the_first_sentences_are_counted_among_those_of_the_original_language(pud):
    """Of six sentences every second one is of French origin: its first two are the second and the fourth."""
    ids = [f"n{code}{number:06}" for number, code in enumerate(("01", "03") * 3)]
    corpora = {
        language: replace(corpus, items=tuple(replace(item, id=id) for item, id in zip(corpus, ids, strict=True)))
        for language, corpus in pud.corpora.items()
    }
    asked = {"pairs": ["en-fr"], "measures": choose_measures(["retrieval"]), "original": "fr"}
    parallel = Parallel(corpora, "ud/pud")
    assert [item.id for item in select_sentences(parallel, **asked, sentences=3)["en"]] == ids[1::2]
    with pytest.raises(RequestError, match="needs at least 3 items, but ud/pud has 2"):
        select_sentences(parallel, **asked, sentences=2)


def test_records_are_in_the_order_in_which_the_pairs_were_asked_for(encoder, pud):
    """Each language is read once all the same, so that pairs are compared in another order."""
    asked = ["fr-en", "en-fr", "fr-fr", "en-en"]
    results = compare(encoder, pud, pairs=asked, measures=["cka"]).filter(layer=0)
    assert [f"{record.source}-{record.target}" for record in results] == asked


def test_vectors_that_are_needed_again_are_those_of_their_encoder(encoder, pud):
    """Both encoders read both languages, and those of the second one are needed for two pairs."""
    other = random_init(encoder, "1", seed=3)
    pairs = [(source, target) for source in ("en", "fr") for target in ("fr", "en")]
    asked = {"pairs": ["-".join(pair) for pair in pairs], "measures": ["cka"], "against": other}
    first, second = (
        {language: represent(each, pud[language]) for language in ("en", "fr")} for each in (encoder, other)
    )
    for record in compare(encoder, pud, **asked):
        sides = first[record.source][record.layer], second[record.target][record.layer]
        assert record.value == pytest.approx(linear_cka(*sides), abs=1e-12)


def test_the_pooling_of_the_published_script_reads_treebanks_with_subwords_that_span_words(tmp_path):
    encoder = loaded_with(pipeline(ACROSS, None, normalizer=SPACES), tmp_path / "encoder")
    sentences = {language: [Sentence((word,) * (n % 3) + (f"w{n}",)) for n in range(9)] for language, word in WORDS}
    sides = {language: Corpus(tuple(items), language, language) for language, items in sentences.items()}
    results = compare(encoder, Parallel(sides, "toy"), pairs=["en-fr"], measures=["cka=muller2021-code"])
    assert len(results) == encoder.depth + 1


def test_a_measure_with_its_own_pooling_is_not_of_the_one_asked_for(encoder, pud):
    corpora = {language: replace(pud[language], items=pud[language].items * 2) for language in ("en", "fr")}
    asked = {"pairs": ["en-fr"], "measures": ["cka", "cka=muller2021-code"], "last_layer": "normalised"}
    found = compare(encoder, Parallel(corpora, "toy"), **asked, pooling="cls")
    assert {(record.measure, record.settings) for record in found} == {
        ("cka", "pooling=cls last_layer=normalised"),
        ("cka=muller2021-code", "last_layer=normalised"),
    }
