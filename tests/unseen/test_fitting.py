"""Fitting the rule to records."""

from dataclasses import replace

import pytest

from crosslens.errors import RequestError
from crosslens.unseen.rule import Provenance


def test_a_rule_is_fitted_to_records_of_texts_as_they_are_written(encoder, treebanks):
    from crosslens.encoders.condition import Condition
    from crosslens.results.record import Record, Results
    from crosslens.unseen.fitting import fit_rule

    def score(corpus, target, value, *, seed=1, train="ud/en_toy:train", **condition):
        return Record(
            task="pos",
            encoder="e",
            metric="accuracy",
            source="en",
            target=target,
            value=value,
            seed=seed,
            corpus=corpus,
            train=train,
            **Condition(**condition).columns,
        )

    names = ("ud/fr_pud:test", "ud/fr_pud:test[:2]", "ud/fr_pud:test@latin-cyrillic[:2]")
    rows = [score(name, "fr", 50.0 + number) for number, name in enumerate(names)]
    rows += [score(names[1], "fr", 53.0, seed=2), score(names[1], "fr", 40.0, start="adapted")]
    rows += [score(names[0], "en", 99.0), score(names[0], "fr", 1.0, layers="1-2")]
    rows += [score("ud/en_pud:test", "en-Latn", 98.0)]  # the source itself, with its script
    rows += [replace(score(names[0], "nb", 97.0), source="no")]  # one language by two codes
    rule = fit_rule(Results.of(rows), encoder, data=str(treebanks), name="toy", training="one pass")
    vocabulary = str(len(encoder.tokenizer))  # `advise` says where a user's encoder has a smaller one
    assert rule.provenance == Provenance("toy", encoder.body_digest, "pos", "one pass", vocabulary=vocabulary)
    found = {row.corpus: (row.score, row.adapted) for row in rule.measured}
    assert found == {names[0]: (50.0, None), names[1]: (52.0, 40.0)}  # what is transliterated is left out
    assert len({row.features[0] for row in rule.measured}) == 2  # each was read, the whole and a part
    with pytest.raises(RequestError, match="several training corpora: ud/en_toy:train, ud/en_toy:dev"):
        fit_rule(Results.of([*rows, score(names[0], "fr", 60.0, train="ud/en_toy:dev")]), encoder, data=str(treebanks))
    with pytest.raises(RequestError, match="two records contradict one another"):
        fit_rule(Results.of([*rows, score(names[0], "fr", 60.0)]), encoder, data=str(treebanks))


@pytest.mark.parametrize("usual", ["de", "en", "sv"])
def test_the_usual_source_is_the_default_one_whatever_its_name(encoder, treebanks, usual):
    from crosslens.results.record import Record, Results
    from crosslens.unseen.fitting import fit_rule

    shared = {"task": "pos", "encoder": "e", "metric": "accuracy", "target": "fr", "seed": 1, "value": 50.0}
    rows = [
        Record(**shared, source=source, corpus="ud/fr_pud:test", train="ud/en_toy:train")
        for source in ("sv", "de", "en")
    ]
    rule = fit_rule(Results.of(rows), encoder, usual=usual, data=str(treebanks))
    assert rule.sources == (usual, *sorted({"de", "en", "sv"} - {usual}))


def test_only_zero_shot_scores_of_the_task_are_fitted(encoder, treebanks):
    from crosslens.results.record import Record, Results
    from crosslens.unseen.fitting import fit_rule

    shared = {"encoder": "e", "metric": "accuracy", "source": "en", "seed": 1, "train": "ud/en_toy:train"}
    other = Record(**shared, task="document", target="fr", corpus="sib200/fra_Latn:test", value=80.0)
    score = Record(**shared, task="pos", target="sr-Latn", corpus="ud/fr_pud:test", value=50.0)
    rule = fit_rule(Results.of([other, score]), encoder, data=str(treebanks))
    assert [(row.language, row.score) for row in rule.measured] == [("sr", 50.0)]
    own = Record(**shared, task="pos", target="en", corpus="ud/en_pud:test", value=90.0)
    with pytest.raises(RequestError, match="no zero-shot pos score of an unmodified encoder"):
        fit_rule(Results.of([own, other]), encoder, data=str(treebanks))
