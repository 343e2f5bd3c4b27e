"""The settings and corpora that a laboratory exports."""

import pytest

from crosslens.corpora.catalogue import find_lab, list_corpora, load_corpus
from crosslens.corpora.dictionaries import load_dictionary
from crosslens.lab.export import export, pretraining_settings
from crosslens.lab.laboratory import DEFAULT_PRESET, SIZES, Laboratory, LaboratorySettings
from crosslens.lab.language import Language
from crosslens.lab.presets import PRESETS, find_laboratory
from crosslens.mlm.pretrain_settings import Pretraining


@pytest.mark.parametrize("sentences", [1, 7, 30_000, 60_000])
def test_pretraining_has_a_step_and_twice_as_many_for_twice_the_text(sentences):
    made = Laboratory(LaboratorySettings(languages={"a": Language(), "b": Language(order="SOV")}, sentences=sentences))
    settings = Pretraining.model_validate(pretraining_settings(made))
    assert settings.steps == {1: 1, 7: 1, 30_000: 1950, 60_000: 3900}[sentences]
    assert dict(settings.corpora) == {"a": "text/a.txt", "b": "text/b.txt"}


def test_the_demo_is_the_default_preset_by_another_name():
    assert find_laboratory("demo").name("sov") == find_laboratory().name("sov") == "lab/sov"


@pytest.mark.parametrize("preset", ["good-w1", "no-anchors-w20"])
def test_another_world_is_found_under_the_name_that_it_has(preset):
    made = find_laboratory(preset)
    language, found = find_lab(made.name("sov").removeprefix("lab/"))
    assert (language, found.settings) == ("sov", made.settings)
    assert found.settings.seed == int(preset.partition("-w")[2])


@pytest.mark.parametrize("preset", sorted(PRESETS))
def test_a_corpus_is_found_under_the_name_that_it_has(preset):
    made = find_laboratory(preset)
    for language in made.languages:
        corpus = made.corpus(language, split="dev", sentences=3)
        assert corpus.name == f"{made.name(language)}:dev"
        assert load_corpus(f"{corpus.name}[:3]").items == corpus.items
        if preset == DEFAULT_PRESET:
            assert list_corpora()[made.name(language)] == [*SIZES]


@pytest.mark.parametrize("seed", [1, 5])
def test_an_encoder_is_pretrained_with_the_seed_of_its_languages(seed):
    languages = {"a": Language(), "b": Language(order="SOV")}
    made = Laboratory(LaboratorySettings(languages=languages, seed=seed))
    assert Pretraining.model_validate(pretraining_settings(made)).seed == seed


def test_dictionaries_are_written_from_the_source_language_into_each_other_one(tmp_path):
    made = Laboratory(
        LaboratorySettings(languages={name: Language() for name in "abc"}, sentences=1, world={"trees": 30})
    )
    export(made, tmp_path / "out")
    written = {file.name: load_dictionary(file) for file in (tmp_path / "out" / "dictionaries").iterdir()}
    assert sorted(written) == ["a-b.txt", "a-c.txt"]
    for target in "bc":
        pairs = [(source, word) for source, word, _ in written[f"a-{target}.txt"].pairs]
        assert pairs == made.dictionary("a", target)
        assert any(source != word for source, word in pairs)
