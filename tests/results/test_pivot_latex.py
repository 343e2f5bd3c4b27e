"""Captions of LaTeX tables: what is suggested where results fill several tables."""

import pytest

from crosslens.errors import RequestError
from crosslens.results.record import Record, Results
from made_results import SCORES, similarity

PARSING = [
    Record(task="parsing", source="en", target="fr", corpus="ud/fr", metric=metric, value=70.0, encoder=encoder)
    for metric in ("las", "uas")
    for encoder in ("e", "f")
]
ALIKE = [similarity("en-fr", 0, 0.5), similarity("en-fr", 0, 0.6, "cka_shuffled")]


@pytest.mark.parametrize(
    ("records", "chosen"),
    [
        ([*SCORES, *ALIKE], {"task": "pos", "metric": "accuracy", "measure": None}),
        (PARSING, {"metric": "las", "encoder": "e"}),
        ([*PARSING, *ALIKE], {"task": "parsing", "metric": "las", "measure": None, "encoder": "e"}),
    ],
)
def test_a_caption_of_several_tables_is_refused_with_a_choice_that_is_a_single_one(records, chosen):
    results = Results.of(records)
    with pytest.raises(RequestError, match="for a single table") as refused:
        results.to_latex(caption="c")
    named = ", ".join(f"{name}={value!r}" for name, value in chosen.items())
    assert refused.value.hint == f'select one, such as results.filter({named}).to_latex(caption="…")'
    assert r"\caption{c}" in results.filter(**chosen).to_latex(caption="c")
