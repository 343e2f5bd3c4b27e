"""Download a collection into a data folder: fetch its files, check them, unpack them, and arrange them to be read."""

import re
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from crosslens.checksums import read_checksums
from crosslens.corpora.downloads.fetch import CORRUPTED, fetch, unwritable
from crosslens.corpora.downloads.published import BY_HAND, PUBLISHED, RELEASES, Published, universal_dependencies
from crosslens.corpora.downloads.unpack import ENDINGS, unpack
from crosslens.digests import digest, digest_file
from crosslens.errors import DownloadError, RequestError, suggest
from crosslens.files import locked, new_folder, refuse_existing, temporary_folder, write_text
from crosslens.progress import Listener, listening

UD = "ud"


def find_published(name: str, *, release: str | None = None, url: str | None = None) -> Published:
    """Find a collection that can be downloaded.

    Args:
        url: address of a mirror, which may have other releases.

    Raises:
        RequestError: if the collection or release is unknown, the collection has no public archive, or the address is
            not one of the web.
    """
    if url is not None and urlsplit(url).scheme not in ("http", "https"):
        raise RequestError(f"unsupported address {url!r}", hint="give one that begins with https:// or http://")
    if name == UD:
        if release is None:
            raise RequestError("which release of Universal Dependencies?", hint="give --release, for example 2.14")
        if not re.fullmatch(r"\d+(\.\d+)*", release):
            raise RequestError(f"unknown UD release {release!r}", hint="give a number such as 2.14")
        if url is None and release not in RELEASES:
            hint = f"{suggest(release, RELEASES)}, or give --url"
            raise RequestError(f"unknown UD release {release!r}", hint=hint)
        return universal_dependencies(release)
    if name in BY_HAND:
        raise RequestError(f"{name} cannot be downloaded automatically", hint=BY_HAND[name])
    if name not in PUBLISHED:
        raise RequestError(f"there is no data called {name!r} to get", hint=suggest(name, [UD, *PUBLISHED, *BY_HAND]))
    if release is not None:
        raise RequestError(f"{name} has no releases", hint="leave out --release, which is for ud")
    return PUBLISHED[name]


def get(
    name: str,
    folder: str | Path,
    *,
    release: str | None = None,
    languages: Sequence[str] | None = None,
    url: str | None = None,
    sha256: str | None = None,
    progress: Listener = None,
) -> Path:
    """Download a collection and arrange it in a data folder.

    Files must match their published checksums. Where there is none, and for mirrors, the first download writes the
    checksums to ``*.sha256`` in the data folder, and later downloads must match them. An interrupted download resumes.

    Args:
        name: ``ud`` or a name of `PUBLISHED`.
        folder: data folder; `crosslens.corpora.catalogue.cache_folder` is always searched for corpora.
        release: release number of Universal Dependencies, such as ``2.14``.
        languages: languages to keep, added to those already there; None: all, which needs a new folder.
        url: address of the archive at a mirror, or of the folder with the files if there are several.
        sha256: expected checksum of the archive.
        progress: listener for the number of bytes received.

    Returns:
        The folder of the collection.

    Raises:
        RequestError: if the collection, release or a language is unknown, the collection already exists, or
            ``sha256`` is not a checksum.
        DownloadError: if the network is switched off or fails, the disk is full, or a file is not the published one.
    """
    published = find_published(name, release=release, url=url)
    if languages is not None and not published.by_language:
        raise RequestError(f"{name} has no choice of languages", hint="leave out --languages")
    files, several = published.files(languages), len(published.files(None)) > 1
    if sha256 is not None:
        if several:
            raise RequestError(f"{name} has several files, so one checksum is ambiguous", hint="leave out --sha256")
        if not re.fullmatch(r"[0-9a-fA-F]{64}", sha256):  # an empty one would check nothing
            raise RequestError(f"{sha256!r} is not a SHA-256 checksum", hint="give its 64 hexadecimal digits")
        sha256 = sha256.lower()
    target = Path(folder) / (f"ud-treebanks-v{release}" if name == UD else name)
    if languages is None:
        refuse_existing(target, what=f"UD {release}" if name == UD else name)
    note = target.with_name(f"{target.name}.tgz.sha256" if name == UD else f"{name}.sha256")
    base = (url or published.base).rstrip("/")
    published_checksums = files if url is None else {}
    with _working(target, base) as downloads:
        written = read_checksums(note)
        if written is None:
            raise DownloadError(f"{note} is damaged", hint="remove it to accept the files as they are published now")
        for file in files:
            address = url if url is not None and not several else f"{base}/{file}"
            expected = sha256 or published_checksums.get(file)
            hint = CORRUPTED if expected else f"the file has changed: to accept the new one, remove {note}"
            checksum, path = expected or written.get(file), downloads / file
            if not path.exists() or checksum not in (None, digest_file(path)):  # else an interrupted call downloaded it
                fetch(address, path, sha256=checksum, hint=hint, progress=progress)
        listening(progress).report(f"unpacking {target.name}", 0)
        _install(published, [*files], downloads, target, languages)
        digests = {file: digest_file(downloads / file) for file in files}
        lines = (f"{checksum}  {name}\n" for name, checksum in sorted((written | digests).items()))
        write_text(note, "".join(lines))  # only after the files could be unpacked
        shutil.rmtree(downloads.parent)
    return target


@contextmanager
def _working(target: Path, base: str) -> Iterator[Path]:
    """A folder for the files from one address, beside the target; another address may have other files.

    It is kept if the block is interrupted, so that the next call resumes.

    Raises:
        DownloadError: if another process is downloading the same collection, or the disk is full.
    """
    staging = target.with_name(f".{target.name}.download")
    downloads = staging / digest(base)[:8]
    made = [downloads, staging, *([] if target.parent.exists() else [target.parent])]
    try:
        downloads.mkdir(parents=True, exist_ok=True)
        with locked(staging):
            try:
                yield downloads
            finally:
                for each in made:
                    with suppress(OSError):  # it holds what the next call resumes from, or it is gone
                        each.rmdir()
    except BlockingIOError:
        raise DownloadError(
            f"another process is downloading {target}", hint="wait for its end, and run the command again"
        ) from None
    except OSError as error:
        raise unwritable(Path(error.filename or target), error) from None


def _install(
    published: Published, files: Sequence[str], downloads: Path, target: Path, languages: Sequence[str] | None
) -> None:
    """Unpack the downloaded files and arrange them in the target.

    What is not as published is removed, to be downloaded again.
    """
    with temporary_folder(target) as unpacked, _adding(target) as new:
        for file in files:
            if file.endswith(ENDINGS):
                try:
                    unpack(downloads / file, unpacked, members=published.members)
                except DownloadError:
                    (downloads / file).unlink()
                    raise
            else:
                (unpacked / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(downloads / file, unpacked / file)
        try:
            published.arrange(unpacked, new, languages)
        except DownloadError:
            shutil.rmtree(downloads)
            raise


@contextmanager
def _adding(target: Path) -> Iterator[Path]:
    """A new folder that becomes the target, or whose new children are added to it, when the block succeeds."""
    if not target.is_dir() or not any(target.iterdir()):
        with new_folder(target) as partial:
            yield partial
        return
    with temporary_folder(target) as made:
        yield made
        for child in sorted(made.iterdir()):
            if not (target / child.name).exists():
                child.rename(target / child.name)
