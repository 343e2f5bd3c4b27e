import dataclasses

import pytest

from crosslens.results.record import Record, Results, read_results
from crosslens.similarity.transfer_gap import correlations
from toy_commands import rows_of


def test_gap_against_similarity(run, tmp_path):
    gaps = {"de": 4, "fr": 5, "hi": 20, "ru": 10, "zh": 22}
    scores = [Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, n=9)]
    for target, gap in gaps.items():
        scores.append(dataclasses.replace(scores[0], target=target, value=90.0 - gap))
        scores.append(
            Record(encoder="e", source="en", target=target, measure="cka", layer=0, metric="similarity", value=1 / gap)
        )
    Results.of(scores).write(tmp_path / "results.csv")
    status, shown, said = run("correlate", "results.csv", "--csv", "table.csv")
    assert status == 0, said
    assert "pos en pretrained cka mean" in shown
    assert "−1.000" in shown
    assert "5 languages are too few to say anything" in said
    assert rows_of("table.csv")[0]["languages"] == "5"
    assert run("correlate", "results.csv", "--csv", "table.csv")[0] == 2
    assert run("correlate", "results.csv", "--csv", "table.csv", "--overwrite")[0] == 0
    others = [dataclasses.replace(record, encoder="f") for record in scores]
    Results.of([*scores, *others]).write(tmp_path / "two.csv")
    assert run("correlate", "two.csv", "--where", "encoder=e", "--where", "task=pos")[1] == shown
    status, _, said = run("correlate", "results.csv", "--control", "fertility")
    assert (status, "lack the column fertility that fertility needs" in said) == (2, True)
    status, _, said = run("correlate", "results.csv", "--measures", "cka,ckaa")
    assert (status, "have no measure 'ckaa'" in said, "did you mean 'cka'?" in said) == (2, True, True)
    assert run("correlate", "none")[0] == 2


def test_constant_scores_have_no_coefficient_and_a_reason(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, n=9)
    alike = Record(encoder="e", source="en", target="fr", measure="cka", layer=0, metric="similarity", value=0.1)
    records = [score]
    for place, target in enumerate(("de", "fr", "ru"), start=1):
        records.append(dataclasses.replace(score, target=target, value=80.0))
        records.append(dataclasses.replace(alike, target=target, value=place / 10))
    Results.of(records).write(tmp_path / "results.csv")
    status, shown, said = run("correlate", "results.csv")
    assert status == 0, said
    assert "nan" not in shown + said
    assert "pos, en, pretrained, cka: no coefficient: all transfer gaps are equal" in said


def test_the_reason_for_a_missing_coefficient_is_given_once_for_all_layers(run, tmp_path):
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0, n=9)
    records = [score]
    for place, target in enumerate(("de", "fr", "ru"), start=1):
        alike = Record(encoder="e", source="en", target=target, measure="cka", metric="similarity", value=place / 10)
        records.append(dataclasses.replace(score, target=target, value=80.0))
        records += [dataclasses.replace(alike, layer=layer) for layer in (0, 1, 2)]
    Results.of(records).write(tmp_path / "results.csv")
    status, _, said = run("correlate", "results.csv", "--layers", "each")
    assert status == 0, said
    assert said.count("pos, en, pretrained, cka: no coefficient: all transfer gaps are equal") == 1


def test_word_order_is_correlated_for_each_encoder_by_name(run, tmp_path):
    gaps = {"de": 4, "fr": 5, "hi": 20, "ru": 10, "zh": 22}
    far = Record(source="en", measure="word_order", metric="distance")
    records = [dataclasses.replace(far, target=target, value=gap / 100) for target, gap in gaps.items()]
    for encoder in ("first", "second"):
        score = Record(task="pos", encoder=encoder, source="en", target="en", metric="accuracy", value=90.0)
        records += [score, *(dataclasses.replace(score, target=target, value=90.0 - gaps[target]) for target in gaps)]
    Results.of(records).write(tmp_path / "results.csv")
    status, shown, said = run("correlate", "results.csv", "--measures", "word_order")
    assert status == 0, said
    assert "first pos en treebanks word_order –" in shown  # of no layer
    assert "second pos en treebanks word_order –" in shown
    assert shown.count("+1.000") + shown.count(" 1.000") >= 2
    assert "word_order is a distance" in shown + said
    status, by_layer, said = run("correlate", "results.csv", "--measures", "word_order", "--layers", "each")
    assert (status, by_layer) == (0, shown), said


def test_the_file_has_the_numbers_of_the_correlation(run, tmp_path):
    gaps = {"de": 4, "fr": 5, "hi": 20, "ru": 10, "zh": 22, "sv": 6}
    score = Record(task="pos", encoder="e", source="en", target="en", metric="accuracy", value=90.0)
    alike = Record(encoder="e", source="en", measure="cka", layer=0, metric="similarity")
    records = [score, *(dataclasses.replace(score, target=target, value=90.0 - gap) for target, gap in gaps.items())]
    records += [dataclasses.replace(alike, target=target, value=place / 10) for place, target in enumerate(gaps)]
    Results.of(records).write(tmp_path / "results.csv")
    assert run("correlate", "results.csv", "--csv", "table.csv")[0] == 0
    (row,), (expected,) = rows_of("table.csv"), correlations(read_results("results.csv"))
    found = expected.correlation
    assert found.low < found.value < found.high
    numbers = [float(row[name]) for name in ("spearman", "low", "high", "p")]
    assert numbers == pytest.approx([found.value, found.low, found.high, found.p])
    assert (row["layer"], row["languages"]) == ("mean", "6")
