"""Similarity: against a script that reads one sentence at a time; CSLS against faiss.

python benchmarks/similarity.py ENCODER [LANGUAGE ...]   (PUD treebanks from CROSSLENS_DATA; English is the source)
"""

import statistics
import sys
from functools import cache

import numpy as np
import torch
from ratios import PER_SECOND, note, product_rate, products, row, seconds

from crosslens.corpora.parallel import load_parallel
from crosslens.encoders.inputs import read_windows
from crosslens.encoders.interventions.read_as import read_as
from crosslens.encoders.load import load_encoder
from crosslens.encoders.matmul import has_fast_bfloat16
from crosslens.encoders.represent import represent
from crosslens.similarity.compare import compare
from crosslens.similarity.retrieval import retrieval_csls

LANGUAGES = ("ar", "cs", "de", "es", "fi", "fr", "hi", "id", "it", "ja", "pl", "pt", "ru", "tr", "zh")
SENTENCES, TURNS = 200, 3


def one_at_a_time(encoder, corpus):
    """The script everyone writes: a sentence a call, all hidden states, their mean without special tokens."""
    vectors = []
    for sentence in corpus:
        read = encoder.tokenizer(list(sentence.words), is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            states = encoder.model(**read, output_hidden_states=True).hidden_states
        vectors.append([layer[0, 1:-1].mean(0).numpy() for layer in states])
    return np.asarray(vectors).transpose(1, 0, 2)


def kernel_cka(x, y):
    """As most scripts have it: Gram matrices and a centring matrix."""
    H = np.eye(len(x)) - 1 / len(x)
    K, L = H @ (x @ x.T) @ H, H @ (y @ y.T) @ H
    return (K * L).sum() / np.sqrt((K * K).sum() * (L * L).sum())


def encoding(encoder, parallel):
    """Reading one language, and the whole comparison of English with all others."""
    languages = [language for language in parallel.languages if language != "en"]
    corpus = parallel["de"]
    names = ("vectors", "pairs", "once", "coarse")
    coarse = read_as(encoder, precision="bfloat16") if has_fast_bfloat16(encoder.device) else None
    pairs = [f"en-{x}" for x in languages]
    ours, its = {name: [] for name in names}, {name: [] for name in names}

    def naive(read):
        found = []
        for language in languages:
            x, y = read("en"), read(language)
            found.append([kernel_cka(a.astype(float), b.astype(float)) for a, b in zip(x, y, strict=True)])
        return np.asarray(found)

    for _ in range(TURNS):
        took, _ = seconds(lambda: one_at_a_time(encoder, corpus))
        its["vectors"].append(len(corpus) / took)
        took, _ = seconds(lambda: represent(encoder, corpus))
        ours["vectors"].append(len(corpus) / took)
        took, _ = seconds(lambda: naive(lambda language: one_at_a_time(encoder, parallel[language])))
        its["pairs"].append(len(languages) / took)
        # As above, and with the care not to read English fifteen times.
        took, expected = seconds(lambda: naive(cache(lambda language: one_at_a_time(encoder, parallel[language]))))
        its["once"].append(len(languages) / took)
        took, found = seconds(lambda: compare(encoder, parallel, pairs=pairs, measures=["cka"]))
        ours["pairs"].append(len(languages) / took)
        differ = np.abs(np.asarray(found.records["value"]).reshape(expected.shape) - expected).max()
        if coarse is not None:
            took, found = seconds(lambda: compare(coarse, parallel, pairs=pairs, measures=["cka"]))
            ours["coarse"].append(len(languages) / took)
            moved = np.abs(np.asarray(found.records["value"]).reshape(expected.shape) - expected).max()
    ours["once"] = ours["pairs"]
    peer, count = "one at a time", len(parallel.languages)
    shape, unit = f"{encoder.depth} x {encoder.width}", "pairs per CPU second"
    subwords = [sum(map(len, read_windows(encoder, parallel[x]).windows)) for x in parallel.languages]
    work = products(encoder) / product_rate(encoder)  # CPU seconds of a subword, of nothing but products
    share = statistics.median(ours["vectors"]) * work * subwords[parallel.languages.index("de")] / len(corpus)
    row(f"vectors of all layers, {shape}", PER_SECOND, ours["vectors"], beside=its["vectors"], peer=peer, share=share)
    what = f"reading and CKA, {count} languages of {len(corpus)} sentences, {shape}"
    a_pair = work * sum(subwords) / len(languages)
    share = statistics.median(ours["pairs"]) * a_pair
    row(what, unit, ours["pairs"], beside=its["pairs"], peer=f"{peer}, each pair", goal=">= 5", share=share)
    row(what, unit, ours["once"], beside=its["once"], peer=f"{peer}, each language once", share=share)
    if coarse is not None:
        work = products(encoder) / product_rate(encoder, "bfloat16")
        share = statistics.median(ours["coarse"]) * work * sum(subwords) / len(languages)
        what = f"{what}, bfloat16"
        row(what, unit, ours["coarse"], beside=its["pairs"], peer=f"{peer}, each pair", goal=">= 12", share=share)
        note(f"CKA in bfloat16: the largest difference of a value is {moved:.1e}")
    note(f"CKA: {len(languages)} pairs with English; the largest difference of a value is {differ:.1e}")


def csls():
    """Against the usual three searches of faiss, flat and exact, in float32; ours is in float64."""
    import faiss

    faiss.omp_set_num_threads(1)
    ours, its = [], []
    n, d = 5000, 256
    generator = np.random.default_rng(0)
    X = generator.normal(size=(n, d))
    Y = X + 4 * generator.normal(size=(n, d))

    def search(keys, queries, k):
        index = faiss.IndexFlatIP(keys.shape[1])
        index.add(np.ascontiguousarray(keys, np.float32))
        return index.search(np.ascontiguousarray(queries, np.float32), k)

    def with_faiss():
        x, y = X - X.mean(0), Y - Y.mean(0)
        x, y = x / np.linalg.norm(x, axis=1)[:, None], y / np.linalg.norm(y, axis=1)[:, None]
        near = search(y, x, 10)[0].mean(1), search(x, y, 10)[0].mean(1)
        one = np.ones((n, 1))
        there = search(np.hstack([2 * y, -near[1][:, None]]), np.hstack([x, one]), 1)[1][:, 0]
        back = search(np.hstack([2 * x, -near[0][:, None]]), np.hstack([y, one]), 1)[1][:, 0]
        return ((there == np.arange(n)).mean() + (back == np.arange(n)).mean()) / 2

    for turn in range(9):
        theirs, there = seconds(with_faiss)
        mine, here = seconds(lambda: retrieval_csls(X, Y))
        if turn:  # the first warms both up
            its.append(n / theirs)
            ours.append(n / mine)
    row(f"CSLS, {n:,} x {n:,}, width {d}", PER_SECOND, ours, beside=its, peer="faiss, flat", goal=">= 1")
    note(f"CSLS: found {here:.4f}, with faiss {there:.4f}; ours in float64")


def main():
    torch.set_num_threads(1)
    path, *languages = sys.argv[1:]
    encoder = load_encoder(path, device="cpu")
    encoding(encoder, load_parallel("ud/pud", languages=["en", *(languages or LANGUAGES)]).head(SENTENCES))
    csls()


if __name__ == "__main__":
    main()
