"""Published collections: their addresses, licences and checksums, and how their files are arranged.

Addresses without a version (branches of repositories) may change; the first download of a file writes its checksum,
and later downloads must match it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from crosslens.corpora.collection import SPLITS
from crosslens.corpora.downloads.arrange import Arrangement, archives_by_language, choose, place, treebanks, xnli

Files = Mapping[str, str | None]
"""Path of a file below the base address -> published SHA-256, or None."""


@dataclass(frozen=True, slots=True)
class Published:
    """A collection as published.

    Attributes:
        title: name of the collection, with what it contains.
        licence: licence of the data.
        source: page that describes the collection.
        base: address above its files.
        files: function from languages (None: all) to the files to download.
        arrange: puts the downloaded files into the layout that crosslens reads.
        members: regular expression for the members of archives to unpack.
        by_language: whether languages can be chosen.
    """

    title: str
    licence: str
    source: str
    base: str
    files: Callable[[Sequence[str] | None], Files]
    arrange: Arrangement
    members: str = ".*"
    by_language: bool = True


def _always(files: Mapping[str, str | None]) -> Callable[[Sequence[str] | None], Files]:
    """The same archives for all languages."""
    return lambda languages: files


def _codes(text: str) -> tuple[str, ...]:
    return tuple(text.split())


def _muse(languages: Sequence[str] | None) -> Files:
    """Full dictionary, train and test split of each pair; ``fr`` is both directions of French and English."""
    pairs = [pair for language in MUSE_LANGUAGES for pair in (f"en-{language}", f"{language}-en")]
    pairs += [f"{source}-{target}" for source in MUSE_EUROPEAN for target in MUSE_EUROPEAN if source != target]
    asked = None
    if languages is not None:
        alone = choose([name for name in languages if "-" not in name], MUSE_LANGUAGES)
        known = {*MUSE_LANGUAGES, *MUSE_EUROPEAN, "en"}
        # Each side alone: as one tag, en-uk is English in the United Kingdom, like en-gb.
        asked = ["-".join(choose([side], known)[0] for side in name.split("-")) for name in languages if "-" in name]
        asked += [pair for name in alone for pair in (f"en-{name}", f"{name}-en")]
    return {f"{pair}{infix}.txt": None for pair in choose(asked, pairs) for infix in ("", ".0-5000", ".5000-6500")}


def _masakhaner(languages: Sequence[str] | None) -> Files:
    chosen = choose(languages, MASAKHANER_LANGUAGES)
    return {f"{language}/{split}.txt": None for language in chosen for split in SPLITS}


def _uner(languages: Sequence[str] | None) -> Files:
    return {
        f"{repository}/{branch}/{corpus}-ud-{split}.iob2": None
        for corpus in choose(languages, UNER)
        for repository, branch, splits in [UNER[corpus]]
        for split in splits
    }


MUSE_LANGUAGES = _codes(
    "af ar bg bn bs ca cs da de el es et fa fi fr he hi hr hu id it ja ko lt lv mk ms nl no pl pt ro ru sk sl sq sv ta "
    "th tl tr uk vi zh"
)
"""Languages with dictionaries from and to English."""
MUSE_EUROPEAN = ("de", "es", "fr", "it", "pt")
"""Languages with dictionaries from and to one another."""

MASAKHANER_LANGUAGES = _codes("bam bbj ewe fon hau ibo kin lug luo mos nya pcm sna swa tsn twi wol xho yor zul")
"""Languages of MasakhaNER 2.0."""

_TEST = ("test",)
UNER = {
    "ceb_gja": ("UNER_Cebuano-GJA", "master", _TEST),
    "zh_gsd": ("UNER_Chinese-GSD", "master", SPLITS),
    "zh_gsdsimp": ("UNER_Chinese-GSDSIMP", "master", SPLITS),
    "zh_pud": ("UNER_Chinese-PUD", "master", _TEST),
    "hr_set": ("UNER_Croatian-SET", "main", SPLITS),
    "da_ddt": ("UNER_Danish-DDT", "main", SPLITS),
    "en_ewt": ("UNER_English-EWT", "master", SPLITS),
    "en_pud": ("UNER_English-PUD", "master", _TEST),
    "de_pud": ("UNER_German-PUD", "master", _TEST),
    "pt_bosque": ("UNER_Portuguese-Bosque", "master", SPLITS),
    "pt_pud": ("UNER_Portuguese-PUD", "master", _TEST),
    "ru_pud": ("UNER_Russian-PUD", "master", _TEST),
    "sr_set": ("UNER_Serbian-SET", "main", SPLITS),
    "sk_snk": ("UNER_Slovak-SNK", "master", SPLITS),
    "sv_pud": ("UNER_Swedish-PUD", "master", _TEST),
    "sv_talbanken": ("UNER_Swedish-Talbanken", "master", SPLITS),
    "tl_trg": ("UNER_Tagalog-TRG", "master", _TEST),
    "tl_ugnayan": ("UNER_Tagalog-Ugnayan", "master", _TEST),
}
"""Corpus -> its repository, branch and splits: UNER version 1 (Mayhew et al. 2024)."""

_TATOEBA = r"[^/]+/data/tatoeba/v1/(tatoeba\.(?P<language>\w+)-eng\.\w+)"
_SIB200 = r"[^/]+/data/annotated/((?P<language>\w+)/(?:train|dev|test)\.tsv)"
_WILI = r"(?:[^/]+/)?((?:[xy]_(?:train|test)|README|urls)\.txt|labels\.csv)"

PUBLISHED: Mapping[str, Published] = MappingProxyType(
    {
        # Conneau et al. 2018; XNLI-1.0's checksum is the one that other projects publish for this address.
        "xnli": Published(
            title="XNLI: NLI in 15 languages; train is MultiNLI, machine-translated except for English (485 MB)",
            licence="CC BY-NC 4.0 (not for commercial use); MultiNLI: the licences of its sources",
            source="https://github.com/facebookresearch/XNLI",
            base="https://dl.fbaipublicfiles.com/XNLI",
            files=_always(
                {
                    "XNLI-1.0.zip": "4ba1d5e1afdb7161f0f23c66dc787802ccfa8a25a3ddd3b165a35e50df346ab1",
                    "XNLI-MT-1.0.zip": None,
                }
            ),
            arrange=xnli,
            members=r"XNLI-1\.0/xnli\.(?:dev|test)\.tsv|XNLI-MT-1\.0/multinli/multinli\.train\.\w+\.tsv",
        ),
        # Lample et al. 2018
        "muse": Published(
            title="MUSE: bilingual dictionaries of 108 language pairs",
            licence="CC BY-NC 4.0 (not for commercial use)",
            source="https://github.com/facebookresearch/MUSE",
            base="https://dl.fbaipublicfiles.com/arrival/dictionaries",
            files=_muse,
            arrange=place(r"([\w.-]+\.txt)", r"\1"),
        ),
        # Artetxe & Schwenk 2019
        "tatoeba": Published(
            title="Tatoeba: up to 1,000 English-aligned sentences in 112 languages (archive of the repository LASER)",
            licence="CC BY 2.0 FR (terms of use of Tatoeba)",
            source="https://github.com/facebookresearch/LASER/tree/main/data/tatoeba/v1",
            base="https://github.com/facebookresearch/LASER/archive",
            files=_always({"2aa9cf8242f1030282be23a9cfa906fd011c4b2d.tar.gz": None}),
            arrange=place(_TATOEBA, r"\1"),
            members=_TATOEBA,
        ),
        # Adelani et al. 2024
        "sib200": Published(
            title="SIB-200: topic classification in 205 languages",
            licence="Apache 2.0 (annotation), CC BY-SA 4.0 (text of FLORES-200)",
            source="https://github.com/dadelani/sib-200",
            base="https://github.com/dadelani/sib-200/archive/refs/heads",
            files=_always({"main.tar.gz": None}),
            arrange=place(_SIB200, r"\1"),
            members=_SIB200,
        ),
        # Mayhew et al. 2024
        "uner": Published(
            title="Universal NER version 1: named entities on 18 treebanks",
            licence="CC BY-SA 4.0 or 3.0, as each treebank",
            source="https://www.universalner.org",
            base="https://raw.githubusercontent.com/UniversalNER",
            files=_uner,
            arrange=place(r"(UNER_[\w-]+)/\w+/([\w-]+\.iob2)", r"\1/\2"),
        ),
        # Adelani et al. 2022
        "masakhaner": Published(
            title="MasakhaNER 2.0: named entities in 20 African languages",
            licence="CC BY-NC 4.0 (not for commercial use)",
            source="https://github.com/masakhane-io/masakhane-ner",
            base="https://raw.githubusercontent.com/masakhane-io/masakhane-ner/main/MasakhaNER2.0/data",
            files=_masakhaner,
            arrange=place(r"(\w+/\w+\.txt)", r"\1"),
        ),
        # Thoma 2018; the checksum is the one that projects which downloaded the record publish.
        "wili": Published(
            title="WiLI-2018: paragraphs of Wikipedia in 235 languages",
            licence="ODbL 1.0",
            source="https://zenodo.org/records/841984",
            base="https://zenodo.org/records/841984/files",
            files=_always({"wili-2018.zip": "727e52ca4e13400e6def1b1b594ca12c8b7fd49ad9d45fd5c9e57a1f6d3b7a3f"}),
            arrange=place(_WILI, r"\1"),
            members=_WILI,
            by_language=False,
        ),
        # Pan et al. 2017 in the splits of Rahimi et al. 2019: the copy that Hugging Face datasets used to read. The
        # authors' own copies are on Google Drive and Dropbox.
        "wikiann": Published(
            title="WikiANN: named entities in 176 languages of Wikipedia (234 MB)",
            licence="no licence stated by the authors; the text is from Wikipedia (CC BY-SA)",
            source="https://github.com/afshinrahimi/mmner",
            base="https://s3.amazonaws.com/datasets.huggingface.co/wikiann/1.1.0",
            files=_always({"panx_dataset.zip": None}),
            arrange=archives_by_language,
            members=r"(?:[^/]+/)?[\w-]+\.tar\.gz",
        ),
    }
)
"""Collections other than Universal Dependencies that can be downloaded."""

BY_HAND: Mapping[str, str] = MappingProxyType(
    {
        "panlex": "dictionaries were exported from the database of https://panlex.org/snapshot (CC0), which has no "
        "stable archive; write each as a file of lines SOURCE<tab>TARGET<tab>QUALITY and pass its path",
        "mldoc": "the texts of Reuters RCV1 and RCV2 need an agreement with NIST (https://trec.nist.gov/data/reuters); "
        "put what https://github.com/facebookresearch/MLDoc writes into mldoc/ of a data folder",
    }
)
"""Collection without a public archive -> where to get it and how to lay it out."""


# Checksums from the test suite of pyconll; LINDAT publishes none.
RELEASES: Mapping[str, tuple[str, str | None]] = {
    "1.4": ("1-1827", None),  # Wu & Dredze 2019, tagging; no published checksum
    "2.0": ("1-1983", "c6c6428f709102e64f608e9f251be59d35e4add1dd842d8dc5a417d01415eb29"),
    "2.1": ("1-2515", "446cc70f2194d0141fb079fb22c05b310cae9213920e3036b763899f349fee9b"),
    "2.2": ("1-2837", "a9580ac2d3a6d70d6a9589d3aeb948fbfba76dca813ef7ca7668eb7be2eb4322"),  # Wu & Dredze 2019, parsing
    "2.3": ("1-2895", "122e93ad09684b971fd32b4eb4deeebd9740cd96df5542abc79925d74976efff"),  # Conneau, Wu et al. 2020
    "2.4": ("1-2988", "252a937038d88587842f652669cdf922b07d0f1ed98b926f738def662791eb62"),  # Muller et al. 2021
    "2.5": ("1-3105", "5ff973e44345a5f69b94cc1427158e14e851c967d58773cc2ac5a1d3adaca409"),
    "2.6": ("1-3226", "a462a91606c6b2534a767bbe8e3f154b678ef3cc81b64eedfc9efe9d60ceeb9e"),
    "2.7": ("1-3424", "ee61f186ac5701440f9d2889ca26da35f18d433255b5a188b0df30bc1525502b"),
    "2.8": ("1-3687", "95d2f4370dc5fe93653eb36e7268f4ec0c1bd012e51e943d55430f1e9d0d7e05"),
    "2.9": ("1-4611", "ca0162be47151a55a5c6c5de24db821c76d67f322fcdfa3fe1436891e9bf2232"),
    "2.10": ("1-4758", "f6deca6ab803abdfa8dca911600f6bc5f214267e348acbd59fd4c4b88db14ea6"),
    "2.11": ("1-4923", "d75f7df726761836f797fe6c001c7a1ecce93d93129414ef57cf2262d15707e8"),
    "2.12": ("1-5150", "24f876d5ad9dbdc639a33a73f02d12ddfe582e8d4e7f5d08978c8a86680d088c"),
    "2.13": ("1-5287", "d6538ed4c05508be3bb7d9c3448de1062f6f9958c833b93558df300e4b1d3781"),
    "2.14": ("1-5502", "a710e09f977fc1ca4aeaf200806a75fbbc46d2c0717c70933a94ad78129ee1af"),
    "2.15": ("1-5787", "24ddd9a7e6a291f3882c13febb4d97accfbc6f51633a867963c19e6004d7df97"),
    "2.16": ("1-5901", "87710204b6441736a8a9fed779585aa88b6eeafe231fa2ed9282c0cd9e30960b"),
}
"""Release of Universal Dependencies -> handle at LINDAT, below 11234/, and SHA-256 of the archive, if published."""


def universal_dependencies(release: str) -> Published:
    """All treebanks of a release of Universal Dependencies; one that is not in `RELEASES` has no address."""
    handle, sha256 = RELEASES.get(release, ("", None))
    return Published(
        title=f"Universal Dependencies {release}: all treebanks",
        licence="each treebank has its own (LICENSE.txt in its folder)",
        source="https://universaldependencies.org",
        base=f"https://lindat.mff.cuni.cz/repository/xmlui/bitstream/handle/11234/{handle}",
        files=_always({f"ud-treebanks-v{release}.tgz": sha256}),
        arrange=treebanks,
        by_language=False,
    )
