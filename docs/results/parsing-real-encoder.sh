#!/bin/sh
# The runs behind parsing-real-encoder.md: 21 fine-tunings, each evaluated on 20 corpora.
# CROSSLENS_DATA names a folder with UD English-EWT and the PUD treebanks of 19 languages. Three hours of one core.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out encoders/e5-pud

crosslens run parsing-real-encoder.yaml --out runs --workers 2

crosslens results runs/studies/parsing-real-encoder/results.csv --parquet parsing-real-encoder.parquet --overwrite
