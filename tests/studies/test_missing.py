"""What a study needs and lacks is said at once, before anything is read."""

import pytest

from crosslens.errors import DataError
from crosslens.runs.corpora import Corpora
from crosslens.runs.store import Store
from crosslens.studies.missing import refuse_missing
from crosslens.studies.plan import plan
from crosslens.studies.study import Source, Study

POS = {
    "en": {"train": "ud/en_toy", "tests": ["ud/fr_pud", "ud/de_pud", "ud/*_none"]},
    "de": {"train": "ud/de_gsd", "tests": ["ud/de_pud"]},
}


@pytest.fixture(autouse=True)
def only_the_toys(monkeypatch, tmp_path):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr("crosslens.corpora.catalogue.cache_folder", lambda: tmp_path / "no-cache")


def study(**changes):
    return Study.model_validate({"name": "s", "encoder": "e", "data": {"tasks": {"pos": POS}}, **changes})


def refused(treebanks, chosen, sources=("en", "de")):
    with pytest.raises(DataError) as error:
        refuse_missing(
            chosen, [Source.model_validate(POS[name]) for name in sources], chosen.data, folder=str(treebanks)
        )
    return error.value


def test_all_missing_corpora_are_named_once_with_their_split(treebanks):
    error = refused(treebanks, study())
    listed = str(error).split(": ", 1)[1].split(" (")[0]
    assert listed.split(", ") == ["ud/de_pud:test", "ud/*_none:test", "ud/de_gsd:train"]
    assert "s needs 3 corpora that are not in" in str(error)
    assert "crosslens data get ud" in error.hint


def test_one_missing_corpus_has_its_own_error(treebanks):
    probe = {"probe": "upos", "train": "ud/en_toy", "test": "ud/en_tyo"}
    error = refused(treebanks, study(probes=[probe]), sources=())
    assert "corpus 'ud/en_tyo' not found" in str(error)
    assert "ud/en_toy" in error.hint


def test_parallel_corpora_and_files_count_too(treebanks, tmp_path):
    chosen = study(similarity={}, data={"parallel": "tatoeba/xx", "tasks": {"pos": POS}})
    (tmp_path / "there.conllu").write_text("")
    source = Source(train=f"en={tmp_path / 'there.conllu'}", tests=(str(tmp_path / "gone.conllu"),))
    with pytest.raises(DataError) as error:
        refuse_missing(chosen, [source], chosen.data, folder=str(treebanks))
    assert "tatoeba/xx:parallel" in str(error.value)
    assert "gone.conllu" in str(error.value)
    assert "there.conllu" not in str(error.value)


def test_what_is_there_and_the_laboratory_are_no_offence(treebanks):
    source = Source(train="ud/en_toy", tests=("ud/*_pud", "lab/src", "ud/en_pud[:2]"))
    assert refuse_missing(study(), [source], study().data, folder=str(treebanks)) is None


def test_a_plan_checks_its_sources_alone_and_before_the_encoder(treebanks, tmp_path):
    corpora, store = Corpora(str(treebanks)), Store(tmp_path / "runs")
    with pytest.raises(DataError, match="s needs 2 corpora"):
        plan(study(sources=["en"]), store, corpora=corpora)
    with pytest.raises(DataError, match="s needs 3 corpora"):
        plan(study(encoder=str(tmp_path / "no-encoder")), store, corpora=corpora)
