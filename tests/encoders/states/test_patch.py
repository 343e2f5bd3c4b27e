"""Patching states of translations: own states change nothing, and whole translations give their predictions."""

from dataclasses import replace

import numpy as np
import pytest
import torch

import crosslens as xl
from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.encoders.batch import make_batch
from crosslens.encoders.condition import Condition
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.represent import represent_words
from crosslens.encoders.states.patch import paired, specials, words_of
from crosslens.encoders.states.sublayers import SUBLAYERS
from toys import loaded_with, metaspace


@pytest.fixture(scope="module")
def corpora(treebanks):
    return tuple(load_corpus(f"ud/{name}_pud", data=treebanks) for name in ("en", "fr"))


def patched(encoder, source, **keys):
    (part,) = Condition(**keys).interventions
    return part.fit(encoder, part.source(encoder, source), seed=1)


def states(encoder, corpus):
    windows = read_windows(encoder, corpus).windows
    batch = make_batch(windows, padding=encoder.padding, device=encoder.device)
    with torch.inference_mode():
        return encoder.prepared(windows, corpus).states(batch.ids, batch.mask)[batch.mask.bool()]


def test_the_label_names_a_collection_in_full_and_a_file_without_its_folders():
    for corpus, shown in (("ud/en_pud", "ud/en_pud"), ("/long/path/to/mine.conllu", "mine.conllu")):
        assert Condition(patch="5.output", patch_from=corpus).label == f"patch 5.output from {shown}"
    assert Condition(patch="5.output", patch_by="sentences").label == "patch=sentences 5.output"


@pytest.mark.parametrize("by", ["words", "sentences"])
def test_own_states_change_no_bit(loaded, corpora, by):
    english, _ = corpora
    parts = SUBLAYERS[loaded.family.name]
    places = [
        "1.output",
        "3.output",
        *(["2.ffn"] if parts.ffn else []),
        *(["0"] if loaded.family.name != "xlm" else []),
    ]
    before = states(loaded, english)
    for at in places:
        assert torch.equal(states(patched(loaded, english, patch=at, patch_by=by), english), before), at


def spelt(corpus, spelling):
    """The sentences with other words, which have no subwords but letters."""
    items = [replace(s, words=tuple(map(spelling, s.words)), lines=None) for s in corpus.sentences]
    return replace(corpus, items=tuple(items), language="xx")


def test_above_a_layer_where_every_subword_is_patched_only_the_translation_is_read(encoder, corpora, tmp_path):
    """Both have the same number of subwords; at any height, the output is that of the translation."""
    english, _ = corpora
    target = spelt(english, lambda word: word[::-1])
    source = replace(spelt(english, lambda word: (word[1:] + word[:1])[::-1]), language="yy")
    windows = [read_windows(encoder, corpus).windows for corpus in (source, target)]
    shapes = [[np.diff(window.labelled).tolist() for window in each] for each in windows]
    same = [i for i, (a, b) in enumerate(zip(*shapes, strict=True)) if a == b]
    assert len(same) > 1
    source, target = (replace(corpus, items=tuple(corpus[i] for i in same)) for corpus in (source, target))
    links = tmp_path / "links"
    links.write_text("".join(" ".join(f"{i}-{i}" for i in range(len(s))) + "\n" for s in target.sentences), "utf-8")
    expected, before = states(encoder, source), states(encoder, target)
    assert not torch.equal(expected, before)
    for at in ("0", "1.output", "4.output"):
        assert torch.equal(states(patched(encoder, source, patch=at, patch_links=str(links)), target), expected)


def test_by_sentences_the_mean_of_the_words_is_the_translations(encoder, corpora):
    from crosslens.encoders.represent import represent

    english, french = corpora
    moved = represent(patched(encoder, english, patch="2.output", patch_by="sentences"), french).vectors
    source, plain = (represent(encoder, corpus).vectors for corpus in (english, french))
    np.testing.assert_allclose(moved[2], source[2], rtol=1e-4, atol=1e-5)
    assert not np.allclose(moved[2], plain[2], atol=1e-3)
    assert np.array_equal(moved[1], plain[1])


@pytest.mark.parametrize("reading", [{}, {"repeat": 2}, {"window": 8}], ids=str)
def test_special_tokens_alone_are_paired_from_both_ends(encoder, corpora, reading):
    """Neither the first copy of a repeated input nor the context of a window is a special token."""
    read = xl.read_as(encoder, repeat=reading.get("repeat", 1))
    french, english = (read_windows(read, corpus, window=reading.get("window")).windows for corpus in corpora[::-1])
    for window in french:
        index = specials(window, english[0], numbers=(1, 1))
        assert index[0] == 0
        assert index[-1] == len(english[0]) - 1
        assert (index[1:-1] == -1).all()


def test_of_repeated_input_only_the_copy_that_represents_words_is_patched(encoder, corpora):
    english, french = corpora
    twice = xl.read_as(encoder, repeat=2)
    before, after = (
        states(twice, french),
        states(patched(twice, english, patch="4.output", patch_by="sentences"), french),
    )
    begin = 0
    for window in read_windows(twice, french).windows:
        moved = (before[begin : begin + len(window)] != after[begin : begin + len(window)]).any(-1)
        assert not moved[1 : window.span[0]].any()
        assert moved[slice(*window.span)].all()
        begin += len(window)


@pytest.mark.parametrize("repeat", [1, 2])
def test_words_have_the_subwords_of_their_windows(encoder, corpora, repeat):
    english = spelt(corpora[0], lambda word: "xyz" * 20 if word == "cat" else word)  # as long as a window
    windows = read_windows(xl.read_as(encoder, repeat=repeat), english, window=8 * repeat).windows
    positions = words_of(windows)
    assert len(windows) > len(english)
    for window, words in zip(windows, positions, strict=True):
        assert [labelled for _, labelled in words.values()] == window.labelled.tolist()
        assert np.concatenate([places for places, _ in words.values()]).tolist() == list(range(*window.span))


def test_more_subwords_than_the_linked_word_has_repeat_its_last_or_first():
    assert paired((np.arange(3), 0), (np.arange(10, 12), 10)).tolist() == [10, 11, 11]
    assert paired((np.arange(3), 2), (np.arange(10, 12), 11)).tolist() == [10, 10, 11]
    assert paired((np.arange(1), 0), (np.arange(10, 12), 11)).tolist() == [11]


@pytest.mark.parametrize("words", [("the", "cat"), ("dog", "a"), ("dog", "cat")])
def test_a_word_has_the_state_of_the_linked_word_not_of_a_lone_mark_before_it(tmp_path, words):
    """The vocabulary has ``▁the`` and ``▁cat``; other words begin with a lone ``▁``."""
    encoder = loaded_with(metaspace(), tmp_path / "encoder")
    source, target = (
        Corpus((Sentence(each, id="1"),), name, name) for name, each in (("en", ("the", "dog")), ("xx", words))
    )
    links = tmp_path / "links.txt"
    links.write_text("0-0 1-1\n")
    moved = patched(encoder, source, patch="1.output", patch_links=str(links))
    assert np.array_equal(represent_words(moved, target)[1], represent_words(encoder, source)[1])


def test_of_a_translation_in_several_windows_the_first_stands_in(encoder, corpora):
    """By sentences: the mean of the words becomes that of the words that the first window represents."""
    english, french = corpora
    words = [word for each in english.sentences for word in each.words]
    whole = Sentence(tuple(words) * 3, id=english[0].id)
    long = replace(english, items=(whole,))
    first, *others = read_windows(encoder, long).windows
    assert others
    french = french[:1]
    assert french[0].id == whole.id
    moved = states(patched(encoder, long, patch="4.output", patch_by="sentences"), french)
    (window,) = read_windows(encoder, french).windows
    batch = make_batch([first], padding=encoder.padding, device=encoder.device)
    with torch.inference_mode():
        (expected,) = encoder.states(batch.ids, batch.mask)
    means = [of[slice(*its.span)].mean(0) for of, its in ((moved, window), (expected, first))]
    torch.testing.assert_close(*means, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(moved[0], expected[0])


def test_sentences_of_the_same_words_have_the_translation_of_the_first(encoder, corpora):
    english, french = corpora
    twice = replace(french, items=(french[0], replace(french[0], id=french[1].id)))
    patch = {"patch": "4.output", "patch_by": "sentences"}
    first, again = xl.represent(patched(encoder, english[:2], **patch), twice)[4]
    expected, other = xl.represent(encoder, english[:2])[4]
    np.testing.assert_allclose(first, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(again, expected, rtol=1e-4, atol=1e-5)
    assert not np.allclose(other, expected, atol=1e-2)
