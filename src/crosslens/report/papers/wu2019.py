"""Wu and Dredze (2019), Beto, Bentz, Becas."""

from crosslens.report.papers.paper import Paper

WU_2019 = Paper(
    name="wu2019",
    settings=("wu2019_tables_2_to_6.csv",),
    baselines=("wu2019_baselines.csv",),
    systems={
        "Schwenk and Li (2018)": "word embeddings aligned with dictionaries, convolutional network",
        "Artetxe and Schwenk (2018)": "pretrained on bitext",
        "Conneau et al. (2018) X-LSTM": "supervised word embeddings and bitext",
        "Lample and Conneau (2019) MLM": "pretrained on the 15 languages of XNLI, selected on target-language dev data",
        "Lample and Conneau (2019) MLM+TLM": "pretrained on the 15 languages of XNLI and on bitext",
        "Xie et al. (2018)": "training data translated word by word, selected on target-language dev data",
        "Kim et al. (2017) 1280": "English and 1280 sentences of the target language",
        "Kim et al. (2017) 320": "English and 320 sentences of the target language",
        "Ahmad et al. (2019)": "word embeddings aligned with dictionaries, gold POS tags",
    },
    data={
        "document": "MLDoc",
        "nli": "MultiNLI, XNLI test",
        "ner": "CoNLL 2002 and 2003",
        "pos": "UD 1.4",
        "parsing": "UD 2.2, without PUNCT and SYM",
    },
)
