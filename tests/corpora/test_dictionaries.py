"""Dictionaries by name: the splits of generated ones, and where those of MUSE are read from."""

import pytest

from crosslens.corpora.dictionaries import load_dictionary
from crosslens.errors import DataError


def test_the_splits_of_a_generated_dictionary_are_the_whole_one_in_two_with_every_fifth_pair_in_the_test():
    whole, train, test = (load_dictionary(f"lab/src-adj{split}").pairs for split in ("", ":train", ":test"))
    assert test == whole[::5]
    assert train == tuple(pair for number, pair in enumerate(whole) if number % 5)
    assert sorted(train + test) == sorted(whole)


def test_a_full_dictionary_that_is_not_there_is_both_splits_of_one_folder(tmp_path, monkeypatch):
    first, second = tmp_path / "first", tmp_path / "second"
    for folder, infixes in ((first, (".0-5000",)), (second, (".0-5000", ".5000-6500"))):
        (folder / "muse").mkdir(parents=True)
        for infix in infixes:
            (folder / "muse" / f"en-fr{infix}.txt").write_text(f"{folder.name} {infix}\n", "utf-8")
    monkeypatch.setenv("CROSSLENS_DATA", str(second))
    both = (("second", ".0-5000", 1.0), ("second", ".5000-6500", 1.0))
    assert load_dictionary("muse/en-fr", data=first).pairs == both  # half a dictionary is none
    assert load_dictionary("muse/en-fr:train", data=first).pairs == (("first", ".0-5000", 1.0),)
    (first / "muse" / "en-fr.txt").write_text("whole one\n", "utf-8")
    assert load_dictionary("muse/en-fr", data=first).pairs == (("whole", "one", 1.0),)
    with pytest.raises(DataError, match="dictionary muse/fr-en not found"):
        load_dictionary("muse/fr-en", data=first)
