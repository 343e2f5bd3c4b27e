import json
import re

import pytest

from crosslens.errors import RequestError
from crosslens.report.charts.figures import drawn
from crosslens.report.charts.head_maps import head_maps
from made_records import of_heads


def test_each_head_is_a_box_in_both_maps_with_one_scale_of_colours():
    pytest.importorskip("altair")
    chart = head_maps(of_heads())
    (row,) = json.loads(chart.to_json())["vconcat"]
    maps = row["hconcat"]
    assert [each["layer"][0]["title"] for each in maps] == ["same language", "zero-shot, mean of 2 languages"]
    scales = {json.dumps(each["layer"][0]["encoding"]["color"]["scale"], sort_keys=True) for each in maps}
    assert len(scales) == 1
    assert json.loads(scales.pop())["domain"] == [-9, 9]
    texts = re.findall(r">([−-]?\d+\.\d)<", drawn(chart))
    assert sorted(text.replace("−", "-") for text in texts) == sorted(["-1.0", "0.0", "-4.0", "-9.0", "1.0", "-2.0"])


def test_layers_and_heads_stand_in_the_order_of_their_numbers():
    """Layer 10 above layer 2, as layers are above one another, and head 10 behind head 2."""
    pytest.importorskip("altair")
    effects = {(2, 2): (-1.0, -2.0), (10, 0): (-1.0, -2.0), (2, 10): (-1.0, -2.0)}
    (row,) = json.loads(head_maps(of_heads(effects)).to_json())["vconcat"]
    axes = [each["layer"][0]["encoding"] for each in row["hconcat"]]
    assert [axis["y"]["sort"] for axis in axes] == [["10", "2"]] * 2
    assert [axis["x"]["sort"] for axis in axes] == [["0", "2", "10"]] * 2


def test_what_is_rounded_to_zero_has_no_sign():
    pytest.importorskip("altair")
    small = {(1, 0): (-0.04, 0.04), (2, 0): (-0.2, 3.0)}
    texts = re.findall(r">([+−-]?\d+\.\d)<", drawn(head_maps(of_heads(small))))
    assert texts.count("0.0") >= 2
    assert not {"−0.0", "+0.0", "-0.0"} & set(texts)


def test_numbers_are_white_only_on_the_dark_colours_of_the_common_scale():
    """Heads of two tasks share the colours: what is much in one task is pale beside the other."""
    pytest.importorskip("altair")
    little = of_heads({(1, 0): (-2.0, -2.0)}).with_columns(task="ner", metric="f1")
    chart = json.loads(head_maps(of_heads({(1, 0): (-9.0, -9.0)}) + little).to_json())
    maps = [each for row in chart["vconcat"] for each in row["hconcat"]]
    assert {tuple(each["layer"][0]["encoding"]["color"]["scale"]["domain"]) for each in maps} == {(-9, 9)}
    assert len({each["layer"][1]["encoding"]["color"]["condition"]["test"] for each in maps}) == 1


def test_without_heads_there_is_no_figure():
    pytest.importorskip("altair")
    with pytest.raises(RequestError, match="no model with a single ablated head"):
        head_maps(of_heads().filter(condition="none"))
