#!/bin/sh
# The runs behind erase.md. Artificial languages need no data and some ten minutes on one core. For the pretrained encoder,
# CROSSLENS_DATA names a folder with UD English-EWT, the PUD treebanks and WikiANN; about an hour on one core.
set -e
export OMP_NUM_THREADS=1
crosslens run erase/lab.yaml --executor serial --out runs-erase
crosslens run erase/doses.yaml --executor serial --out runs-erase
crosslens results runs-erase/studies/*/results.csv --parquet erase.parquet --overwrite

crosslens encoders get e5-small --out e5-small
crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out e5-pud
crosslens run erase/pos.yaml --executor serial --out runs-erase-e5
crosslens run erase/ner.yaml --executor serial --out runs-erase-e5
crosslens results runs-erase-e5/studies/*/results.csv --parquet erase-real-encoder.parquet --overwrite
