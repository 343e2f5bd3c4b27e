"""Vocabularies: what languages share of them, and how words are cut."""

import pytest
from transformers import ByT5Tokenizer

from crosslens.errors import RequestError
from crosslens.mlm.vocabulary import FOREIGN, SPECIALS, VOCABULARIES, encode_lines, make_vocabularies
from toys import SENTENCES


@pytest.mark.parametrize("kind", sorted(VOCABULARIES))
def test_a_vocabulary_is_the_same_every_time(kind):
    lines = [*SENTENCES["en"], *SENTENCES["fr"], "Élève naïve — 10 000 猫と犬"]
    made = [VOCABULARIES[kind](lines, size=150, positions=16).backend_tokenizer.to_str() for _ in range(4)]
    assert len(set(made)) == 1
    tokenizer = VOCABULARIES[kind](lines, size=150, positions=16)
    assert tokenizer.unk_token_id not in tokenizer("the cat voit la maison")["input_ids"]


def test_whole_words(texts):
    lines = (texts / "en.txt").read_text().split("\n")
    tokenizer = VOCABULARIES["words"](lines, size=200, positions=24)
    assert tokenizer.convert_ids_to_tokens(tokenizer("the cat yawns")["input_ids"]) == [
        "[CLS]",
        "the",
        "cat",
        "[UNK]",
        "[SEP]",
    ]
    few = VOCABULARIES["words"](lines, size=50, positions=24)
    assert {"the", "."} <= set(few.get_vocab())
    assert len(VOCABULARIES["words"](lines, size=8, positions=24)) == 8


@pytest.mark.parametrize("kind", ["bpe", "wordpiece", "words"])
@pytest.mark.parametrize("anchors", ["joint", "default", "none"])
def test_what_vocabularies_share(kind, anchors):
    text = {language: SENTENCES[language] * 3 for language in ("en", "fr")}
    made = make_vocabularies(text, kind=kind, size=240, positions=16, anchors=anchors)
    sizes = {len(its) for its in made.values()}
    assert len(sizes) == 1
    used = {}
    for language, lines in text.items():
        ids = made[language](lines, add_special_tokens=False)["input_ids"]
        pieces = [made[language].convert_ids_to_tokens(its) for its in ids]
        assert not any(piece.startswith(FOREIGN) for its in pieces for piece in its)
        assert made[language].unk_token_id not in {i for its in ids for i in its}
        assert made[language].cls_token_id == 2
        used[language] = {
            i: piece for row, its in zip(ids, pieces, strict=True) for i, piece in zip(row, its, strict=True)
        }
    both = set(used["en"]) & set(used["fr"])
    strings = set(used["en"].values()) & set(used["fr"].values())
    assert strings  # the full stop, at least
    if anchors == "none":
        assert not both
    else:
        assert {used["en"][i] for i in both} == strings
        assert all(used["en"][i] == used["fr"][i] for i in both)


@pytest.mark.parametrize(("kind", "size"), [("bpe", 100), ("wordpiece", 120), ("words", 26)])
def test_separate_vocabularies_have_equal_parts_of_the_size(kind, size):
    text = {language: SENTENCES[language] * 3 for language in ("en", "fr")}
    made = make_vocabularies(text, kind=kind, size=size, positions=16, anchors="none")
    own = {
        language: [piece for piece in tokenizer.get_vocab() if not piece.startswith(FOREIGN)]
        for language, tokenizer in made.items()
    }
    assert [len(pieces) for pieces in own.values()] == [size // 2] * 2
    assert len(made["en"]) == size - 5  # special tokens are shared


@pytest.mark.parametrize(("kind", "size"), [("bpe", 80), ("wordpiece", 79)])
def test_a_vocabulary_is_never_larger_than_its_size(kind, size):
    """Trainers keep every character, however many."""
    letters = [chr(0x10D0 + number) for number in range(37)]
    lines = [letter + other for letter in letters for other in letters]
    needed = len(SPECIALS) + (len(letters) + 1 if kind == "bpe" else 2 * len(letters))  # ▁, or ## before a letter
    assert len(VOCABULARIES[kind](lines, size=size, positions=16)) == size > needed - 1
    with pytest.raises(RequestError, match=f"a vocabulary of {needed - 1} subwords has no room.* need {needed}"):
        VOCABULARIES[kind](lines, size=needed - 1, positions=16)


def test_a_vocabulary_of_ones_own_cuts_as_it_would_alone():
    from crosslens.mlm.vocabulary import VOCABULARIES

    text = {language: SENTENCES[language] * 3 for language in ("en", "fr")}
    united = make_vocabularies(text, kind="bpe", size=200, positions=16, anchors="default")
    for language, lines in text.items():
        alone = VOCABULARIES["bpe"](lines, size=100, positions=16)
        for line in (*text["en"], *text["fr"]):  # no subword of the other language is used
            assert united[language].tokenize(line) == alone.tokenize(line)


@pytest.mark.parametrize("kind", ["bpe", "wordpiece"])
def test_no_subword_has_both_letters_and_punctuation(kind):
    vocabulary = VOCABULARIES[kind](["(the cat, the dog)."] * 20, size=100, positions=16).get_vocab()
    subwords = {piece.removeprefix("##").strip("▁") for piece in vocabulary if piece not in SPECIALS.values()}
    assert {"the", "cat", "(", ",", "."} <= subwords
    assert all(len(subword) < 2 or subword.isalpha() for subword in subwords)


def test_only_characters_within_words_have_a_subword_that_continues_one():
    """X and y begin words and are in none: their place in the vocabulary is left for merges."""
    tokenizer = VOCABULARIES["wordpiece"](["Xab yba", "Xaab yaba"], size=40, positions=16)
    continuing = {piece for piece in tokenizer.get_vocab() if piece.startswith("##") and len(piece) == 3}
    assert continuing == {"##a", "##b"}
    assert "X" in tokenizer.get_vocab()


def test_whole_words_are_the_same_in_any_order_of_lines():
    """Also where words are as frequent as others."""
    lines = ["b a", "d c", "a c", "e f"]
    vocabularies = [VOCABULARIES["words"](order, size=8, positions=8).get_vocab() for order in (lines, lines[::-1])]
    assert vocabularies[0] == vocabularies[1]
    assert {"a", "c", "b"} <= set(vocabularies[0])


def test_of_more_words_than_there_is_room_for_the_most_frequent_are_kept():
    lines = ["z y x y", "z y a", "z"]
    tokenizer = VOCABULARIES["words"](lines, size=5 + 2, positions=8)
    assert len(tokenizer) == 7
    assert {"y", "z"} < set(tokenizer.get_vocab())


def test_characters_that_continue_words_are_in_the_order_of_the_alphabet():
    """A set of strings has another order in every process; it would decide ties between subwords."""
    lines = ["xzyxwvutsrqponm", "xlkjihgfedcba"]
    vocabulary = VOCABULARIES["wordpiece"](lines, size=60, positions=16).get_vocab()
    continuing = [piece for piece in sorted(vocabulary, key=vocabulary.get) if piece.startswith("##")]
    characters = [piece for piece in continuing if len(piece) == 3]
    assert len(characters) > 20
    assert characters == sorted(characters)


def test_characters_are_read_in_their_usual_form():
    """A ligature is its letters, and letters of full width are letters."""
    tokenizer = VOCABULARIES["bpe"](SENTENCES["en"], size=120, positions=16)
    assert tokenizer.tokenize("ﬁnds ｔｈｅ cat") == tokenizer.tokenize("finds the cat")
    trained = [
        VOCABULARIES["bpe"]([line] * 9, size=60, positions=16).get_vocab() for line in ("oﬃce ﬂat", "office flat")
    ]
    assert trained[0] == trained[1]


@pytest.mark.parametrize("kind", sorted(VOCABULARIES))
def test_the_second_of_two_texts_is_a_segment_of_its_own(kind):
    """As an encoder is fine-tuned on sentence pairs."""
    tokenizer = VOCABULARIES[kind](["a b", "b a"] * 9, size=12, positions=16)
    read = tokenizer("a b", "b", return_token_type_ids=True)
    length = len(tokenizer("a b")["input_ids"])
    assert read["token_type_ids"] == [0] * length + [1] * (len(read["input_ids"]) - length)


def test_lines_are_read_whole_whatever_the_tokenizer_was_used_for_before():
    lines = ["the cat sees a dog .", "a dog ."]
    tokenizer = VOCABULARIES["words"](lines, size=40, positions=16)
    whole = tokenizer(lines, add_special_tokens=False)["input_ids"]
    tokenizer(lines, padding=True, truncation=True, max_length=4)
    assert encode_lines(lines, tokenizer) == whole


def test_lines_have_no_special_tokens_whatever_the_kind_of_tokenizer():
    slow = ByT5Tokenizer()
    assert not slow.is_fast
    assert encode_lines(["ab", "c"], slow) == [[100, 101], [102]]  # bytes, behind three special tokens
    fast = VOCABULARIES["bpe"](SENTENCES["en"], size=100, positions=24)
    (ids,) = encode_lines(["the cat"], fast)
    assert not {*ids} & {*fast.all_special_ids}
    assert fast.decode(ids) == "the cat"
