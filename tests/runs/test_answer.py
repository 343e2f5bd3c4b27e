"""A question has one answer, whatever else is asked with it, and a record says how its model was selected."""

from pathlib import Path

import pytest

from crosslens.encoders.condition import Condition
from crosslens.encoders.reinit import random_init
from crosslens.errors import StoreError
from crosslens.probes import find_probe
from crosslens.probes.probing import probe
from crosslens.probes.softmax import Fit
from crosslens.results.record import concatenated
from crosslens.runs.answer import Subject, answers
from crosslens.runs.corpora import Corpora
from crosslens.runs.counts import key
from crosslens.runs.finetuning import finetune_and_evaluate
from crosslens.runs.question import (
    CorpusRef,
    FittedScore,
    IntervenedScore,
    IntervenedSimilarity,
    Overlap,
    ProbeQuestion,
    Similarity,
    SwappedScore,
)
from crosslens.similarity.compare import compare
from crosslens.training.evaluate import evaluate
from crosslens.training.finetune import finetune
from crosslens.training.intervene import intervene
from toy_trainings import FAST
from toys import SENTENCES, conllu_text


@pytest.fixture(scope="module")
def corpora(treebanks, tmp_path_factory):
    """The treebanks, and their sentences labelled with their language."""
    data = tmp_path_factory.mktemp("answers")
    (data / "ud").symlink_to(treebanks / "ud")
    (data / "langid").mkdir()
    for split, part in (("train", slice(0, 4)), ("test", slice(4, 6))):
        lines = [f"{language}\t{text}\n" for language, texts in SENTENCES.items() for text in texts[part]]
        (data / "langid" / f"{split}.tsv").write_text("label\ttext\n" + "".join(lines), "utf-8")
    return Corpora(str(data))


@pytest.fixture(scope="module")
def questions(corpora):
    """Of each kind several that differ in one thing."""

    def ref(name, split="test"):
        corpus = corpora.corpus(name, split=split)
        return CorpusRef(corpus.name, corpus.digest)

    def similar(measure, sentences):
        sides = corpora.head("ud/pud", sentences)
        return Similarity("ud/pud", "en", "fr", (sides["en"].digest, sides["fr"].digest), measure, sentences)

    train, test, french = ref("langid/all", "train"), ref("langid/all"), ref("ud/fr_pud")
    probes = [({}, "scaled", 1), ({"pooling": "cls"}, "scaled", 1), ({}, "raw", 1), ({}, "scaled", 2)]
    return (
        *(similar(measure, sentences) for sentences in (None, 4, 5) for measure in ("cka", "retrieval")),
        similar("rsa", 4),
        *(ProbeQuestion("langid", settings, train, test, None, inputs, seed) for settings, inputs, seed in probes),
        Overlap(ref("ud/en_toy", "train"), french),
        Overlap(ref("ud/en_toy", "train"), ref("ud/en_pud")),
        Overlap(ref("ud/fr_pud"), french),
    )


def rows(results):
    return [{name: value for name, value in row.items() if name != "tags"} for row in results.records.to_pylist()]


def answer(subject, questions, corpora, **options):
    """All records, and the counts of each sentence."""
    groups = list(answers(subject, questions, corpora, **options))
    counts = {name: array for _, counted in groups for name, array in counted.items()}
    return concatenated(results for results, _ in groups), counts


def test_together_and_alone_every_question_has_the_same_answer(encoder, corpora, questions):
    together, _ = answer(Subject(encoder), questions, corpora)
    assert set(together.records["question"].to_pylist()) == {each.id for each in questions}
    for question in questions:
        alone, _ = answer(Subject(encoder), [question], corpora)
        assert len(alone)
        assert rows(together.filter(question=question.id)) == rows(alone), question.about


@pytest.mark.parametrize(("settings", "inputs"), [({"pooling": "cls"}, "scaled"), ({}, "raw")])
def test_a_probe_is_asked_with_the_questions_own_settings(encoder, corpora, questions, settings, inputs):
    probes = [each for each in questions if isinstance(each, ProbeQuestion)]
    question = next(each for each in probes if (each.settings, each.inputs) == (settings, inputs))
    train, test = (corpora.corpus("langid/all", split=split) for split in ("train", "test"))
    expected = probe(
        encoder, find_probe("langid", settings), train=train, test=test, how=Fit(inputs=inputs), seed=question.seed
    ).results
    found, _ = answer(Subject(encoder), [question], corpora)
    assert rows(found) == rows(expected.with_columns(question=question.id))


def test_a_probe_is_asked_with_the_questions_own_seed_and_dev_data(encoder, corpora):
    names = ("langid/all:train[:7]", "langid/all:test", "langid/all:train[7:]")
    train, test, dev = map(corpora.corpus, names)
    expected = probe(encoder, find_probe("langid", {}), train=train, test=test, dev=dev, how=Fit(), seed=3).results
    refs = [CorpusRef(corpus.name, corpus.digest) for corpus in (train, test, dev)]
    question = ProbeQuestion("langid", {}, *refs, "scaled", 3)
    found, _ = answer(Subject(encoder), [question], corpora)
    assert rows(found) == rows(expected.with_columns(question=question.id))


@pytest.mark.parametrize("changed", ["en", "fr"])
def test_either_side_of_a_parallel_corpus_must_be_as_it_was_planned(encoder, corpora, changed):
    sides = corpora.head("ud/pud", None)
    digests = ["0" * 64 if language == changed else sides[language].digest for language in ("en", "fr")]
    question = Similarity("ud/pud", "en", "fr", tuple(digests), "cka", None)
    other = Similarity("ud/pud", "en", "fr", (sides["en"].digest, sides["fr"].digest), "rsa", None)
    for asked in ([question], [other, question]):
        with pytest.raises(StoreError, match=rf"ud/pud \({changed}\) has changed"):
            answer(Subject(encoder), asked, corpora)


@pytest.mark.parametrize(
    ("dev", "settings", "selection"),
    [
        (None, {"select": "best"}, "best"),
        ("ud/fr_pud:test", {"select": "best"}, "oracle ud/fr_pud:test"),
        ("dev.conllu", {"select": "best"}, "best"),
        (None, {"select": "last"}, "last"),
        ("ud/fr_pud:test", {"select": "last", "schedule": "plateau"}, "last, oracle ud/fr_pud:test"),
    ],
)
def test_dev_data_of_another_language_are_an_oracle_and_those_of_the_source_are_none(
    tiny_bert, treebanks, dev, settings, selection, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    Path("dev.conllu").write_text(conllu_text("en"), "utf-8")  # of a language that nothing says
    results = finetune_and_evaluate(
        tiny_bert,
        "pos",
        train="ud/en_toy",
        tests=["ud/fr_pud"],
        dev=dev,
        recipe="small",
        settings={"epochs": 1, "batch": 6, **settings},
        data=str(treebanks),
        device="cpu",
    )
    assert results.records["selection"].to_pylist() == [selection]


def test_interventions_after_training_are_drawn_with_the_seed_of_the_question(encoder, toy, treebanks):
    """Not with that of the model, which two questions about it share."""
    corpora = Corpora(str(treebanks))
    model = finetune(encoder, "pos", train=toy(), recipe=FAST, seed=1)
    corpus = corpora.corpus("ud/en_pud")
    noise = Condition.read({"noise": "2.output", "noise_dose": 2.0})
    ref, settings = CorpusRef(corpus.name, corpus.digest), dict(model.task.settings)
    questions = [IntervenedScore(ref, settings, noise.text, seed) for seed in (1, 2, 3)]
    _, counts = answer(Subject(encoder, model), questions, corpora)
    found = []
    for question in questions:
        (expected,) = evaluate(intervene(model, noise, seed=question.seed), corpus).counts.values()
        found.append(counts[key(question.id, "accuracy")].tolist())
        assert found[-1] == expected.tolist()
    assert found[1] != found[0] or found[2] != found[0]


def test_changed_models_are_asked_with_the_seed_reference_and_other_encoder_of_each_question(
    encoder, tiny_bert, toy, corpora, tmp_path
):
    """Questions that differ in one of these have different answers, each the same alone and with all others."""
    model = finetune(encoder, "pos", train=toy(), recipe=FAST, seed=1)
    for name, layers in (("first", "1-2"), ("second", "3-4")):
        random_init(model.encoder, layers, seed=1).model.save_pretrained(tmp_path / name)
        encoder.tokenizer.save_pretrained(tmp_path / name)
    subject = Subject(encoder, model, str(tiny_bert), tmp_path.joinpath)
    noise, shift, swap = (
        Condition.read(keys).text
        for keys in (
            {"noise": "2.output", "noise_dose": 2.0},
            {"erase": "2.output"},
            {"swap": "1-4", "swap_from": "adapted"},
        )
    )
    english, french = (CorpusRef.of(corpora.corpus(f"ud/{language}_pud")) for language in ("en", "fr"))
    sides, settings = corpora.head("ud/pud", None), dict(model.task.settings)
    pair = ("ud/pud", "en", "fr", (sides["en"].digest, sides["fr"].digest), "cka", None)
    groups = [
        [IntervenedScore(french, settings, noise, seed) for seed in (1, 3)],
        [FittedScore(french, settings, shift, 1, reference) for reference in (english, french)],
        [SwappedScore(french, settings, swap, 1, other) for other in ("first", "second")],
        [IntervenedSimilarity(*pair, noise, seed, None) for seed in (1, 3)],
        [IntervenedSimilarity(*pair, shift, 1, reference) for reference in (english, french)],
    ]
    asked = [question for group in groups for question in group]
    together, together_counts = answer(subject, asked, corpora, note=(notes := []).append)
    assert f"evaluated {french.name} under erase 2.output" in notes
    assert "compared ud/pud under noise=2 2.output" in notes
    for group in groups:
        answered = []
        for question in group:
            alone, counts = answer(subject, [question], corpora)
            assert rows(together.filter(question=question.id)) == rows(alone), question.about
            assert all((together_counts[name] == array).all() for name, array in counts.items())
            values = alone.records["value"].to_pylist()
            answered.append((values, [array.tolist() for array in counts.values()]))
        assert answered[0] != answered[1], group[0].about


@pytest.mark.parametrize("seed", [1, 3])
def test_a_similarity_of_changed_states_is_drawn_with_the_seed_of_the_question(encoder, toy, corpora, seed):
    model = finetune(encoder, "pos", train=toy(), recipe=FAST, seed=1)
    noise, sides = Condition.read({"noise": "2.output", "noise_dose": 2.0}), corpora.head("ud/pud", None)
    digests = (sides["en"].digest, sides["fr"].digest)
    question = IntervenedSimilarity("ud/pud", "en", "fr", digests, "cka", None, noise.text, seed, None)
    answered, _ = answer(Subject(model.encoder, model), [question], corpora)
    changed = intervene(model, noise, seed=seed).encoder
    expected = compare(model.encoder, sides, pairs=["en-fr"], measures=["cka"], against=changed)
    assert answered.records["value"].to_pylist() == expected.records["value"].to_pylist()


def test_each_pair_is_compared_by_the_measures_that_are_asked_of_it(encoder, corpora, monkeypatch):
    """What was answered before is not computed again, which only the time shows."""
    compared = []

    def noting(*arguments, pairs, measures, **options):
        compared.extend((pair, measure) for pair in pairs for measure in measures)
        return compare(*arguments, pairs=pairs, measures=measures, **options)

    monkeypatch.setattr("crosslens.runs.answer.compare", noting)
    sides = corpora.head("ud/pud", None)
    wanted = [("en", "fr", "cka"), ("fr", "en", "retrieval"), ("fr", "en", "rsa")]
    asked = [
        Similarity("ud/pud", source, target, (sides[source].digest, sides[target].digest), measure, None)
        for source, target, measure in wanted
    ]
    answered, _ = answer(Subject(encoder), asked, corpora)
    assert {(record.source, record.target, record.measure) for record in answered} == {*wanted}
    assert sorted(compared) == sorted((f"{source}-{target}", measure) for source, target, measure in wanted)
