import pytest

from crosslens.data.corpus import Corpus
from crosslens.data.formats.text import count_words, cut_words, is_word, read, read_labelled, read_lines, read_words
from crosslens.data.sentence import Sentence, Text
from crosslens.errors import CrosslensWarning, DataError


def words(text):
    return cut_words(Corpus((Text((text,)),), "text")).sentences[0].words


def written(folder, *lines):
    file = folder / "raw.txt"
    file.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return file


def test_text_without_spaces_between_words_is_read_with_a_warning(tmp_path):
    """Each line would be one word with one label."""
    lines = "我们在图书馆里一起学习中文", "他们每天都去学校上课读书"
    with pytest.warns(CrosslensWarning, match=r"raw\.txt: words must be separated by spaces, but Han text seems to"):
        assert [item.words for item in read_words(written(tmp_path, *lines))] == [(line,) for line in lines]


def test_text_with_spaces_is_read_without_a_warning(tmp_path):
    assert [len(item.words) for item in read_words(written(tmp_path, "我们 在 图书馆 里 学习 中文"))] == [6]


def test_full_stops_that_are_attached_to_words_are_noticed(tmp_path):
    """``dort.`` would be one word, tagged as one."""
    with pytest.warns(CrosslensWarning, match=r"punctuation marks too, but 'dort\.' is one word"):
        read_words(written(tmp_path, "Le chat dort.", "Il pleut .", "Qui vient?"))
    with pytest.warns(CrosslensWarning, match=r"but 'dort\.' is one word"):  # not the first sentence's, which is right
        read_words(written(tmp_path, "Il pleut .", "Le chat dort.", "Qui vient?"))
    read_words(written(tmp_path, "Le chat dort.", "Il pleut .", "Qui vient ?"))  # fewer than half of the sentences


@pytest.mark.parametrize("row", ["Ci\tADP", "wàllu\tNOUN\twàllu"])
def test_words_with_their_tags_are_not_text(tmp_path, row):
    """Parts of speech would be words."""
    for reader in (read, read_words):
        with pytest.raises(DataError, match=r"raw\.txt: looks like one word and its tag per line.*from CoNLL-U"):
            reader(written(tmp_path, *[row] * 9, "", "…"))
        assert len(reader(written(tmp_path, *[row] * 8, "Le chat dort .", "Il pleut ."))) == 10


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("हिन्दी भाषा में लिखना।", ["हिन्दी", "भाषा", "में", "लिखना", "।"]),  # vowel signs
        ("ilé ẹ̀kọ́.", ["ilé", "ẹ̀kọ́", "."]),  # accents that Unicode does not compose
        ("شָׁלוֹם، كِتَابٌ", ["شָׁלוֹם", "،", "كِتَابٌ"]),  # points
        ("می\u200cخواهم بروم", ["می\u200cخواهم", "بروم"]),  # a joiner
        ("ខ្ញុំ\u200bស្រលាញ់", ["ខ្ញុំ", "ស្រលាញ់"]),  # a space without width
        ("«L'été, 3,5 x-y_z!»", ["«", "L'été", ",", "3", ",", "5", "x-y", "_", "z", "!", "»"]),
    ],
)
def test_running_text_is_split_at_spaces_and_punctuation_and_nowhere_else(text, expected):
    assert list(words(text)) == expected


def test_words_are_counted_as_they_are_cut():
    """Those of a treebank are the annotated words, whatever its running text says."""
    french = Sentence(("aller", "à", "le", "3.5", "New York"), lines=("# text = aller au 3.5 New York\n",))
    for corpus in (Corpus((french,) * 2, "treebank"), Corpus((Text(("L'été, 3,5!",)), Text(("a",))), "text")):
        assert count_words(corpus) == cut_words(corpus).words
    assert count_words(Corpus((french,) * 2, "treebank")) == 10
    assert count_words(Corpus((Text(("我们在图书馆里一起学习中文",)),), "text")) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("三月", True),
        ("ẹ̀kọ́", True),
        ("می\u200cخواهم", True),
        ("x²", False),
        ("a b", False),
        ("don't", False),
        ("", False),
    ],
)
def test_a_word_of_letters_has_their_signs_and_no_digits(text, expected):
    assert is_word(text) == expected


def test_the_label_of_a_text_is_in_the_same_line_of_the_other_file(tmp_path):
    texts, labels = written(tmp_path, "Le chat dort.", "Il pleut.", "The cat."), tmp_path / "labels.txt"
    labels.write_text("fra\nfra\neng\n", "utf-8")
    corpus = read_labelled(texts, labels)
    expected = [("Le chat dort.", "fra"), ("Il pleut.", "fra"), ("The cat.", "eng")]
    assert [(text.text, text.label) for text in corpus.texts] == expected
    labels.write_text("fra\nfra\n", "utf-8")
    with pytest.raises(DataError, match=r"labels\.txt: 2 labels, but .*raw\.txt has 3 texts"):
        read_labelled(texts, labels)


def test_a_text_that_is_cut_into_words_keeps_its_id_and_place(tmp_path):
    corpus = read_lines(written(tmp_path, "Le chat dort.", "Il pleut."), language="fr")
    cut = cut_words(corpus)
    assert [(item.id, item.where.line) for item in cut] == [("1", 1), ("2", 2)]
    assert (cut.name, cut.language) == (corpus.name, "fr")


def test_byte_order_marks_of_joined_files_are_no_characters_of_words(tmp_path):
    file = written(tmp_path, "\ufeffLe chat dort .", "\ufeffMa chatte dort .")
    for reader in (read, read_words, read_lines):
        assert [item.text for item in reader(file)] == ["Le chat dort .", "Ma chatte dort ."]


def test_lines_are_counted_with_the_empty_ones(tmp_path):
    file = written(tmp_path, "", "Le chat dort .", "  ", "Il pleut .")
    for corpus in (read(file), read_words(file)):
        assert [item.where.line for item in corpus] == [2, 4]
