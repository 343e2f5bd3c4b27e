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
    texts = re.findall(r">([+−-]\d+\.\d)<", drawn(chart))
    assert sorted(text.replace("−", "-") for text in texts) == sorted(["-1.0", "+0.0", "-4.0", "-9.0", "+1.0", "-2.0"])


def test_without_heads_there_is_no_figure():
    pytest.importorskip("altair")
    with pytest.raises(RequestError, match="no model with a single ablated head"):
        head_maps(of_heads().filter(condition="none"))
