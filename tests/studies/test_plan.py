"""Each run is done once, under the first of its names, with all that a study asks of it."""

import json
import shutil

import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.errors import DataError, RequestError
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.results.record import Results, read_results
from crosslens.runs.corpora import Corpora
from crosslens.runs.question import CorpusRef, Perplexity, Score
from crosslens.runs.run import Asked, EncoderRef, EncoderRun, ModelRun, PretrainRun
from crosslens.runs.store import Store
from crosslens.studies.plan import merged, plan
from crosslens.studies.study import Data, Grid, Probing, Similarity, Source, Study
from crosslens.training.distributed import threads
from made_runs import publish
from toy_studies import results_of, run
from toys import SENTENCES, conllu_text

FRENCH, GERMAN, RUSSIAN = (Score(CorpusRef(f"ud/{name}_pud:test", name * 32), {}) for name in ("fr", "de", "ru"))


def look(name="name", seed=1):
    return EncoderRun(EncoderRef("folder", name, "c" * 64), Condition(), seed)


def test_what_is_asked_of_one_run_in_two_places_is_asked_once_and_whole():
    other = Asked(look(seed=2), (RUSSIAN,))
    one, two = merged((Asked(look(), (FRENCH, GERMAN)), other, Asked(look("alias"), (GERMAN, RUSSIAN)), Asked(look())))
    assert one.run.base.name == "name"
    assert one.questions == (FRENCH, GERMAN, RUSSIAN)
    assert two == other


def test_a_run_of_which_nothing_is_asked_is_a_run():
    assert merged((Asked(look()),)) == (Asked(look()),)
    assert merged((Asked(look()), Asked(look(), (Perplexity(),)))) == (Asked(look(), (Perplexity(),)),)
    assert merged(()) == ()


def test_a_plan_says_what_is_new_when_the_data_change(study, treebanks, tmp_path, tmp_path_factory):
    run(study, tmp_path, treebanks)
    changed = tmp_path_factory.mktemp("changed")
    for file in (treebanks / "ud").glob("*/*.conllu"):
        target = changed / file.relative_to(treebanks)
        target.parent.mkdir(parents=True, exist_ok=True)
        text = file.read_text("utf-8")
        target.write_text(
            text.replace("dog", "cow") if "fr_pud" in file.name or "train" in file.name else text, "utf-8"
        )
    planned = plan(study, Store(tmp_path), corpora=Corpora(str(changed)))
    assert len(planned.left) == 4
    assert not {one.run.id for one in planned.left} & set(Store(tmp_path).ids())


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_each_seed_has_an_untrained_encoder_and_all_share_the_pretrained_one(study, treebanks, tmp_path, precision):
    looks = {"similarity": Similarity(of=("pretrained", "untrained"), measures=("cka",)), "seeds": (2, 5)}
    changed = study.model_copy(update={**looks, "precision": precision})
    planned = plan(changed, Store(tmp_path), corpora=Corpora(str(treebanks)))
    runs = [asked.run for asked in planned.left if isinstance(asked.run, EncoderRun)]
    described = [(run.condition.find(Reinit) is not None, run.seed) for run in runs]
    assert described == [(False, 1), (True, 2), (True, 5)]
    assert len({run.id for run in runs}) == 3


def test_a_study_in_bfloat16_asks_everything_in_it(study, treebanks, tmp_path):
    def runs(**changes):
        planned = plan(study.model_copy(update=changes), Store(tmp_path), corpora=Corpora(str(treebanks)))
        return [asked.run for asked in planned.left]

    looks = {"similarity": Similarity(of=("pretrained", "untrained"), measures=("cka",))}
    exact, coarse = runs(**looks), runs(**looks, precision="bfloat16")
    assert len(exact) == len(coarse) > 4
    assert {type(run) for run in coarse} == {EncoderRun, ModelRun}
    assert not {run.id for run in exact} & {run.id for run in coarse}
    assert all(run.condition.find(InPrecision) is not None for run in coarse)
    assert [run.condition.difference for run in coarse] == [run.condition for run in exact]
    searched = runs(grid=Grid(epochs=(1, 2)), precision="bfloat16")
    assert len(searched) == 2
    assert all(run.condition.find(InPrecision) is not None for run in searched)
    for written in ({"precision": "bfloat16", "layers": "1"}, {"precision": "bfloat16", "recipe": "wu2019.pos"}):
        condition = Condition.read(written)
        assert study.model_copy(update={"precision": "bfloat16"}).computed(condition) == condition


def finish(store, asked, **facts):
    """Publish a run that did nothing but has these facts."""
    publish(store, asked, Results.of([]))
    file = store.path(asked.run.id) / "run.json"
    file.write_text(json.dumps({**json.loads(file.read_text("utf-8")), **facts}), "utf-8")


@pytest.mark.parametrize(("best", "chosen"), [(1, [2]), (2, [2, 1])])
def test_of_settings_with_the_same_dev_score_the_first_are_chosen(study, treebanks, tmp_path, best, chosen):
    grid = {"grid": Grid(epochs=(3, 2, 1), best=best), "seeds": (4,), "conditions": study.conditions[:1]}
    searched, store, corpora = study.model_copy(update=grid), Store(tmp_path), Corpora(str(treebanks))
    tried = plan(searched, store, corpora=corpora).left
    for score, asked in zip((40.0, 50.0, 50.0), tried, strict=True):
        finish(store, asked, facts={"dev_score": score})
    models = [asked for asked in plan(searched, store, corpora=corpora).runs if asked.questions]
    assert [asked.run.training.recipe.epochs for asked in models] == chosen


def test_encoders_that_a_study_pretrains_are_probed_with_their_own_seeds(treebanks, tmp_path):
    """Else the probes of all of them would share their data order and control labels."""
    for language, sentences in SENTENCES.items():
        (tmp_path / f"{language}.txt").write_text("\n".join(sentences), "utf-8")
    settings = "corpora: {en: en.txt, fr: fr.txt}\nshape: {layers: 2, width: 16, heads: 2}\n"
    (tmp_path / "settings.yaml").write_text(settings, "utf-8")
    probing = Probing(probe="upos", train="ud/en_toy", test="ud/en_pud", seed=7)
    encoder = f"pretrain:{tmp_path / 'settings.yaml'}"
    probed = Study(name="probed", encoder=encoder, data=Data(), probes=(probing,), seeds=(3, 5))
    store, corpora = Store(tmp_path / "runs"), Corpora(str(treebanks))
    pretrainings = plan(probed, store, corpora=corpora).left
    assert [type(asked.run) for asked in pretrainings] == [PretrainRun] * 2
    for number, asked in enumerate(pretrainings):
        finish(store, asked, encoder_digest=str(number) * 64)
    looks = [asked for asked in plan(probed, store, corpora=corpora).runs if isinstance(asked.run, EncoderRun)]
    assert [(asked.run.seed, question.seed) for asked in looks for question in asked.questions] == [(3, 3), (5, 5)]


def test_the_seed_of_the_probes_of_an_existing_encoder_is_the_studys(study, treebanks, tmp_path):
    probing = Probing(probe="upos", train="ud/en_toy", test="ud/en_pud", seed=7)
    asked = plan(study.model_copy(update={"probes": (probing,)}), Store(tmp_path), corpora=Corpora(str(treebanks))).runs
    looks = [each for each in asked if isinstance(each.run, EncoderRun)]
    assert [question.seed for each in looks for question in each.questions] == [7]


def test_the_annotation_of_a_corpus_is_checked_for_each_task(study, treebanks, tmp_path):
    """That of the second task, too, which the first does not need."""
    bare = tmp_path / "bare.conllu"
    rows = [line.split("\t") for line in conllu_text("fr").split("\n")]
    bare.write_text("\n".join("\t".join([*row[:6], *"____"] if len(row) == 10 else row) for row in rows), "utf-8")
    source = {"en": Source(train="ud/en_toy", tests=(str(bare),))}
    for tasks in (("pos",), ("pos", "parsing")):
        asked = study.model_copy(update={"data": Data(tasks=dict.fromkeys(tasks, source))})
        if tasks == ("pos",):
            assert plan(asked, Store(tmp_path / "runs"), corpora=Corpora(str(treebanks))).left
        else:
            with pytest.raises(DataError, match=r"bare\.conllu"):
                plan(asked, Store(tmp_path / "runs"), corpora=Corpora(str(treebanks)))


def test_files_of_a_study_keep_the_languages_that_are_given_with_them(study, treebanks, tmp_path):
    """They were reported as of an unknown language, and left out of the means."""
    shutil.copy(treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu", file := tmp_path / "mine.conllu")
    source = Source(train=f"wo={file}", tests=(f"wo={file}", "ud/en_pud"))
    small = Study(
        name="mine", encoder=study.encoder, data=Data(tasks={"pos": {"wo": source}}), seeds=(1,), recipe="small"
    )
    assert not run(small, tmp_path / "runs", treebanks).failed
    records = read_results(results_of(tmp_path / "runs", "mine"))
    assert [(record.source, record.target) for record in records] == [("wo", "wo"), ("wo", "en")]


def test_a_corrected_language_of_a_file_is_that_of_its_records(study, treebanks, tmp_path):
    """The score is the same question, so nothing is done again."""
    shutil.copy(treebanks / "ud" / "UD_FR-pud" / "fr_pud-ud-test.conllu", file := tmp_path / "de_mine-ud-test.conllu")

    def of(*tests):
        tasks = {"pos": {"en": Source(train="ud/en_toy", tests=tests)}}
        return Study(name="mine", encoder=study.encoder, data=Data(tasks=tasks), seeds=(1,), recipe="small")

    for language, means in (("wo", 1), ("en", 0)):
        report = run(of(f"{language}={file}", "ud/fr_pud"), tmp_path / "runs", treebanks)
        assert [record.target for record in read_results(results_of(tmp_path / "runs", "mine"))] == [language, "fr"]
        summary = results_of(tmp_path / "runs", "mine").with_name("summary.csv").read_text()
        assert summary.count("mean of 2 languages") == means
        assert not report.failed
    with pytest.raises(RequestError, match=r"mine-ud-test\.conllu is a test corpus in 2 languages"):
        plan(of(f"wo={file}", f"fr={file}"), Store(tmp_path / "runs"), corpora=Corpora(str(treebanks)))


def test_a_source_that_no_chosen_task_has_is_refused_and_a_task_without_a_chosen_source_is_named(
    study, treebanks, tmp_path
):
    source = study.data.tasks["pos"]["en"]
    data = Data(tasks={"pos": {"en": source, "too": source}, "parsing": {"en": source}})

    def planned(**chosen):
        changes = {"data": data, "sources": ("too",), **chosen}
        return plan(study.model_copy(update=changes), Store(tmp_path), corpora=Corpora(str(treebanks)))

    def left_out(**chosen):
        return [note for note in planned(**chosen).notes if "left out" in note]

    with pytest.raises(RequestError, match="toy: its data has no source 'too' of parsing"):
        planned(tasks=("parsing",))
    assert left_out() == ["parsing is left out, because it has none of the chosen sources"]
    assert left_out(tasks=("pos",)) == left_out(sources=("en",)) == []


def test_settings_of_a_task_are_those_of_its_trainings_and_scores(study, treebanks, tmp_path):
    changes = {"data": Data(tasks={"parsing": study.data.tasks["pos"]}), "set": {"decode": "greedy"}}
    asked = plan(study.model_copy(update=changes), Store(tmp_path), corpora=Corpora(str(treebanks))).runs
    assert len(asked) == 4
    for each in asked:
        assert each.run.training.settings["decode"] == "greedy"
        assert [question.settings["decode"] for question in each.questions] == ["greedy"] * 2


def test_a_study_that_asks_for_nothing_is_refused(study, treebanks, tmp_path):
    """As one whose data were forgotten: it was done at once, with an empty results file."""
    with pytest.raises(RequestError, match="toy has nothing to run"):
        run(study.model_copy(update={"data": Data()}), tmp_path / "runs", treebanks)
    assert not (tmp_path / "runs").exists()


def test_a_bilingual_encoder_needs_no_annotation_in_the_languages_that_it_lacks(treebanks, tmp_path):
    """Test corpora in other languages are not asked of it."""
    for language in ("en", "fr", "de"):
        (tmp_path / f"{language}.txt").write_text("the cat sees a small dog .\n", "utf-8")
    shape = "{layers: 2, width: 16, heads: 2}"
    (tmp_path / "three.yaml").write_text(f"corpora: {{en: en.txt, fr: fr.txt, de: de.txt}}\nshape: {shape}\n", "utf-8")
    source = Source(train="ud/en_toy", tests=("ud/fr_pud", f"de={tmp_path / 'de.txt'}"))  # which has no tags
    settings = {"encoder": f"pretrain:{tmp_path / 'three.yaml'}", "data": Data(tasks={"pos": {"en": source}})}
    store, corpora = Store(tmp_path / "runs"), Corpora(str(treebanks))

    def planned(partner):
        pair = Study(name="pair", **settings, bilingual=(partner,), seeds=(1,), recipe="small", overlap=True)
        for asked in plan(pair, store, corpora=corpora).left:
            finish(store, asked, encoder_digest="a" * 64)
        return plan(pair, store, corpora=corpora).left

    shared, model = planned("fr")
    assert [question.corpus.name for question in model.questions] == ["ud/fr_pud:test"]
    assert [question.test.name for question in shared.questions] == ["ud/fr_pud:test"]
    with pytest.raises(DataError, match=r"de\.txt has no UPOS tags"):
        planned("de")


def test_similarity_is_that_of_the_first_sentences_where_their_number_is_given(study, treebanks, tmp_path):
    asked = {"similarity": Similarity(of=("pretrained",), measures=("cka",), sentences=4)}
    small = study.model_copy(update={**asked, "seeds": (1,), "conditions": study.conditions[:1]})
    report = run(small, tmp_path, treebanks)
    records = read_results(results_of(tmp_path)).filter(metric="similarity")
    assert (report.failed, {record.n for record in records}) == ((), {4})


def test_similarity_needs_parallel_sentences_in_a_source_language(study, treebanks, tmp_path):
    small = study.model_copy(update={"similarity": Similarity(of=("pretrained",), measures=("cka",))})
    for parallel, reason in (
        (None, "toy: its data has no parallel corpus for similarity"),
        (f"de={tmp_path / 'a.txt'},fr={tmp_path / 'a.txt'}", r"has no sentences in the source languages \(en\)"),
    ):
        (tmp_path / "a.txt").write_text("ein Hund\n" * 4, "utf-8")
        data = study.data.model_copy(update={"parallel": parallel})
        with pytest.raises(RequestError, match=reason):
            plan(small.model_copy(update={"data": data}), Store(tmp_path / "runs"), corpora=Corpora(str(treebanks)))


def test_a_probe_of_a_study_is_the_one_that_it_describes(study, encoder, treebanks, tmp_path):
    names = {"train": "ud/en_toy:train[:4]", "dev": "ud/en_toy:train[4:]", "test": "ud/fr_pud:test"}
    probing = Probing(probe="upos", **names, inputs="raw", seed=7)
    probed = Study(name="probed", encoder=study.encoder, data=Data(), probes=(probing,), seeds=(1,))
    assert not run(probed, tmp_path, treebanks).failed
    corpora = {part: Corpora(str(treebanks)).corpus(name) for part, name in names.items()}
    with threads(1):  # as the processes of a study
        alone = probe(encoder, "upos", **corpora, how=Fit(inputs="raw"), seed=7).results
    columns = ["train", "corpus", "metric", "layer", "value"]
    found = read_results(results_of(tmp_path, "probed")).records.select(columns)
    assert found.to_pylist() == alone.records.select(columns).to_pylist()


def test_corpora_of_a_probe_are_the_parts_that_it_needs(study, treebanks, tmp_path):
    probing = Probing(probe="upos", train="ud/en_toy", dev="ud/en_toy", test="ud/fr_pud")
    probed = Study(name="probed", encoder=study.encoder, data=Data(), probes=(probing,), seeds=(1,))
    (asked,) = plan(probed, Store(tmp_path), corpora=Corpora(str(treebanks))).runs
    (question,) = asked.questions
    names = [corpus.name for corpus in (question.train, question.dev, question.test)]
    assert names == ["ud/en_toy:train", "ud/en_toy:dev", "ud/fr_pud:test"]


def test_similarity_is_that_of_a_source_language_to_the_others(study, treebanks, tmp_path):
    asked = study.model_copy(update={"similarity": Similarity(of=("pretrained",), measures=("cka",))})
    planned = plan(asked, Store(tmp_path), corpora=Corpora(str(treebanks)))
    compared = [each for asked in planned.runs for each in asked.questions if each.kind == "similarity"]
    assert [(each.source, each.target) for each in compared] == [("en", "fr")]
