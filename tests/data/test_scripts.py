import pytest

from crosslens.data.scripts import count_scripts, main_script, unsegmented_script


@pytest.mark.parametrize(
    ("words", "script"),
    [
        (["พวกเราเรียนภาษาอังกฤษด้วยกันในห้องสมุด"], "Thai"),
        (["พวก", "เรา", "เรียน", "ภาษา", "อังกฤษ", "ด้วย", "กัน"], None),
        (["わたしたちはとしょかんでいっしょに勉強しています。"], "Hira"),
        (["Donaudampfschifffahrtsgesellschaftskapitän"], None),  # one long word, in a script with spaces
        (["GDP", "我们在图书馆里一起学习中文和英文的语法"], None),  # ten letters a word or fewer
        ([], None),
        (["1,234", "!"], None),
    ],
)
def test_whole_sentences_in_a_script_without_spaces_are_noticed(words, script):
    assert unsegmented_script(words) == script


def test_letters_are_counted_each_time_and_without_their_marks():
    assert count_scripts(["हिन्दी", "aab", "ba"]) == {"Latn": 5, "Deva": 3}


@pytest.mark.parametrize("texts", [["aa", "дддд", "हि"], ["дддд", "aa"], ["हि aa дддд"]])
def test_the_script_of_most_letters_comes_first_wherever_it_stands(texts):
    assert main_script(texts) == "Cyrl"
    assert [*count_scripts(texts)][:2] == ["Cyrl", "Latn"]
