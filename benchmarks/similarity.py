"""Similarity: against a script that reads one sentence at a time; memory over languages; CSLS against faiss.

python benchmarks/similarity.py ENCODER [LANGUAGE ...]   (PUD treebanks from CROSSLENS_DATA; English is the source)
"""

import resource
import subprocess
import sys

import numpy as np
import torch
from ratios import Rates, seconds

import crosslens
from crosslens.data.corpus import Corpus
from crosslens.data.parallel import Parallel
from crosslens.data.sentence import Sentence
from crosslens.encoders.load import load_encoder
from crosslens.encoders.represent import represent
from crosslens.similarity.compare import compare
from crosslens.similarity.retrieval import retrieval_csls
from crosslens.translations import load_parallel

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
    """Reading, and the whole comparison of English with all others."""
    rates = Rates("one at a time")
    languages = [language for language in parallel.languages if language != "en"]
    corpus = parallel["de"]
    for _ in range(TURNS):
        took, _ = seconds(lambda: one_at_a_time(encoder, corpus))
        rates.add("one at a time", "vectors of all layers", len(corpus), took)
        took, ours = seconds(lambda: represent(encoder, corpus))
        rates.add("crosslens", "vectors of all layers", len(corpus), took)

        def naive():
            found = []
            for language in languages:  # each pair by itself, as the published script
                x, y = one_at_a_time(encoder, parallel["en"]), one_at_a_time(encoder, parallel[language])
                found.append([kernel_cka(a.astype(float), b.astype(float)) for a, b in zip(x, y, strict=True)])
            return np.asarray(found)

        what = f"CKA of {len(languages)} pairs"
        took, expected = seconds(naive)
        rates.add("one at a time", what, 2 * len(languages) * len(corpus), took)
        took, ours = seconds(lambda: compare(encoder, parallel, pairs=[f"en-{x}" for x in languages], measures=["cka"]))
        rates.add("crosslens", what, 2 * len(languages) * len(corpus), took)
        differ = np.abs(np.asarray(ours.records["value"]).reshape(expected.shape) - expected).max()
    rates.print()
    print(f"\nlargest difference of a value: {differ:.1e}\n")


def memory(path, languages):
    """Peak memory of a comparison of one language with many others; in a process of its own."""
    encoder = load_encoder(path, device="cpu")
    generator = np.random.default_rng(0)
    words = [f"w{number}" for number in range(2000)]

    def corpus(language):
        items = tuple(Sentence(tuple(generator.choice(words, 4)), id=str(n)) for n in range(1000))
        return Corpus(items, language, language)

    names = [f"l{number:03}" for number in range(languages)]
    many = Parallel({name: corpus(name) for name in names}, "many")
    compare(encoder, many, pairs=[f"l000-{name}" for name in names[1:]], measures=["cka", "cka_debiased", "retrieval"])
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024)


def csls():
    """Against the usual three searches of faiss, flat and exact, in float32; ours is in float64."""
    import faiss

    faiss.omp_set_num_threads(1)
    rates = Rates("faiss")
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

    for turn in range(TURNS + 1):
        theirs, its = seconds(with_faiss)
        ours, found = seconds(lambda: retrieval_csls(X, Y))
        if turn:  # the first warms both up
            rates.add("faiss", f"CSLS, {n:,} x {n:,}, width {d}", n, theirs)
            rates.add("crosslens", f"CSLS, {n:,} x {n:,}, width {d}", n, ours)
    rates.print()
    print(f"\nfound: crosslens {found:.4f}, faiss {its:.4f}\n")


def main():
    torch.set_num_threads(1)
    if sys.argv[1] == "--memory":
        memory(sys.argv[2], int(sys.argv[3]))
        return
    path, *languages = sys.argv[1:]
    encoder = load_encoder(path, device="cpu")
    print(f"> crosslens {crosslens.__version__}, torch {torch.__version__}, {encoder.depth} layers x {encoder.width};")
    print(f"> {SENTENCES} sentences a language; 1 thread; median of {TURNS} turns\n")
    encoding(encoder, load_parallel("ud/pud", languages=["en", *(languages or LANGUAGES)]).head(SENTENCES))
    csls()
    print("| languages of 1,000 sentences | peak memory, MiB |\n|--:|--:|")
    for count in (10, 50, 200):
        words = [sys.executable, __file__, "--memory", path, str(count)]
        print(f"| {count} | {subprocess.run(words, check=True, capture_output=True, text=True).stdout.strip()} |")


main()
