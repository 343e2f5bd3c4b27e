"""Find everything that a study needs and that is not there, before anything is read."""

from collections.abc import Callable, Iterable
from functools import partial

from crosslens.corpora.catalogue import check_corpus, places
from crosslens.corpora.collection import COLLECTIONS
from crosslens.corpora.parallel import list_languages
from crosslens.errors import DataError
from crosslens.studies.study import Data, Source, Study

Check = tuple[str, str, Callable[[], object]]
"""Name and split of a corpus, and a function that raises `DataError` if it is missing."""


def refuse_missing(study: Study, sources: Iterable[Source], data: Data, *, folder: str | None) -> None:
    """Refuse a study whose corpora are missing, naming all of them.

    Args:
        study: the study.
        sources: those that it trains on.
        data: its corpora.
        folder: data folder that is searched first.

    Raises:
        DataError: if a corpus is missing.
    """
    errors: dict[str, DataError] = {}
    for name, split, check in _needed(study, sources, data, folder):
        try:
            check()
        except DataError as error:
            errors.setdefault(name if ":" in name else f"{name}:{split}", error)
    if len(errors) == 1:
        raise next(iter(errors.values()))
    if errors:
        collections = {name.partition("/")[0] for name in errors}
        commands = [COLLECTIONS[name].get for name in sorted(collections) if name in COLLECTIONS]
        how = "set CROSSLENS_DATA to the folder that contains them (layouts: docs/reference.md, Corpora)"
        raise DataError(
            f"{study.name} needs {len(errors)} corpora that are not in {places(folder)}: {', '.join(errors)}",
            hint=", or ".join([how, *filter(None, commands)]),
        )


def _needed(study: Study, sources: Iterable[Source], data: Data, folder: str | None) -> Iterable[Check]:
    def corpus(name: str, split: str) -> Check:
        return name, split, partial(check_corpus, name, split=split, data=folder)

    for probing in study.probes:
        yield corpus(probing.train, "train")
        yield corpus(probing.test, "test")
        if probing.dev:
            yield corpus(probing.dev, "dev")
    if study.similarity and data.parallel:
        yield data.parallel, "parallel", partial(list_languages, data.parallel, data=folder)
    for source in sources:
        yield corpus(source.train, "train")
        if source.dev:
            yield corpus(source.dev, "dev")
        for tests in source.tests:
            yield corpus(tests, "test")
