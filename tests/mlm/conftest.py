"""Fixtures: raw text in two languages."""

import pytest

from toys import SENTENCES


@pytest.fixture(scope="module")
def texts(tmp_path_factory):
    folder = tmp_path_factory.mktemp("raw")
    (folder / "en.txt").write_text("\n".join(SENTENCES["en"] * 12) + "\n", "utf-8")
    (folder / "fr.txt").write_text("\n".join(SENTENCES["fr"] * 4), "utf-8")
    return folder
