"""What is counted of a text and an encoder's vocabulary."""

import re

import numpy as np
import pytest
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import PreTrainedTokenizerFast

from crosslens.corpora.catalogue import load_corpus
from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Sentence
from crosslens.errors import DataError
from crosslens.unseen.confidence import measure_confidence, read_states, train_probes
from crosslens.unseen.evidence import FEATURES, gather, vocabulary_scripts
from toys import loaded_with


def words(*sentences, language="wo"):
    return Corpus(tuple(Sentence(tuple(s.split())) for s in sentences), "mine", language)


def test_evidence_by_hand(encoder):
    text, train = words("the cat a猫", "яблоко ."), words("the dog sees .", language="en")
    probes = {"en": train_probes(encoder, load_corpus("lab/src:train[:20]"))}
    found = gather(encoder, text, {"en": train}, probes)
    assert found.scripts == {
        "Latn": pytest.approx(100 * 7 / 14),
        "Cyrl": pytest.approx(100 * 6 / 14),
        "Hani": pytest.approx(100 / 14),
    }
    assert found.script == "Latn"
    known = [i for s in text.sentences for w in s.words for i in encoder.tokenizer.encode(w, add_special_tokens=False)]
    known = [i for i in known if i != encoder.tokenizer.unk_token_id]
    seen = {i for w in train[0].words for i in encoder.tokenizer.encode(w, add_special_tokens=False)}
    assert found.overlap["en"] == pytest.approx(100 * np.mean([i in seen for i in known]))
    pieces = [p for p in encoder.tokenizer.get_vocab() if sum(map(str.isalpha, p)) > 1]
    assert found.pieces == vocabulary_scripts(encoder.tokenizer)["Latn"] == len(pieces)
    assert found.features("en").shape == (len(FEATURES),)
    sure = measure_confidence(probes["en"], read_states(encoder, text))
    assert found.features("en")[-2:] == pytest.approx([sure.confident, sure.agreement])


def test_overlap_is_with_as_many_sentences_of_a_source_however_many_there_are(encoder):
    text, few = words("the cat sees a dog ."), words(*["the cat"] * 1000, language="en")
    more = words(*["the cat"] * 1000, "sees a dog .", language="en")
    fewer = words("the cat", "sees a dog .", language="en")
    overlap = gather(encoder, text, {"few": few, "more": more, "fewer": fewer}, {}).overlap
    assert overlap["more"] == overlap["few"] < overlap["fewer"] == 100


def test_a_subword_weighs_in_the_overlap_as_often_as_the_text_has_it(encoder):
    text = words("the the the cat")
    assert gather(encoder, text, {"en": words("the dog", language="en")}, {}).overlap == {"en": 75.0}


def test_words_unknown_to_both_are_not_shared_also_where_the_unknown_subword_is_the_first(tmp_path):
    vocabulary = {piece: number for number, piece in enumerate(("[UNK]", "[PAD]", "the", "cat", "dog"))}
    levels = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    levels.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=levels, unk_token="[UNK]", pad_token="[PAD]")
    overlap = gather(
        loaded_with(tokenizer, tmp_path), words("the cat sees"), {"en": words("the dog reads")}, {}
    ).overlap
    assert overlap == {"en": 50.0}
    nothing = gather(loaded_with(tokenizer, tmp_path), words("sees sees"), {"en": words("the dog reads")}, {})
    assert nothing.overlap == {"en": 0.0}


def test_vocabularies_of_bytes_are_read_as_text():
    """Their pieces look like Latin letters: ``Ð¼Ð°`` is ``ма``."""
    model = Tokenizer(models.BPE())
    model.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    model.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, initial_alphabet=alphabet, show_progress=False)
    model.train_from_iterator(["мама мыла раму"] * 20 + ["the cat"], trainer)
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=model)
    read = [tokenizer.decode([number]) for number in range(len(tokenizer))]
    cyrillic, latin = ([piece for piece in read if len(re.findall(each, piece)) > 1] for each in ("[а-я]", "[a-z]"))
    assert " мама" in cyrillic or "мама" in cyrillic
    assert vocabulary_scripts(tokenizer)["Cyrl"] == len(cyrillic)
    assert vocabulary_scripts(tokenizer)["Latn"] == len(latin)
    assert vocabulary_scripts(tokenizer).keys() == {"Cyrl", "Latn"}


def test_text_that_nobody_can_read(encoder):
    with pytest.raises(DataError, match="no letter of any known script"):
        gather(encoder, words("12 3 !", "\ue000\ue001"), {"en": words("the cat")}, {})


def test_features_stand_in_the_order_of_their_names(encoder):
    text = words("the cat sees", "a dog")
    probes = {"en": train_probes(encoder, load_corpus("lab/src:train[:20]"))}
    evidence = gather(encoder, text, {"en": words("the dog", language="en")}, probes)
    named = dict(zip(FEATURES, evidence.features("en"), strict=True))
    pieces = [encoder.tokenizer.tokenize(word) for sentence in text.sentences for word in sentence.words]
    assert named["fertility"] == pytest.approx(np.mean([len(each) for each in pieces]))
    assert named["characters per subword"] == pytest.approx(evidence.coverage.characters)
    assert named["fertility"] != named["characters per subword"]
    assert named["overlap with the source %"] == evidence.overlap["en"]
