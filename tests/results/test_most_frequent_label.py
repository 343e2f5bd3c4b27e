"""Always predicting the most frequent label: its accuracy, and the note on it."""

import pytest
from sklearn.dummy import DummyClassifier

from crosslens.data.corpus import Corpus
from crosslens.data.sentence import Text
from crosslens.results.most_frequent_label import most_frequent_label, most_frequent_label_text
from crosslens.results.pivot import sections
from crosslens.results.record import Record, Results
from crosslens.tasks import find_task

NEWS = {
    "fr": ["sports", "travel", "sports", "health", "sports", "health"],
    "de": ["travel", "health", "sports", "travel"],
}


def scored(labels, *, language="fr", task="document", name=None, predicted=None, tags=None):
    gold, guess = (
        Corpus(
            tuple(Text((f"text {place}",), label) for place, label in enumerate(values)),
            name or f"news/{language}",
            language,
        )
        for values in (labels, predicted or labels)
    )
    (score,) = find_task("document").score(gold, guess)
    return Record(
        task=task,
        source="en",
        target=language,
        corpus=gold.name,
        corpus_digest=gold.digest,
        tags=score.notes if tags is None else tags,
        **score.columns,
    )


@pytest.mark.parametrize("labels", NEWS.values(), ids=NEWS)
def test_it_is_the_accuracy_of_a_classifier_that_does_so(labels):
    classifier = DummyClassifier(strategy="most_frequent").fit([[0]] * len(labels), labels)
    (value,) = most_frequent_label(Results.of([scored(labels, predicted=["health"] * len(labels))])).values()
    assert value == pytest.approx(100 * classifier.score([[0]] * len(labels), labels))


def test_each_corpus_has_its_own_whichever_of_its_records_counted_it():
    records = [scored(labels, language=language) for language, labels in NEWS.items()]
    earlier = [scored(NEWS["fr"], tags={"crosslens": "0.1"}), *records]
    expected = {("fr", "news/fr"): 50.0, ("de", "news/de"): 50.0}
    assert most_frequent_label(Results.of(records)) == most_frequent_label(Results.of(earlier)) == expected


def test_corpora_of_one_name_stay_apart():
    both = Results.of([scored(NEWS["fr"], name="my.tsv"), scored(["a", "b", "c", "d"], name="my.tsv")])
    baselines = most_frequent_label(both)
    assert sorted(baselines.values()) == [25.0, 50.0]
    assert all(corpus.startswith("my.tsv (") for _, corpus in baselines)


def test_the_note_names_the_lowest_and_the_highest_of_text_classification_only():
    halves, third = scored(NEWS["fr"]), scored(["a", "b", "c"], language="de")
    assert most_frequent_label_text(Results.of([halves])) == "50.00"
    assert most_frequent_label_text(Results.of([halves, third])) == "33.33 to 50.00"
    assert most_frequent_label_text(Results.of([halves, scored(NEWS["de"], language="de")])) == "50.00"
    assert most_frequent_label_text(Results.of([halves, scored(["a", "b"], language="de", tags={})])) == ""
    assert most_frequent_label_text(Results.of([scored(NEWS["fr"], task="pos")])) == ""
    assert most_frequent_label_text(Results.of([])) == most_frequent_label_text() == ""
    assert most_frequent_label_text(Results.of([halves]), Results.of([third])) == "33.33 to 50.00"
    assert most_frequent_label_text(Results.of([halves]), Results.of([scored(NEWS["fr"], task="pos")])) == ""


def test_tables_of_text_classification_have_the_note():
    records = Results.of([scored(NEWS["fr"]), scored(["a", "b", "c"], language="de")])
    (section,) = sections(records)
    assert section.note == "mean of 1 seed; always predicting the most frequent label of a corpus: 33.33 to 50.00"
    (section,) = sections(Results.of([scored(NEWS["fr"], task="pos")]))
    assert section.note == "mean of 1 seed"
