"""Wu and Dredze (2019), Beto, Bentz, Becas."""

from crosslens.report.papers.paper import Paper

WU_2019 = Paper(
    name="wu2019",
    settings=("wu2019_tables_2_to_6.csv",),
    data={
        "document": "MLDoc",
        "nli": "MultiNLI, XNLI test",
        "ner": "CoNLL 2002 and 2003",
        "pos": "UD 1.4",
        "parsing": "UD 2.2, without PUNCT and SYM",
    },
)
