#!/bin/sh
# The runs behind similarity-real-encoder.md: 4 fine-tunings, each evaluated on 20 corpora, and six encoders compared.
# CROSSLENS_DATA names a folder with UD English-EWT and the PUD treebanks. About two hours on one core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out encoders/e5-pud

crosslens run similarity-real-encoder.yaml --out store
crosslens results store --csv similarity-real-encoder.parquet

crosslens compare encoders/e5-pud --pairs en-fr,en-de,en-ru,en-ar,en-zh --measure cka,cka=muller2021-code \
  --baseline shuffled --sentences 500 --out code
crosslens results code --csv published-script.parquet
