"""What a study needs and lacks is said at once, before anything is read, or left out."""

import re
import shutil

import pytest

from crosslens.corpora.collection import ANY_RELEASE
from crosslens.errors import DataError
from crosslens.runs.corpora import Corpora
from crosslens.runs.store import Store
from crosslens.studies.missing import MissingCorpora, find_missing, leave_out
from crosslens.studies.plan import plan
from crosslens.studies.study import Source, Study
from toy_studies import results_of, run

POS = {
    "en": {"train": "ud/en_toy", "tests": ["ud/fr_pud", "ud/de_pud", "ud/*_none"]},
    "de": {"train": "ud/de_gsd", "tests": ["ud/de_pud"]},
}


@pytest.fixture(autouse=True)
def only_the_toys(monkeypatch, tmp_path):
    monkeypatch.delenv("CROSSLENS_DATA", raising=False)
    monkeypatch.setattr("crosslens.corpora.catalogue.cache_folder", lambda: tmp_path / "no-cache")


def study(**changes):
    settings = {"name": "s", "encoder": "e", "set": {"select": "last"}, "data": {"tasks": {"pos": POS}}, **changes}
    return Study.model_validate(settings)


def sources_of(chosen, names=("en", "de")):
    return [
        (task, name, source)
        for task, sources in chosen.data.tasks.items()
        for name, source in sources.items()
        if name in names
    ]


def missing_of(treebanks, chosen, sources=None):
    sources = sources_of(chosen) if sources is None else sources
    return find_missing(chosen, sources, chosen.data, folder=str(treebanks))


def refused(treebanks, chosen, sources=None):
    return MissingCorpora(chosen.name, missing_of(treebanks, chosen, sources), folder=str(treebanks))


def test_all_missing_corpora_are_named_once_with_their_split(treebanks):
    error = refused(treebanks, study())
    listed = str(error).split(": ", 1)[1].split(" (")[0]
    assert listed.split(", ") == ["ud/de_pud:test", "ud/*_none:test", "ud/de_gsd:train"]
    assert "s needs 3 corpora that are not in" in str(error)
    assert "crosslens data get ud" in error.hint


def test_the_hint_names_the_releases_of_the_data_of_the_study(treebanks):
    def hints(release, names):
        chosen = study(data={"release": release, "tasks": {"pos": POS, "parsing": POS}})
        sources = [source for source in sources_of(chosen) if source[0] in names]
        whole, one = refused(treebanks, chosen, sources), missing_of(treebanks, chosen, sources)[-1:]
        for error in (whole, MissingCorpora("s", one, folder=None)):
            yield re.findall(r"--release ([\d.]+)", error.hint)

    assert list(hints("2.3", ["pos"])) == [["2.3"]] * 2
    assert list(hints({"pos": "1.4", "parsing": "2.2"}, ["pos"])) == [["1.4"]] * 2
    assert list(hints({"pos": "1.4", "parsing": "2.2"}, ["pos", "parsing"])) == [["1.4", "2.2"]] * 2
    assert list(hints(None, ["pos"])) == [[ANY_RELEASE]] * 2


def test_slices_and_scripts_of_a_missing_corpus_are_one_corpus(treebanks):
    source = Source(train="ud/en_toy", tests=("ud/xx_a[:2]", "ud/xx_a@uroman", "ud/xx_a:test[3~:4]", "ud/xx_a:dev"))
    missing = missing_of(treebanks, study(), [("pos", "en", source)])
    assert [corpus.corpus for corpus in missing] == ["ud/xx_a:test", "ud/xx_a:dev"]


def test_one_missing_corpus_has_its_own_error(treebanks):
    probe = {"probe": "upos", "train": "ud/en_toy", "test": "ud/en_tyo"}
    error = refused(treebanks, study(probes=[probe]), sources=())
    assert "corpus 'ud/en_tyo' not found" in str(error)
    assert "ud/en_toy" in error.hint


def test_of_joined_corpora_the_missing_part_is_named_and_what_joins_it_is_left_out(treebanks):
    probes = [{"probe": "upos", "train": f"ud/en_toy+{other}", "test": "ud/en_pud"} for other in ("ud/fr_pud", "ud/xx")]
    tests = ["ud/en_pud", "ud/fr_pud+ud/xx[:9]"]
    chosen = study(probes=probes, data={"tasks": {"pos": {"en": {"train": "ud/en_toy", "tests": tests}}}})
    missing = missing_of(treebanks, chosen)
    assert [(each.corpus, each.needed_for) for each in missing] == [
        ("ud/fr_pud:train", ("probe upos",)),
        ("ud/xx:train", ("probe upos",)),
        ("ud/xx:test", ("target ud/xx of pos",)),
    ]
    left, data, _ = leave_out(chosen, sources_of(chosen), chosen.data, missing)
    assert not left.probes
    assert data.tasks["pos"]["en"].tests == ("ud/en_pud",)


def test_parallel_corpora_raw_text_and_files_count_too(treebanks, tmp_path):
    chosen = study(
        similarity={}, conditions=["none", {"start": "adapted"}], data={"parallel": "tatoeba/xx", "tasks": {"pos": POS}}
    )
    (tmp_path / "there.conllu").write_text("")
    source = Source(train=f"en={tmp_path / 'there.conllu'}", tests=(str(tmp_path / "gone.conllu"),), text="raw/xx")
    missing = {corpus.corpus: corpus for corpus in missing_of(treebanks, chosen, [("pos", "en", source)])}
    assert set(missing) == {"tatoeba/xx:parallel", f"{tmp_path / 'gone.conllu'}:test", "raw/xx"}
    assert missing["raw/xx"].needed_for == ("adapted from source en of pos",)
    without = study(data=chosen.data)
    (needed,) = missing_of(treebanks, without, [("pos", "en", source)])  # nothing is compared or adapted
    assert needed.corpus == f"{tmp_path / 'gone.conllu'}:test"


def test_every_corpus_is_looked_up_in_the_folder_that_is_given(treebanks, tmp_path):
    folder = tmp_path / "given"
    for name in ("raw/en.txt", "raw/fr.txt", "muse/en-fr.txt"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("cat chat\n", "utf-8")
    (folder / "ud").symlink_to(treebanks / "ud")
    settings = "corpora: {en: raw/en, fr: raw/fr}\ndictionaries: {en-fr: muse/en-fr}\n"
    (tmp_path / "settings.yaml").write_text(settings, "utf-8")
    source = {"train": "ud/en_toy", "tests": ["ud/fr_pud"], "text": "raw/en"}
    chosen = study(
        encoder=f"pretrain:{tmp_path / 'settings.yaml'}",
        data={"parallel": "ud/pud", "tasks": {"pos": {"en": source}}},
        similarity={},
        conditions=["none", {"factor": "extra-anchors"}, {"start": "adapted"}],
    )
    assert missing_of(folder, chosen, [("pos", "en", chosen.data.tasks["pos"]["en"])]) == ()
    elsewhere = {each.corpus for each in missing_of(tmp_path, chosen)}
    assert elsewhere == {"ud/en_toy:train", "ud/fr_pud:test", "ud/pud:parallel", "raw/en", "raw/fr", "muse/en-fr"}


def test_missing_parts_of_dev_data_are_named_in_their_order(treebanks):
    parts = [f"ud/xx_{letter}:dev" for letter in "gbdafce"]
    source = Source(train="ud/en_toy", dev="+".join(parts), tests=("ud/fr_pud",))
    missing = missing_of(treebanks, study(select="best"), [("pos", "en", source)])
    assert [each.corpus for each in missing] == parts


def test_dev_data_count_where_weights_are_selected_on_them(treebanks):
    def missing(**changes):
        chosen = study(**changes)
        return {corpus.corpus for corpus in missing_of(treebanks, chosen, sources_of(chosen, ["de"]))}

    assert "ud/de_gsd:dev" not in missing()
    assert "ud/de_gsd:dev" in missing(set={"select": "best"})
    assert "ud/de_gsd:dev" in missing(select="best")
    assert "ud/de_gsd:dev" in missing(grid={"batch": [2, 4]})
    assert "ud/de_gsd:dev" in missing(set={"select": "last", "schedule": "plateau"})
    assert "ud/xx_b:dev" in missing(select=["last", {"oracle": "ud/xx_b"}])
    own = ["none", {"layers": "1", "recipe": "muller2021"}]  # this recipe selects on them, the data's does not
    assert "ud/de_gsd:dev" in missing(set={}, conditions=own, data={"recipe": "small", "tasks": {"pos": POS}})


def test_what_is_there_and_the_laboratory_are_no_offence(treebanks):
    source = Source(train="ud/en_toy", tests=("ud/*_pud", "lab/src", "ud/en_pud[:2]"))
    assert missing_of(treebanks, study(), [("pos", "en", source)]) == ()


def reduced(treebanks, chosen):
    sources = sources_of(chosen, {name for each in chosen.data.tasks.values() for name in each})
    return leave_out(chosen, sources, chosen.data, missing_of(treebanks, chosen, sources))


def test_only_what_needs_a_missing_corpus_is_left_out(treebanks):
    probes = [{"probe": "upos", "train": "ud/en_toy", "test": test} for test in ("ud/en_pud", "ud/en_none")]
    tasks = {"pos": POS, "parsing": {"fr": {"train": "ud/en_toy", "tests": ["ud/xx_a", "ud/xx_b"]}}}
    chosen = study(
        data={"parallel": "ud/none", "tasks": tasks}, similarity={}, probes=probes, select=["last", {"oracle": "ud/xx"}]
    )
    left, data, notes = reduced(treebanks, chosen)
    assert {task: dict(sources) for task, sources in data.tasks.items()} == {
        "pos": {"en": Source(train="ud/en_toy", tests=("ud/fr_pud",))}
    }
    assert left.similarity is None
    assert [probing.test for probing in left.probes] == ["ud/en_pud"]
    assert [rule.label for rule in left.select] == ["last"]
    assert notes == [
        "parsing: source fr is left out, because all of its test corpora are missing",
        "parsing is left out, because it has no source left",
    ]
    changes = {name: getattr(left, name) for name in ("similarity", "probes", "select")}
    assert left == chosen.model_copy(update=changes)


def test_a_source_without_the_dev_data_that_select_its_weights_is_left_out(treebanks):
    alike = {"train": "ud/en_toy", "tests": ["ud/fr_pud"]}
    data = {"tasks": {"pos": {"en": alike, "lacking": {**alike, "dev": "ud/xx_a"}}}}

    def left(select):
        return list(reduced(treebanks, study(set={"select": select}, data=data))[1].tasks["pos"])

    assert left("last") == ["en", "lacking"]
    assert left("best") == ["en"]


def test_without_raw_text_a_source_keeps_its_other_conditions(treebanks):
    source = {"train": "ud/en_toy", "tests": ["ud/fr_pud"], "text": "raw/xx"}
    conditions = ["none", {"start": "adapted"}]
    _, data, _ = reduced(treebanks, study(conditions=conditions, data={"tasks": {"pos": {"en": source}}}))
    assert set(data.tasks["pos"]) == {"en"}
    with pytest.raises(DataError, match="nothing left"):
        reduced(treebanks, study(conditions=conditions[1:], data={"tasks": {"pos": {"en": source}}}))


def test_similarity_is_left_out_with_the_last_source_if_there_is_any(treebanks):
    probe = {"probe": "upos", "train": "ud/en_toy", "test": "ud/en_pud"}  # which is left
    for parallel, similarity, said in (("ud/pud", {}, True), ("ud/pud", None, False), ("ud/none", {}, False)):
        data = {"parallel": parallel, "tasks": {"pos": {"de": POS["de"]}}}
        left, _, notes = reduced(treebanks, study(data=data, similarity=similarity, probes=[probe]))
        assert left.similarity is None
        assert any(note.startswith("similarity is left out") for note in notes) == said


def test_similarity_of_a_study_without_sources_is_not_taken_for_one_whose_sources_are_missing(treebanks):
    """It is kept, so that the plan refuses it, as it does where nothing is missing."""
    probes = [{"probe": "upos", "train": "ud/en_toy", "test": test} for test in ("ud/en_pud", "ud/en_none")]
    left, _, notes = reduced(treebanks, study(data={"parallel": "ud/pud"}, similarity={}, probes=probes))
    assert len(left.probes) == 1
    assert (left.similarity is None, notes) == (False, [])


def test_a_study_with_nothing_left_is_refused(treebanks):
    with pytest.raises(DataError, match="s has nothing left to run without its 2 missing corpora"):
        reduced(treebanks, study(data={"tasks": {"pos": {"de": POS["de"]}}}))
    alone = study(data={"parallel": "ud/pud", "tasks": {"pos": {"de": POS["de"]}}}, similarity={})
    with pytest.raises(DataError, match="nothing left"):  # similarity is measured for the languages of sources
        reduced(treebanks, alone)


def test_a_plan_checks_its_sources_alone_and_before_the_encoder(treebanks, tmp_path):
    corpora, store = Corpora(str(treebanks)), Store(tmp_path / "runs")
    with pytest.raises(DataError, match=re.escape(f"s needs 2 corpora that are not in {treebanks} (")):
        plan(study(sources=["en"]), store, corpora=corpora)
    with pytest.raises(DataError, match="s needs 3 corpora"):
        plan(study(encoder=str(tmp_path / "no-encoder")), store, corpora=corpora)


@pytest.fixture
def complete(treebanks, tmp_path):
    """The data folder with a German treebank."""
    folder = shutil.copytree(treebanks, tmp_path / "complete")
    shutil.copytree(folder / "ud" / "UD_FR-pud", folder / "ud" / "UD_DE-pud")
    (german,) = (folder / "ud" / "UD_DE-pud").iterdir()
    german.rename(german.with_name("de_pud-ud-test.conllu"))
    return folder


def with_german(toy):
    source = Source(train="ud/en_toy", tests=("ud/en_pud", "ud/de_pud"))
    gone = Source(train="ud/de_pud:test", tests=("ud/en_pud",))
    data = toy.data.model_copy(update={"tasks": {"pos": {"en": source, "de": gone}}})
    return toy.model_copy(update={"data": data, "seeds": (1,), "conditions": toy.conditions[:1]})


def test_a_later_run_with_the_corpora_takes_over_the_finished_runs(request, treebanks, complete, tmp_path):
    chosen = with_german(request.getfixturevalue("study"))
    first = run(chosen, tmp_path / "runs", treebanks, skip_missing=True)
    (done,) = first.plan.runs
    assert [(missing.corpus, missing.needed_for) for missing in first.plan.missing] == [
        ("ud/de_pud:test", ("target ud/de_pud of pos", "source de of pos")),
    ]
    store = Store(tmp_path / "runs")
    assert store.planned("toy")["missing"] == [
        {"corpus": "ud/de_pud:test", "needed_for": ["target ud/de_pud of pos", "source de of pos"]}
    ]
    assert "ud/de_pud:test" not in store.collect("toy").records["corpus"].to_pylist()
    whole = run(chosen, tmp_path / "whole", complete)
    assert done.run.id in {asked.run.id for asked in whole.plan.runs}
    again = run(chosen, tmp_path / "runs", complete, skip_missing=True)
    assert again.plan.missing == ()
    assert store.planned("toy")["missing"] == []
    assert results_of(tmp_path / "runs").read_bytes() == results_of(tmp_path / "whole").read_bytes()
    assert (tmp_path / "runs/studies/toy/study.yaml").read_text() == (
        tmp_path / "whole/studies/toy/study.yaml"
    ).read_text()
