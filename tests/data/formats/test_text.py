import pytest

from crosslens.data.formats.text import read_words


def test_text_without_spaces_between_words_is_read_with_a_warning(tmp_path):
    """Each line would be one word with one label."""
    file = tmp_path / "zh.txt"
    file.write_text("我们在图书馆里一起学习中文\n他们每天都去学校上课读书\n", "utf-8")
    with pytest.warns(UserWarning, match=r"zh\.txt: words must be separated by spaces, but Han text"):
        assert [item.words for item in read_words(file)] == [(line,) for line in file.read_text("utf-8").split()]


def test_text_with_spaces_is_read_without_a_warning(tmp_path):
    file = tmp_path / "zh.txt"
    file.write_text("我们 在 图书馆 里 学习 中文\n", "utf-8")
    assert [len(item.words) for item in read_words(file)] == [6]
