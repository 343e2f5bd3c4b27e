#!/bin/sh
# The runs behind ner-real-encoder.md: 21 fine-tunings, each evaluated on 6 corpora.
# CROSSLENS_DATA names a folder with WikiANN, laid out as its release: wikiann/en/train, … Two to three hours of one core.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --out encoders/e5-small

crosslens run ner-real-encoder.yaml --out runs --workers 2

crosslens results runs/studies/ner-real-encoder/results.csv --parquet ner-real-encoder.parquet --overwrite
