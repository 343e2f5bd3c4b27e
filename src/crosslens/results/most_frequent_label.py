"""Scores that need no model: always predicting the most frequent label of the test corpus."""

from crosslens.formatting import plain
from crosslens.results.cells import disambiguated
from crosslens.results.corpus_tags import tagged_corpora
from crosslens.results.record import Results, remembered
from crosslens.tasks import TASKS

BASELINE = "always predicting the most frequent label of a corpus"
"""The baseline in notes and captions, before its score."""

TAG = "most_frequent_gold"
"""Tag of a record: how often the most frequent label of its corpus occurs (`crosslens.scores.accuracy`)."""


@remembered
def most_frequent_label(scores: Results) -> dict[tuple[str | None, str], float]:
    """Accuracy on each corpus of always predicting the label that is the most frequent one there.

    Args:
        scores: of one task and metric.

    Returns:
        Language and corpus, as tables of these scores name them -> points. Corpora are absent where the metric is not
        accuracy, or where an earlier version of crosslens measured all scores.
    """
    return {(target, corpus): 100.0 * tags[TAG] / n for (target, corpus), tags, n in tagged_corpora(scores, TAG)}


def most_frequent_label_text(*scores: Results) -> str:
    """The baseline of text classification as notes of tables write it: ``25.00``, or ``25.00 to 33.33`` over corpora.

    Args:
        scores: those that share a note, each as in `most_frequent_label`.

    Returns:
        "" for other tasks, of which the baseline says little, and where a corpus lacks it.
    """
    known: set[float] = set()
    for each in scores:
        tasks = each.columns.coded("task").values
        if any(task not in TASKS or TASKS[task].needs != ("label",) for task in tasks):
            return ""
        baselines = most_frequent_label(each)
        if baselines.keys() != {*disambiguated(each).columns.together("target", "corpus").values}:
            return ""
        known.update(baselines.values())
    ends = [plain(end, decimals=2) for end in (min(known), max(known))] if known else []
    return " to ".join(dict.fromkeys(ends))


def baseline_note(scores: Results) -> str:
    """The baseline as a note below a table of these scores; "" where `most_frequent_label_text` is."""
    score = most_frequent_label_text(scores)
    return f"{BASELINE}: {score}" if score else ""
