#!/bin/sh
# RANDOM-INIT on decoders and encoders of artificial languages, from the same text: no data needed.
set -e
export OMP_NUM_THREADS=1
cd "$(dirname "$0")/decoder"

crosslens run encoder.yaml --executor serial --out runs
crosslens run decoder.yaml --executor serial --out runs
crosslens results runs/studies/*/results.csv --parquet ../decoder.parquet --overwrite

# The same two encoders pretrained on lines of all languages in each step, and untrained.
for study in mixed mixed-encoder; do crosslens run $study.yaml --executor serial --out mixed-runs; done
crosslens results mixed-runs/studies/*/results.csv --parquet ../decoder-mixed.parquet --overwrite
