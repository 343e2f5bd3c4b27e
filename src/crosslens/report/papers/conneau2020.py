"""Conneau, Wu, Li, Zettlemoyer and Stoyanov (2020), Emerging Cross-lingual Structure in Pretrained Language Models."""

from crosslens.encoders.condition import Condition
from crosslens.report.papers.paper import Paper

SECTIONS = {
    "domain similarity": {"Wiki-CC": "wiki-cc"},
    "anchor points": {
        "Default anchors": "default-anchors",
        "No anchors": "no-anchors",
        "Extra anchors": "extra-anchors",
    },
    "parameter sharing": {
        "Sep Emb": "sep-emb",
        "Sep Emb + L1-3": "sep-emb-1-3",
        "Sep Emb + L1-6": "sep-emb-1-6",
        "Sep L1-3": "sep-1-3",
        "Sep L1-6": "sep-1-6",
    },
}
"""Sections of Table 1 -> the paper's models -> the factors of pretraining."""

FACTORS = {name: factor for section in SECTIONS.values() for name, factor in section.items()}

CONNEAU_2020 = Paper(
    name="conneau2020",
    models=("conneau2020_table_1.csv",),
    conditions={"Default": Condition()} | {name: Condition(factor=factor) for name, factor in FACTORS.items()},
    source="en",
    treebanks=("ewt", "gsd"),
)
