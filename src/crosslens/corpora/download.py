"""Download Universal Dependencies releases, with resumption, checksums and atomic unpacking."""

import tarfile
import time
from dataclasses import dataclass
from pathlib import Path

import httpx

from crosslens.digests import digest_file
from crosslens.environment import offline
from crosslens.errors import DownloadError, RequestError, suggest
from crosslens.files import new_folder, refuse_existing, write_text
from crosslens.progress import Listener, Progress, listening

LINDAT = "https://lindat.mff.cuni.cz/repository/xmlui/bitstream/handle/11234"
TRIES = 5


@dataclass(frozen=True, slots=True)
class Release:
    """An official Universal Dependencies release.

    Attributes:
        handle: handle at LINDAT, below 11234/.
        sha256: checksum of the archive of treebanks; None if not published.
    """

    handle: str
    sha256: str | None = None


# Checksums from the test suite of pyconll; LINDAT publishes none.
RELEASES = {
    "1.4": Release("1-1827"),  # Wu & Dredze 2019, tagging; no published checksum
    "2.0": Release("1-1983", "c6c6428f709102e64f608e9f251be59d35e4add1dd842d8dc5a417d01415eb29"),
    "2.1": Release("1-2515", "446cc70f2194d0141fb079fb22c05b310cae9213920e3036b763899f349fee9b"),
    "2.2": Release(
        "1-2837", "a9580ac2d3a6d70d6a9589d3aeb948fbfba76dca813ef7ca7668eb7be2eb4322"
    ),  # Wu & Dredze 2019, parsing
    "2.3": Release(
        "1-2895", "122e93ad09684b971fd32b4eb4deeebd9740cd96df5542abc79925d74976efff"
    ),  # Conneau, Wu et al. 2020
    "2.4": Release("1-2988", "252a937038d88587842f652669cdf922b07d0f1ed98b926f738def662791eb62"),  # Muller et al. 2021
    "2.5": Release("1-3105", "5ff973e44345a5f69b94cc1427158e14e851c967d58773cc2ac5a1d3adaca409"),
    "2.6": Release("1-3226", "a462a91606c6b2534a767bbe8e3f154b678ef3cc81b64eedfc9efe9d60ceeb9e"),
    "2.7": Release("1-3424", "ee61f186ac5701440f9d2889ca26da35f18d433255b5a188b0df30bc1525502b"),
    "2.8": Release("1-3687", "95d2f4370dc5fe93653eb36e7268f4ec0c1bd012e51e943d55430f1e9d0d7e05"),
    "2.9": Release("1-4611", "ca0162be47151a55a5c6c5de24db821c76d67f322fcdfa3fe1436891e9bf2232"),
    "2.10": Release("1-4758", "f6deca6ab803abdfa8dca911600f6bc5f214267e348acbd59fd4c4b88db14ea6"),
    "2.11": Release("1-4923", "d75f7df726761836f797fe6c001c7a1ecce93d93129414ef57cf2262d15707e8"),
    "2.12": Release("1-5150", "24f876d5ad9dbdc639a33a73f02d12ddfe582e8d4e7f5d08978c8a86680d088c"),
    "2.13": Release("1-5287", "d6538ed4c05508be3bb7d9c3448de1062f6f9958c833b93558df300e4b1d3781"),
    "2.14": Release("1-5502", "a710e09f977fc1ca4aeaf200806a75fbbc46d2c0717c70933a94ad78129ee1af"),
    "2.15": Release("1-5787", "24ddd9a7e6a291f3882c13febb4d97accfbc6f51633a867963c19e6004d7df97"),
    "2.16": Release("1-5901", "87710204b6441736a8a9fed779585aa88b6eeafe231fa2ed9282c0cd9e30960b"),
}


def get_ud(
    release: str, folder: str | Path, *, url: str | None = None, sha256: str | None = None, progress: Listener = None
) -> Path:
    """Download a release of Universal Dependencies and unpack it to ``folder/ud-treebanks-vX.Y``.

    The archive must match the known checksum of the release. If there is none (release 1.4, archives of mirrors), the
    first download writes its checksum to ``folder/*.tgz.sha256``, and later downloads must match it.

    Args:
        release: release number, such as ``2.14``.
        folder: data folder; `crosslens.corpora.catalogue.cache_folder` is always searched for corpora.
        url: address of the archive at a mirror.
        sha256: expected checksum of the archive.
        progress: listener for the number of bytes received.

    Returns:
        The new folder.

    Raises:
        RequestError: if the release is unknown or already exists.
        DownloadError: if the network is switched off or fails, or the archive is not the published one.
    """
    if url is None and release not in RELEASES:
        raise RequestError(f"unknown UD release {release!r}", hint=f"{suggest(release, RELEASES)}, or give --url")
    folder = Path(folder)
    target = refuse_existing(folder / f"ud-treebanks-v{release}", what=f"UD {release}")
    known = RELEASES.get(release)
    if url is None and known is not None:
        url, sha256 = f"{LINDAT}/{known.handle}/ud-treebanks-v{release}.tgz", sha256 or known.sha256
    assert url is not None
    listener = listening(progress)
    folder.mkdir(parents=True, exist_ok=True)
    archive = folder / f"ud-treebanks-v{release}.tgz"
    note = archive.with_name(archive.name + ".sha256")
    fetch(url, archive, sha256=sha256 or (note.read_text().split()[0] if note.exists() else None), progress=listener)
    listener.report(f"unpacking {archive.name}", 0)
    unpack(archive, target)
    write_text(note, f"{digest_file(archive)}  {archive.name}\n")  # only after the archive could be unpacked
    archive.unlink()
    return target


def fetch(url: str, path: Path, *, sha256: str | None = None, progress: Listener = None, pause: float = 1.0) -> None:
    """Download a file, resuming an interrupted download from ``path.part``.

    Args:
        url: address of the file.
        path: destination; the file appears when it is complete and checked.
        sha256: expected checksum; None skips the check.
        progress: listener for the number of bytes received.
        pause: seconds before the second attempt, doubled before each further one.

    Raises:
        DownloadError: if the network is switched off, the server refuses the request or keeps closing the connection,
            or the checksum differs, in which case the file is removed.
    """
    if offline():
        raise DownloadError(f"cannot download {url}: the network is switched off", hint="unset CROSSLENS_OFFLINE")
    listener = listening(progress)
    part = path.with_name(path.name + ".part")
    reason = ""
    for attempt in range(TRIES):
        if attempt:
            time.sleep(pause * 2 ** (attempt - 1))
        try:
            if _fetch_rest(url, part, listener):
                break
            reason = "the server broke off"
        except httpx.HTTPStatusError as error:
            status = error.response.status_code
            reason = f"the server answered {status} {error.response.reason_phrase}"
            if status < 500 and status != 429:
                raise DownloadError(f"{url}: {reason}", hint="check the address") from None
        except httpx.HTTPError as error:
            reason = str(error) or type(error).__name__
    else:
        raise DownloadError(
            f"{url}: gave up after {TRIES} tries: {reason}", hint=f"run the command again to resume from {part}"
        )
    if sha256 is not None:
        actual = digest_file(part)
        if actual != sha256.lower():
            part.unlink()
            raise DownloadError(
                f"{url}: sha256 is {actual}, expected {sha256.lower()}",
                hint="the file is not the published one, or was corrupted; it was removed, so download it again",
            )
    part.replace(path)


def _fetch_rest(url: str, part: Path, progress: Progress) -> bool:
    """Request the missing bytes; return whether the file is complete."""
    received = part.stat().st_size if part.exists() else 0
    headers = {"Accept-Encoding": "identity", **({"Range": f"bytes={received}-"} if received else {})}
    with httpx.stream("GET", url, headers=headers, follow_redirects=True, timeout=30) as response:
        if response.status_code == httpx.codes.REQUESTED_RANGE_NOT_SATISFIABLE:
            _, _, size = response.headers.get("Content-Range", "").partition("/")
            if size == str(received):
                return True  # already complete
            part.unlink()
            return False
        response.raise_for_status()
        if response.status_code != httpx.codes.PARTIAL_CONTENT:
            received = 0  # the server cannot resume and sends the whole file
        elif not response.headers.get("Content-Range", "").startswith(f"bytes {received}-"):
            part.unlink()  # the server resumes at another position
            return False
        length = response.headers.get("Content-Length")
        total = received + int(length) if length else None
        with open(part, "ab" if received else "wb") as stream:
            for chunk in response.iter_bytes():
                stream.write(chunk)
                received += len(chunk)
                progress.report(f"downloading {part.stem}", received, total, "bytes")
    return total is None or received == total


def unpack(archive: Path, target: Path) -> None:
    """Unpack the single folder of an archive to ``target``, atomically.

    Raises:
        DownloadError: if the archive is damaged, does not contain exactly one folder, or would write outside it.
    """
    try:
        with new_folder(target) as partial:
            with tarfile.open(archive) as content:
                content.extractall(partial, filter="data")
            folders = [child for child in partial.iterdir() if child.is_dir()]
            if len(folders) != 1:
                raise DownloadError(f"{archive.name} contains {len(folders)} folders, expected one")
            for child in [*folders[0].iterdir()]:
                child.rename(partial / child.name)
            folders[0].rmdir()
    except (tarfile.TarError, EOFError, OSError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DownloadError(f"cannot unpack {archive}: {reason}", hint="remove it and download again") from None
