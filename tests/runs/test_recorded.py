"""Records in files, in folders and in stores, with the counts behind their scores."""

import dataclasses
import shutil

import numpy as np
import pyarrow as pa
import pytest

from crosslens.errors import DataError, RequestError
from crosslens.results.record import Results
from crosslens.runs.counts import COUNTS
from crosslens.runs.recorded import read_results, recorded, write_recorded
from made_results import SCORES

FIRST = dataclasses.replace(SCORES[0], run="r")
KEY = ("r", FIRST.condition, FIRST.corpus_digest, "accuracy")


@pytest.fixture(params=[None, "0123456789abcdef"])
def counted(request):
    """A score with its counts; as a command writes it, and as the answer to a question of a study."""
    record = dataclasses.replace(FIRST, question=request.param)
    return dataclasses.replace(Results.of([record]), counts={KEY: np.array([[1, 2], [2, 2]])})


def test_what_is_written_is_read_with_its_counts(tmp_path, counted):
    (tmp_path / "a").mkdir()
    write_recorded(counted, tmp_path / "a")
    (place,) = recorded(tmp_path)
    assert place.results.records.equals(counted.records)
    assert place.counted().counts[KEY].tolist() == [[1, 2], [2, 2]]
    assert recorded(tmp_path / "a" / "results.csv")[0].counted().counts.keys() == {KEY}
    assert len(place.filter(target="de").results) == 0


def test_results_without_counts_have_no_file_of_them(tmp_path):
    write_recorded(Results.of(SCORES), tmp_path)
    assert not (tmp_path / COUNTS).exists()
    assert recorded(tmp_path)[0].counted().counts == {}
    assert len(read_results(tmp_path, tmp_path / "results.csv")) == len(SCORES)


def test_counts_of_a_store_are_those_of_its_runs(uninterrupted):
    (place,) = recorded(uninterrupted)
    results = place.counted()
    for record in results:
        numerator, denominator = results.counts[record.run, record.condition, record.corpus_digest, record.metric]
        assert 100 * numerator.sum() / denominator.sum() == pytest.approx(record.value)
    assert len(results) == 8


def test_of_a_study_that_has_not_ended_the_finished_runs_are_read(uninterrupted, tmp_path):
    store = shutil.copytree(uninterrupted, tmp_path / "store")
    (store / "studies" / "toy" / "results.csv").unlink()
    first, *others = sorted((store / "runs").iterdir())
    shutil.rmtree(first)
    assert {record.run for record in read_results(store)} == {folder.name for folder in others}
    assert len(others) == 3


def test_a_folder_without_results_is_an_error_also_beside_others(tmp_path, uninterrupted):
    """A run that never ended must not vanish from a mean."""
    for paths in ((tmp_path,), (uninterrupted, tmp_path)):
        with pytest.raises(DataError, match=rf"no results.csv or results.parquet in {tmp_path} .*--out made"):
            read_results(*paths)
    with pytest.raises(DataError, match="no results to read"):
        read_results()
    with pytest.raises(RequestError, match=r"not from a list \(with a star for several: read_results\(\*paths\)\)"):
        read_results([uninterrupted, tmp_path])


def test_of_two_files_of_one_folder_one_is_read(tmp_path):
    """They should be the same records in two formats; where one was made later, the .csv file counts."""
    for folder, names in (("a", ("results.csv", "results.parquet")), ("b", ("results.parquet",))):
        (tmp_path / folder).mkdir()
        for records, name in zip((SCORES, SCORES[:1]), names, strict=False):
            Results.of(records).write(tmp_path / folder / name)
    assert [len(place.results) for place in recorded(tmp_path)] == [len(SCORES)] * 2


def test_folders_are_read_in_the_order_of_their_names(tmp_path):
    """Not in that of the file system, by which the same folders would have other tables elsewhere."""
    names = ["f", "b", "h", "a", "g", "d", "c", "e"]
    for name in names:
        (tmp_path / name).mkdir()
        write_recorded(Results.of([dataclasses.replace(FIRST, run=name)]), tmp_path / name)
    assert [record.run for record in read_results(tmp_path)] == sorted(names)


def test_records_are_read_with_encoded_text_if_asked(tmp_path):
    Results.of(SCORES).write(tmp_path / "results.csv")
    plain, encoded = (read_results(tmp_path, encoded=encoded).records for encoded in (False, True))
    assert pa.types.is_dictionary(encoded["corpus"].type)
    assert not pa.types.is_dictionary(plain["corpus"].type)
    assert encoded.to_pylist() == plain.to_pylist()


@pytest.mark.parametrize("encoded", [False, True])
def test_a_record_of_several_folders_is_read_once(tmp_path, encoded):
    one, both = FIRST, [*SCORES[1:3], dataclasses.replace(FIRST, seed=9)]
    for folder, records in (("a", [one, *SCORES[1:3]]), ("b", [*both, one])):
        (tmp_path / folder).mkdir()
        Results.of(records).write(tmp_path / folder / "results.parquet")
    results = read_results(tmp_path / "a", tmp_path / "b", encoded=encoded)
    assert [record.seed for record in results] == [record.seed for record in [one, *both]]
    assert len(results) == 4
