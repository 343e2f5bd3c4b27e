"""A run of each kind: what is left of its attempts, and that it is done once."""

import pytest

from crosslens.encoders.condition import Condition
from crosslens.progress import Update
from crosslens.runs.corpora import Corpora
from crosslens.runs.execute import LOG_EVERY, Context, _Log, execute
from crosslens.runs.run import AdaptRun, EncoderRun, ModelRun
from crosslens.runs.store import Store
from crosslens.studies.plan import plan
from crosslens.studies.study import Similarity
from toys import SENTENCES


@pytest.fixture(scope="module")
def planned(study, treebanks, tmp_path_factory):
    """A store, and a run of each kind with its questions."""
    folder = tmp_path_factory.mktemp("execute")
    (folder / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 20), "utf-8")
    source = study.data.tasks["pos"]["en"].model_copy(update={"text": str(folder / "fr.txt")})
    changes = {
        "conditions": (Condition(), Condition(start="adapted")),
        "data": study.data.model_copy(update={"tasks": {"pos": {"en": source}}}),
        "adaptation": {"epochs": 1, "length": 16},
        "similarity": Similarity(of=("pretrained",), measures=("cka",)),
        "seeds": (1,),
    }
    store = Store(folder / "runs")
    left = plan(study.model_copy(update=changes), store, corpora=Corpora(str(treebanks))).left
    return store, {type(asked.run): asked for asked in left}


@pytest.mark.parametrize("kind", [AdaptRun, EncoderRun, ModelRun])
def test_a_run_that_succeeds_leaves_no_failed_attempt_and_is_done_once(planned, treebanks, kind):
    store, runs = planned
    asked, context = runs[kind], Context(str(store.folder), str(treebanks), "cpu")
    run = asked.run.id
    store.keep_failure(asked.run, "killed\n")
    assert execute(asked, context).state == "done"
    assert not store.failed(run)
    assert not store.state(run).exists()

    def files():
        return {path.name: path.read_bytes() for path in store.path(run).rglob("*") if path.is_file()}

    finished = files()
    assert {"run.json", "records.parquet", "log.txt"} <= set(finished)
    assert execute(asked, context).state == "done"
    assert files() == finished


def test_the_log_has_a_line_after_every_so_many_steps_and_none_before_the_first():
    lines = []
    log = _Log(lines.append, lambda: False)
    log.report("preparing text and vocabulary", 0)
    for step in range(2 * LOG_EVERY + 1):
        log.report("pretraining", step, 1000, "steps", f"loss {step}")
    expected = [Update("pretraining", step, 1000, "steps", f"loss {step}") for step in (LOG_EVERY, 2 * LOG_EVERY)]
    assert lines == [str(update) for update in expected]
