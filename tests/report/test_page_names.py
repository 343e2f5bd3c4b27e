"""Names that the page shows."""

import json
import re

from crosslens.report.page import make_page
from crosslens.results.record import Record, Results


def test_names_with_right_to_left_letters_are_listed_the_longest_first():
    """So that a name is found before one that it begins with."""
    names = ("العربية", "العربية الفصحى", "فارسی")
    results = Results.of(
        Record(task="pos", encoder=name, source="en", target="fr", metric="accuracy", corpus="ud/fr", value=1.0, seed=1)
        for name in (*names, "latin")
    )
    embedded = re.search(r'id="records">(.*?)</script>', make_page(results, title="t"), re.DOTALL)
    assert embedded
    assert json.loads(embedded[1])["rightToLeft"] == ["العربية الفصحى", "العربية", "فارسی"]
