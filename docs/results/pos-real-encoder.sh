#!/bin/sh
# The runs behind pos-real-encoder.md: 24 fine-tunings, each evaluated on 20 corpora, and similarities of the encoder.
# CROSSLENS_DATA names a folder with UD English-EWT and the PUD treebanks of 19 languages. Two and a half hours of one core.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out encoders/e5-pud

crosslens run pos-real-encoder.yaml --out runs --workers 2

compare="crosslens compare encoders/e5-pud --corpus ud/pud --pairs en-* --sentences 500"
set -f
$compare --out similarity-pretrained
$compare --random-init 0,all --out similarity-untrained

crosslens results runs/studies/pos-real-encoder/results.csv similarity-pretrained similarity-untrained \
  --parquet pos-real-encoder.parquet --overwrite
