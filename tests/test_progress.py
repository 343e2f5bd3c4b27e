"""One protocol of progress, whoever listens."""

import pytest

from crosslens.cli._display import Log
from crosslens.progress import SILENT, Progress, Update, callback, listening


def test_a_function_hears_updates_and_lines():
    heard = []
    progress = callback(heard.append)
    progress.report("pretraining", 3, 9, "steps", note="loss 2.0")
    progress.say("perplexity en 12.3")
    assert heard == [
        Update("pretraining", 3, 9, "steps", "loss 2.0"),
        Update("pretraining", 3, 9, "steps", "loss 2.0", line="perplexity en 12.3"),
    ]
    assert list(map(str, heard)) == ["pretraining: 3 of 9 steps, loss 2.0", "perplexity en 12.3"]


def test_whatever_listens_is_a_progress():
    assert listening(None) is SILENT
    assert listening(SILENT) is SILENT
    log = Log(print)
    assert listening(log) is log
    assert isinstance(listening(print), Progress)
    SILENT.report("nobody", 0)
    SILENT.say("hears this")


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (Update("planning"), "planning"),
        (Update("reading", 0, 4, "corpora", "fr"), "reading: 0 of 4 corpora, fr"),
        (Update("downloading", 5 << 20, 600 << 20, "bytes"), "downloading: 5 of 600 MB"),
        (Update("downloading", 5 << 20, None, "bytes"), "downloading: 5 MB"),
        (Update("pretraining", 1200, 20000, "steps"), "pretraining: 1,200 of 20,000 steps"),
    ],
)
def test_updates_are_readable(update, words):
    assert str(update) == words
