#!/bin/sh
# The runs behind heads.md. Artificial languages need no data and some two minutes on one core. For the pretrained encoder,
# CROSSLENS_DATA names a folder with UD English-EWT and the PUD treebanks; about half an hour on one core.
set -e
export OMP_NUM_THREADS=1
crosslens run heads --set encoder=lab:good --set data=lab --set "tasks=[pos, parsing, ner]" --set seeds=3 --executor serial --out runs-heads
crosslens results runs-heads/studies/*/results.csv --parquet heads.parquet

crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out e5-pud
crosslens run heads/pos.yaml --executor serial --out runs-heads-e5
crosslens results runs-heads-e5/studies/*/results.csv --parquet heads-real-encoder.parquet
