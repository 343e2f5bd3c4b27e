"""Text and dictionaries that the encoders of a study are pretrained on, under each factor."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.errors import DataError, RequestError
from crosslens.lab.export import pretraining_settings
from crosslens.lab.presets import find_laboratory
from crosslens.runs.corpora import Corpora
from crosslens.studies.missing import find_missing, leave_out
from crosslens.studies.pretrainings import digests_of, find_pretraining, settings_under
from crosslens.studies.study import Data, Study

PRETRAINED = """
corpora: {en: en.txt, fr: fr.txt, de: raw/xx_de}
dictionaries: {en-fr: muse/en-xx, en-de: muse/en-xx}
"""


def pretraining_study(tmp_path, **changes):
    for name in ("en", "fr"):
        (tmp_path / f"{name}.txt").write_text("x\n", "utf-8")
    (tmp_path / "settings.yaml").write_text(PRETRAINED, "utf-8")
    factors = {"other-text": {"corpora.fr": "raw/fr_other", "corpora.de": "raw/de_other"}}
    conditions = ["none", {"factor": "other-text"}, {"factor": "extra-anchors"}, {"factor": "no-anchors"}]
    settings = {"encoder": f"pretrain:{tmp_path / 'settings.yaml'}", "factors": factors, "conditions": conditions}
    return Study.model_validate({"name": "s", **settings, "bilingual": ["fr", "de"], "data": {}, **changes})


def test_text_of_pretraining_and_dictionaries_count_for_the_encoders_that_read_them(tmp_path):
    missing = {
        corpus.corpus: corpus.needed_for
        for corpus in find_missing(pretraining_study(tmp_path), (), Data(), folder=None)
    }
    assert missing["raw/xx_de"] == (
        "pretraining with de",
        "pretraining with de, extra-anchors",
        "pretraining with de, no-anchors",
    )
    assert missing["raw/fr_other"] == ("pretraining with fr, other-text",)
    assert missing["muse/en-xx"] == ("pretraining with fr, extra-anchors", "pretraining with de, extra-anchors")
    assert set(missing) == {"raw/xx_de", "raw/fr_other", "raw/de_other", "muse/en-xx"}


def test_both_sides_of_a_dictionary_count_where_its_words_are_exchanged(tmp_path):
    whole = pretraining_study(tmp_path)
    settings, base = find_pretraining(str(tmp_path / "settings.yaml"))
    settings = settings.model_copy(update={"dictionaries": {"en-fr": "words.txt"}})
    reference, _, extra, _ = (settings_under(settings, whole, condition, "fr") for condition in whole.conditions)
    texts, digests = digests_of(reference, base, Corpora()), []
    assert set(texts) == {"en", "fr"}
    for words in ("cat chat\n", "cat matou\n", "dog chat\n"):
        (tmp_path / "words.txt").write_text(words, "utf-8")
        digests.append(digests_of(extra, base, Corpora()))
        assert digests[-1].items() > texts.items()
    assert len({each["en-fr"] for each in digests}) == 3


def test_a_dictionary_is_read_from_the_data_folder_that_is_given(tmp_path, monkeypatch):
    for folder, words in (("given", "cat chat\n"), ("default", "cat matou\n")):
        (tmp_path / folder / "muse").mkdir(parents=True)
        (tmp_path / folder / "muse/en-fr.txt").write_text(words, "utf-8")
    monkeypatch.setenv("CROSSLENS_DATA", str(tmp_path / "default"))
    whole = pretraining_study(tmp_path)
    settings, base = find_pretraining(str(tmp_path / "settings.yaml"))
    digests = []
    for name in ("muse/en-fr", str(tmp_path / "given/muse/en-fr.txt")):
        named = settings.model_copy(update={"dictionaries": {"en-fr": name}})
        extra = settings_under(named, whole, whole.conditions[2], "fr")
        digests.append(digests_of(extra, base, Corpora(str(tmp_path / "given")))["en-fr"])
    assert digests[0] == digests[1]


def test_encoders_and_factors_without_text_are_left_out(tmp_path):
    whole = pretraining_study(tmp_path)
    missing = find_missing(whole, (), Data(), folder=None)
    left, _, notes = leave_out(study_with_probe(whole), (), Data(), missing)
    assert left.bilingual == ("fr",)
    assert [condition.label for condition in left.conditions] == ["reference", "no-anchors"]
    assert notes == [
        "encoders with de are left out, because text to pretrain them is missing",
        "extra-anchors is left out, because text to pretrain its encoders is missing",
        "other-text is left out, because text to pretrain its encoders is missing",
    ]


def study_with_probe(whole):
    probe = {"probe": "upos", "train": "ud/en_toy", "test": "ud/en_toy"}
    return Study.model_validate({**whole.model_dump(), "probes": [probe]})


def test_nothing_is_left_without_the_text_of_all_encoders(tmp_path):
    twice = ["none", {"factor": "no-anchors"}]  # both read the text
    for changes in ({"bilingual": ["de"]}, {"bilingual": None}, {"bilingual": ["de"], "conditions": twice}):
        whole = study_with_probe(pretraining_study(tmp_path, **{"conditions": ["none"], **changes}))
        missing = find_missing(whole, (), Data(), folder=None)
        with pytest.raises(DataError, match="nothing left to run without raw/xx_de"):
            leave_out(whole, (), Data(), missing)


def test_a_factor_replaces_text_that_the_encoder_reads(tmp_path):
    for factor in ({"corpora.ru": "en.txt"}, {"corpora.de": "en.txt"}):
        wrong = pretraining_study(tmp_path, bilingual=["fr"], factors={"other-text": factor})
        with pytest.raises(RequestError, match=r"other-text.* replaces the text of .., .*is pretrained on en and fr"):
            find_missing(wrong, (), Data(), folder=None)


def test_a_factor_changes_the_encoders_that_read_the_text(tmp_path):
    whole = pretraining_study(tmp_path)
    settings, _ = find_pretraining(str(tmp_path / "settings.yaml"))
    _, other, *_ = whole.conditions
    changed = settings_under(settings, whole, other, "fr")
    assert changed.corpora == {"en": "en.txt", "fr": "raw/fr_other"}
    assert changed == settings_under(settings, whole, Condition(), "fr").model_copy(update={"corpora": changed.corpora})
    assert settings_under(settings, whole, other, None).corpora == {
        "en": "en.txt",
        "fr": "raw/fr_other",
        "de": "raw/de_other",
    }


def test_a_bilingual_encoder_of_artificial_languages_reads_as_much_of_a_language_as_one_of_all_languages():
    settings, _ = find_pretraining("lab")
    assert settings == find_pretraining("lab:good")[0] != find_pretraining("lab:cognates")[0]
    whole = pretraining_settings(find_laboratory("good"))["steps"]  # each step reads one language
    assert settings.steps / 2 == whole / len(settings.corpora)


@pytest.mark.parametrize(("factor", "layers"), [("sep-emb-1-3", "0-3"), ("sep-1-6", "1-5"), ("sep-emb", "0")])
def test_separate_layers_are_scaled_to_the_depth_of_the_encoder(factor, layers):
    """They are written for the 8 layers of Conneau, Wu et al. (2020)."""
    settings, _ = find_pretraining("lab")
    assert settings.shape.layers == 6
    study = Study(name="s", encoder="pretrain:lab", bilingual=["adj"])
    assert settings_under(settings, study, Condition(factor=factor), "adj").separate == layers
