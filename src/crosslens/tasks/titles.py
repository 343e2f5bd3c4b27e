"""Names of tasks and metrics as papers write them."""

import re

TASKS = {
    "pos": "POS tagging",
    "parsing": "dependency parsing",
    "ner": "NER",
    "document": "document classification",
    "nli": "NLI",
}

METRICS = {
    "las": "LAS",
    "uas": "UAS",
    "f1": "F1",
    "cka": "CKA",
    "cka_debiased": "debiased CKA",
    "cka_rbf": "CKA (RBF)",
    "cka=muller2021-code": "CKA (muller2021-code)",
    "rsa": "RSA",
    "cca": "CCA",
    "svcca": "SVCCA",
    "pwcca": "PWCCA",
    "procrustes": "Procrustes similarity",
    "retrieval_csls": "retrieval (CSLS)",
    "mexa": "MEXA",
    "anc": "ANC",
}


def task_name(task: str | None) -> str:
    """The name of a task; that of an unknown task stays.

    >>> task_name("pos"), task_name("mine")
    ('POS tagging', 'mine')
    """
    return TASKS.get(task or "", task or "?")


def metric_name(metric: str | None) -> str:
    """The name of a metric or of a measure of similarity; that of an unknown one stays.

    >>> metric_name("las"), metric_name("accuracy")
    ('LAS', 'accuracy')
    """
    return METRICS.get(metric or "", metric or "?")


def at_the_start(name: str) -> str:
    """A name as the beginning of a sentence.

    >>> at_the_start(metric_name("cka_debiased")), at_the_start("e5")
    ('Debiased CKA', 'E5')
    """
    return name[:1].upper() + name[1:]


def as_printed(title: str) -> str:
    """A title that begins with a task and its metric, with the names that papers give them.

    >>> as_printed("parsing, las, source en"), as_printed("ner fr, e5: pretrained"), as_printed("mine, f1")
    ('Dependency parsing, LAS, source en', 'NER fr, e5: pretrained', 'mine, F1')
    """
    words = re.match(r"(\w+)(?:, (\w+))?", title)
    if words is None:
        return title
    task, metric = words.groups()
    name = at_the_start(TASKS[task]) if task in TASKS else task
    return name + (f", {metric_name(metric)}" if metric else "") + title[words.end() :]
