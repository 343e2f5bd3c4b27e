"""What the page says of runs: where their numbers come from."""

import json
import re

from crosslens.report.page import known_runs, make_page
from crosslens.results.record import Record, Results
from crosslens.runs.store import Store
from made_runs import answers, asked, publish


def score(value, **columns):
    made = {"task": "pos", "encoder": "e", "source": "en", "target": "fr", "metric": "accuracy", "seed": 1}
    return Record(**{**made, "corpus": "ud/fr_pud:test", "value": value, **columns})


def provenance(records):
    page = make_page(Results.of(records), title="t")
    return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)</dd>", page))


def test_what_some_records_lack_is_not_named():
    """A file of one's own has no digest and no training corpus."""
    known = score(80.0, run="a", train="ud/en:train", train_digest="c" * 64, tags={"crosslens": "0.1"})
    said = provenance([known, score(70.0, target="de", corpus=None)])
    assert said == {
        "records": "2",
        "runs": "1",
        "crosslens": "0.1",
        "trained on": "ud/en:train",
        "training data (sha256)": "c" * 64,
        "corpora": "ud/fr_pud:test",
    }


def test_every_run_has_the_command_and_machine_of_its_own(tmp_path):
    store = Store(tmp_path / "store")
    for seed in (1, 2):
        publish(store, asked(seed=seed), answers())
    for place, run in enumerate(store.ids()):
        path = store.path(run) / "run.json"
        machine = {"system": f"system {place}", "threads": place + 1}
        about = {"repeat": f"command {place}", "machine": machine, "facts": {"seconds": 60.0 * place}}
        path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | about), "utf-8")
    known = known_runs([tmp_path, store.folder])
    assert {run: {name: text for name, text in of.items() if name != "log"} for run, of in known.items()} == {
        run: {"repeat": f"command {place}", "machine": f"system {place}, {threads}", "seconds": f"{60.0 * place}"}
        for place, (run, threads) in enumerate(zip(store.ids(), ("1 thread", "2 threads"), strict=True))
    }


def test_a_run_has_the_tags_that_all_of_its_records_share():
    """Not the number of words of one corpus."""
    tags = {"crosslens": "0.1", "training_torch": "2.4", "words": 900}
    page = make_page(Results.of([score(80.0, run="a", train="ud/en:train", tags=tags)]), title="t")
    embedded = re.search(r'id="records">(.*?)</script>', page, re.DOTALL)
    assert embedded
    facts = {"train": "ud/en:train", "crosslens": "0.1", "torch": "2.4"}
    assert json.loads(embedded[1])["runs"] == {"a": {"facts": facts}}
