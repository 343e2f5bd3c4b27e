from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence, Text
from crosslens.encoders.models.language_specific import RoutedBertConfig, RoutedBertModel
from crosslens.errors import RequestError
from crosslens.results.record import Results, read_results
from crosslens.similarity.overlap import subword_overlap
from crosslens.similarity.transfer_gap import correlations
from toys import loaded_with, metaspace, word_piece


def corpus(*sentences, language="fr"):
    return Corpus(tuple(Sentence(tuple(sentence.split())) for sentence in sentences), "toy", language, "test")


def values(results):
    frame = results.to_pandas()
    return dict(zip(frame["measure"], frame["value"], strict=True))


def test_against_counting_by_hand(encoder, toy, treebanks):
    """Wu & Dredze 2019, section 5.4, as it is printed."""
    train, test = toy(), load_corpus("ud/fr_pud", data=treebanks)

    def pieces(corpus):
        cut = (encoder.tokenizer.tokenize(word) for sentence in corpus.sentences for word in sentence.words)
        return Counter(piece for its in cut for piece in its if piece != "[UNK]")

    seen, there = set(pieces(train)), pieces(test)
    found = values(subword_overlap(encoder, train=train, tests=[test]))
    assert found["overlap_types"] == pytest.approx(100 * len(seen & set(there)) / len(there))
    tokens = sum(count for piece, count in there.items() if piece in seen)
    assert found["overlap_tokens"] == pytest.approx(100 * tokens / sum(there.values()))


def test_corpora_may_be_names(encoder):
    train, test = load_corpus("lab/src:train[:20]"), load_corpus("lab/sov[:20]")
    named = subword_overlap(encoder, train="lab/src:train[:20]", tests=["lab/sov[:20]"])
    assert named.records.equals(subword_overlap(encoder, train=train, tests=[test]).records)


def test_a_record_says_of_which_training_and_test_data_it_is(encoder, toy):
    train, test = toy(), replace(corpus("the cat"), split="dev")
    rows = subword_overlap(encoder, train=train, tests=[test]).records.to_pylist()
    assert train.split != test.split
    assert len(rows) == 2
    for row in rows:
        assert {
            "train": train.name,
            "train_digest": train.digest,
            "source": train.language,
            "corpus": test.name,
            "corpus_digest": test.digest,
            "target": test.language,
            "split": test.split,
        }.items() <= row.items()


def test_a_corpus_has_all_of_itself_and_an_unknown_word_nothing(encoder, toy):
    assert values(subword_overlap(encoder, train=toy(), tests=[toy()])) == {"overlap_types": 100, "overlap_tokens": 100}
    unknown = corpus("猫 犬 猫")
    assert set(values(subword_overlap(encoder, train=unknown, tests=[unknown])).values()) == {0.0}


def test_lone_word_start_marks_are_no_subwords(tmp_path):
    """A vocabulary like XLM-R's puts a lone ``▁`` before most Chinese words, which English words begin with, too."""
    encoder = loaded_with(metaspace(), tmp_path)
    train, test = corpus("the 猫 cat", language="en"), corpus("狗 the 鸟", language="zh")
    pieces = [encoder.tokenizer.tokenize(word) for word in ("狗", "the", "鸟")]
    assert pieces == [["▁", "狗"], ["▁the"], ["▁", "鸟"]]
    results = subword_overlap(encoder, train=train, tests=[test])
    assert values(results) == pytest.approx({"overlap_types": 100 / 3, "overlap_tokens": 100 / 3})
    assert {record.n for record in results} == {3}


def test_repeating_the_test_data_changes_tokens_and_types_not_at_all(encoder, toy):
    test = corpus("le chat voit", "the cat sees")
    twice = replace(test, items=test.items * 2)
    assert values(subword_overlap(encoder, train=toy(), tests=[test])) == values(
        subword_overlap(encoder, train=toy(), tests=[twice])
    )


def test_its_correlation_with_transfer_is_found_in_records(encoder, toy):
    languages = {"fr": "le chat", "de": "the cat", "ru": "猫 犬", "it": "the 猫", "es": "a dog 犬"}
    tests = [corpus(text, language=language) for language, text in languages.items()]
    overlap = subword_overlap(encoder, train=toy(), tests=tests)
    tokens = overlap.filter(measure="overlap_tokens").to_pandas().set_index("target")["value"]
    scores = overlap.filter(measure="overlap_tokens").with_columns(measure=None, metric="accuracy", task="pos")
    own = scores.filter(target="fr").with_columns(target="en", value=200.0)
    (its,) = correlations(Results.of([]) + overlap + scores + own, measures=["overlap_tokens"], coefficient="pearson")
    assert its.correlation.value == pytest.approx(-1)  # the gap falls as the score, which is the overlap here, rises
    assert its.gaps["de"] == pytest.approx(200 - tokens["de"])
    other = subword_overlap(encoder, train=replace(toy(), name="another treebank"), tests=tests)
    with pytest.raises(RequestError, match="have no scores and similarities"):  # of what the models were not trained on
        correlations(Results.of([]) + other + scores + own, measures=["overlap_tokens"])


def test_without_tests_it_is_refused(encoder, toy):
    with pytest.raises(RequestError, match="at least one test corpus"):
        subword_overlap(encoder, train=toy(), tests=[])


def test_the_name_of_an_encoder_is_refused(toy):
    with pytest.raises(RequestError, match="'e5-small' is a str and not an encoder"):
        subword_overlap("e5-small", train=toy("train"), tests=[toy("test")])


def test_from_the_command_line(run, tiny_bert):
    status, said, _ = run("overlap", tiny_bert, "--train", "ud/en_toy", "--test", "ud/*_pud,ud/fr_pud", "--out", "out")
    assert (status, "overlap_types" in said) == (0, True)
    assert len(read_results("out/results.csv")) == 4  # a corpus that is named twice is read once
    status, said, _ = run("results", "out")
    assert status == 0


def test_the_overlap_of_a_fine_tuned_model_is_recorded_under_the_encoder_of_its_scores(run, tiny_bert, treebanks):
    trained = ("--train", "ud/en_toy", "--test", "ud/fr_pud", "--set", "epochs=1", "--keep-model", "--device", "cpu")
    assert run("finetune", "pos", tiny_bert, *trained, "--out", "tagger")[0] == 0
    status, _, said = run("overlap", "tagger/model", "--train", "ud/en_toy", "--test", "ud/fr_pud", "--out", "out")
    assert status == 0, said
    names = [set(read_results(f"{name}/results.csv").records["encoder"].to_pylist()) for name in ("tagger", "out")]
    assert names[0] == names[1]


def test_the_overlap_of_tokens_has_an_interval_around_it_and_that_of_types_none(encoder):
    """Of 40 sentences, half have the words of the training data: the interval is about that of 40 throws of a coin."""
    test = corpus(*["the cat", "chien voit"] * 20)
    records = subword_overlap(encoder, train=corpus("the cat"), tests=[test]).to_pandas().set_index("measure")
    types, tokens = records.loc["overlap_types"], records.loc["overlap_tokens"]
    assert np.isnan([types["low"], types["high"]]).all()
    assert tokens["low"] < tokens["value"] < tokens["high"]
    assert tokens["n"] > types["n"]
    assert 10 < tokens["high"] - tokens["low"] < 45


def test_fertility_is_the_number_of_subwords_of_a_word_of_the_test_data(encoder, toy):
    test = corpus("the cat sees the cat", "extraordinarily")
    pieces = sum(len(encoder.tokenizer.tokenize(word)) for each in test.sentences for word in each.words)
    records = subword_overlap(encoder, train=toy(), tests=[test, replace(test, items=test.items * 3)])
    assert pieces > test.words
    assert [record.fertility for record in records] == [pytest.approx(pieces / test.words)] * 4


def test_fertility_of_running_text_counts_words(encoder, toy):
    test = Corpus((Text(("the cat sees the cat.",)), Text(("a dog",))), "toy", "en", "test")
    (record, _) = subword_overlap(encoder, train=toy(), tests=[test])
    pieces = sum(len(encoder.tokenizer.tokenize(text.text)) for text in test.texts)
    assert record.fertility == pytest.approx(pieces / 8)


def test_the_share_of_unknown_tokens_is_recorded_in_percent(encoder, toy):
    test = corpus("猫 the cat the", "the 犬 the cat")
    pieces = [piece for each in test.sentences for word in each.words for piece in encoder.tokenizer.tokenize(word)]
    share = 100 * pieces.count(encoder.tokenizer.unk_token) / len(pieces)
    assert 0 < share < 50
    assert [tags["unknown"] for tags in subword_overlap(encoder, train=toy(), tests=[test]).tags()] == [
        pytest.approx(share, abs=0.005)
    ] * 2


def test_text_without_subwords_has_no_overlap(encoder, toy, tmp_path):
    found = subword_overlap(encoder, train=toy(), tests=[Corpus((Text(("\u200b",)),), "empty", "fr")])
    assert [(record.value, record.n) for record in found] == [(None, 0), (None, 0)]
    found.write(tmp_path / "overlap.csv")
    assert read_results(tmp_path / "overlap.csv") == found


def test_languages_with_embeddings_of_their_own_share_no_subword(encoder, toy):
    """Each vocabulary is numbered from 0, so that the same number is another subword in another language."""
    tokenizers = {"en": encoder.tokenizer, "fr": word_piece()}
    sizes = {language: len(each) for language, each in tokenizers.items()}
    small = {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 1, "intermediate_size": 8}
    model = RoutedBertModel(RoutedBertConfig(vocabularies=sizes, separate=(0,), **small))
    separate = replace(encoder, model=model, tokenizers=tokenizers, language="en")
    tests = [corpus("the cat sees", language=language) for language in ("en", "fr")]
    found, joint = (subword_overlap(each, train=toy(), tests=tests) for each in (separate, encoder))
    shared = {(record.target, record.measure): record.value for record in joint}
    assert min(shared.values()) > 0
    assert {(record.target, record.measure): record.value for record in found} == {
        (target, measure): value if target == "en" else 0.0 for (target, measure), value in shared.items()
    }


def test_with_a_limit_only_the_sentences_that_models_are_trained_on_count(encoder, toy):
    train, test = toy(), toy()
    limited, chosen = (
        subword_overlap(encoder, train=corpus, tests=[test], limit=limit)
        for corpus, limit in ((train, 2), (train.limited(2), None))
    )
    assert values(limited) == values(chosen)
    assert values(limited)["overlap_tokens"] < 100
    known = {(record.train_digest, record.settings) for record in limited}
    assert known == {(train.digest, "limit=2")}  # as records of models have them
    assert {record.settings for record in chosen} == {None}
    with pytest.raises(RequestError, match="limit"):
        subword_overlap(encoder, train=train, tests=[test], limit=0)
