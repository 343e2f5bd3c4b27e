"""The page has a section for what the records hold, in one order, and none for what they do not hold."""

import json
import re

from crosslens.report.page import make_page
from crosslens.report.sections.heat_table import heat_table
from crosslens.report.table import Cell, Row, Table
from crosslens.results.record import Results
from made_records import HOSTILE, PLAIN, score, similarity
from made_sections import everything, one_layer, typology

NAMES = ["interventions", "overlap", "probes", "words", "transfer-by-layer-pos", "typology"]


def names(page):
    return re.findall(r'<section id="([^"]*)" class="(?:curves|scatter|heat)"', page)


def test_sections_stand_in_one_order_and_only_where_records_fill_them():
    page = make_page(everything(), title="t", typology=typology())
    assert names(page) == NAMES
    embedded = json.loads(re.search(r'id="records">(.*?)</script>', page, re.DOTALL)[1])
    assert [section["name"] for section in embedded["sections"]] == NAMES
    assert names(make_page(Results.of(PLAIN), title="t")) == []
    assert names(make_page(Results.of(one_layer()), title="t")) == ["transfer-by-layer-pos"]


def test_every_pair_of_layers_of_two_encoders_is_a_table_that_shows_one_group_at_a_time():
    about = {"encoder": "mono", "settings": "against=f"}
    records = [similarity("cka", 0.5, layer=layer, target_layer=other, **about) for layer in (0, 1) for other in (0, 1)]
    page = make_page(Results.of(records), title="t")
    assert names(page) == ["layer-by-layer-cka"]
    (section,) = json.loads(re.search(r'id="records">(.*?)</script>', page, re.DOTALL)[1])["sections"]
    assert section["views"] == ["en–fr, pretrained"]
    assert section["corner"] == "layers"
    assert [row["language"] for row in section["panels"][0]["rows"]] == ["fr", "fr"]
    assert section["panels"][0]["rows"][0]["cells"] == [{"value": 0.5, "share": True}] * 2


def test_a_pair_of_one_language_is_not_called_a_translation():
    about = {"encoder": "mono", "settings": "against=f"}
    note = "In a pair of one language, two encoders are compared on the same sentences."
    translations = [similarity("cka", 0.5, **about)]
    assert note in make_page(Results.of([*translations, similarity("cka", 0.6, target="en", **about)]), title="t")
    assert note not in make_page(Results.of(translations), title="t")


def test_a_table_keeps_its_caption_notes_levels_and_languages():
    page = make_page(Results.of(PLAIN), title="t", typology=typology())
    assert '<p class="note">Scores by language.</p>' in page
    assert '<ol class="note"><li>Muller 2022: 10K sentences of raw text</li></ol>' in page
    (section,) = json.loads(re.search(r'id="records">(.*?)</script>', page, re.DOTALL)[1])["sections"]
    assert [panel["title"] for panel in section["panels"]] == ["POS tagging: easy", "POS tagging: hard"]
    assert (section["corner"], section["views"]) == ("language", [])  # all groups at once
    (row,) = section["panels"][1]["rows"]
    assert row["language"] == "hi"
    assert [cell.get("value") for cell in row["cells"]] == [60.0, None, -7.0]
    assert [cell.get("level") for cell in row["cells"]] == [None, None, "five"]


def test_a_number_that_is_zero_is_shown():
    row = Row("French", (Cell(0.0, "score"), Cell(0.001, "difference"), Cell(None, "difference")), language="fr")
    table = Table("typology", "Scores.", ("encoder", "Δ 1", "Δ 2"), {"pos: easy": (row,)})
    (panel,) = heat_table(table, "t").panels
    cells = panel["rows"][0]["cells"]
    assert [cell.get("value") for cell in cells] == [0.0, 0.0, None]
    assert [cell.get("level") for cell in cells] == [None, "above", None]


def test_the_page_without_records_stays_small():
    page = make_page(everything(), title="t", typology=typology())
    records = re.search(r'id="records">(.*?)</script>', page, re.DOTALL)[1]
    assert len(page.encode()) - len(records.encode()) < 300 * 1024


def test_no_name_is_markup():
    conditions = ("none", {"freeze": "1"})
    records = [
        score(target, 80.0, condition=each, encoder=HOSTILE) for target in ("en", HOSTILE) for each in conditions
    ]
    assert "<img" not in make_page(Results.of(records), title="t")
