"""Each run is done once, under the first of its names, with all that a study asks of it."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.interventions.precision import InPrecision
from crosslens.encoders.interventions.reinit import Reinit
from crosslens.runs.corpora import Corpora
from crosslens.runs.question import CorpusRef, Perplexity, Score
from crosslens.runs.run import Asked, EncoderRef, EncoderRun, ModelRun
from crosslens.runs.store import Store
from crosslens.studies.plan import merged, plan
from crosslens.studies.study import Similarity
from toy_studies import run

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
    written = Condition(precision="bfloat16", layers="1")
    assert study.model_copy(update={"precision": "bfloat16"}).computed(written) == written
