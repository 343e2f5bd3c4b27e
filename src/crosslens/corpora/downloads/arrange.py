"""Arrange downloaded files in the layout that crosslens reads (docs/reference.md, Corpora).

An arrangement is a function of the folder with the downloaded and unpacked files, the new folder of the collection,
and the languages to keep (None: all).
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import langcodes

from crosslens.corpora.downloads.unpack import unpack
from crosslens.errors import DownloadError, RequestError, suggest

Arrangement = Callable[[Path, Path, Sequence[str] | None], None]


def choose(languages: Sequence[str] | None, codes: Iterable[str]) -> list[str]:
    """Choose the codes of languages: the code itself, else all codes of the language, else of its macrolanguage.

    >>> choose(["fr", "ar"], ["fra", "ara", "arz", "deu"])
    ['ara', 'fra']
    >>> choose(["en"], ["en_ewt", "en_pud", "fr_pud"])
    ['en_ewt', 'en_pud']

    Raises:
        RequestError: for a language without a code.
    """
    codes = sorted(set(codes))
    if languages is None:
        return codes
    chosen: set[str] = set()
    for language in languages:
        matches = [code for code in codes if code == language]
        for tag in (_tag, partial(_tag, macro=True)):
            matches = matches or [code for code in codes if tag(code) == tag(language)]
        if not matches:
            raise RequestError(f"there is no data in language {language!r}", hint=suggest(language, codes))
        chosen.update(matches)
    return sorted(chosen)


def _tag(code: str, *, macro: bool = False) -> str:
    """Tag of the language at the beginning of a code: ``en`` of ``eng_Latn`` and ``en_ewt``."""
    try:
        return langcodes.standardize_tag(code.partition("_")[0], macro=macro)
    except ValueError:  # codes of Wikipedias, such as be-x-old
        return code


def place(pattern: str, path: str) -> Arrangement:
    """Move every file whose path matches a pattern.

    Args:
        pattern: regular expression for the whole path below the downloaded files; its group ``language``, if any,
            selects languages.
        path: new path, with the groups of the pattern, such as ``\\1/\\2``.
    """

    def arrange(downloaded: Path, folder: Path, languages: Sequence[str] | None) -> None:
        files = [(file, re.fullmatch(pattern, file.relative_to(downloaded).as_posix())) for file in _files(downloaded)]
        matches = [(file, match) for file, match in files if match]
        if not matches:
            raise DownloadError(
                "the download has none of the expected files", hint="check that --url is a copy of the published files"
            )
        if "language" in re.compile(pattern).groupindex:
            chosen = choose(languages, (match["language"] for _, match in matches))
            matches = [(file, match) for file, match in matches if match["language"] in chosen]
        for file, match in matches:
            target = folder / match.expand(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            file.rename(target)

    return arrange


def treebanks(downloaded: Path, folder: Path, languages: Sequence[str] | None) -> None:
    """Universal Dependencies: one folder of treebanks."""
    children = [child for child in downloaded.iterdir() if child.is_dir()]
    if len(children) != 1:
        raise DownloadError(f"the archive contains {len(children)} folders, expected one")
    if not any(children[0].glob("UD_*/*.conllu")):
        raise DownloadError(
            f"the archive contains no treebank, such as {children[0].name}/UD_English-EWT",
            hint="check the address that --url names",
        )
    for child in [*children[0].iterdir()]:
        child.rename(folder / child.name)


def archives_by_language(downloaded: Path, folder: Path, languages: Sequence[str] | None) -> None:
    """WikiANN: an archive of one archive per language, with the files ``train``, ``dev`` and ``test``."""
    archives = {file.name.removesuffix(".tar.gz"): file for file in _files(downloaded) if file.name.endswith(".tar.gz")}
    for language in choose(languages, archives):
        unpack(archives[language], folder / language, members=r"(?:\./)?(?:train|dev|test)")


def xnli(downloaded: Path, folder: Path, languages: Sequence[str] | None) -> None:
    """XNLI in the layout of XTREME: ``dev-fr.tsv`` with premise, hypothesis and label.

    dev and test are XNLI's translations by people; train is MultiNLI, translated by machine except for English. Rows
    of train that lack a premise or a hypothesis are left out.
    """
    codes = {row[0] for row in _rows(downloaded / "XNLI-1.0" / "xnli.dev.tsv", ("language",))}
    chosen = choose(languages, codes)
    for split in ("dev", "test"):
        with ExitStack() as stack:
            streams = {
                code: stack.enter_context(open(folder / f"{split}-{code}.tsv", "w", encoding="utf-8", newline=""))
                for code in chosen
            }
            columns = ("language", "sentence1", "sentence2", "gold_label")
            for code, *pair in _rows(downloaded / "XNLI-1.0" / f"xnli.{split}.tsv", columns):
                if code in streams:
                    streams[code].write("\t".join(pair) + "\n")
    for code in chosen:
        source = downloaded / "XNLI-MT-1.0" / "multinli" / f"multinli.train.{code}.tsv"
        with open(folder / f"train-{code}.tsv", "w", encoding="utf-8", newline="") as stream:
            for premise, hypothesis, label in _rows(source, ("premise", "hypo", "label")):
                if premise and hypothesis:
                    # The translations name this label differently from XNLI.
                    label = "contradiction" if label == "contradictory" else label
                    stream.write(f"{premise}\t{hypothesis}\t{label}\n")


def _rows(path: Path, columns: Sequence[str]) -> Iterator[list[str]]:
    """Columns of a tab-separated file with a header, without quoting."""
    try:
        with open(path, encoding="utf-8", newline="\n") as stream:
            header = next(stream, "").rstrip("\r\n").split("\t")
            places = [header.index(column) for column in columns]
            for line in stream:
                fields = line.rstrip("\r\n").split("\t")
                yield [fields[place].strip() if place < len(fields) else "" for place in places]
    except FileNotFoundError:
        raise DownloadError(f"the download has no file {path.name}") from None
    except ValueError:  # a header without one of the columns, or a file that is not UTF-8
        raise DownloadError(f"{path.name} is not in the published format") from None


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
