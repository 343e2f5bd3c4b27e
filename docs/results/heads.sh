#!/bin/sh
# The runs behind heads.md: artificial languages (no data needed, some two minutes on one core) and multilingual-e5-small. CROSSLENS_DATA
# names a folder with UD English-EWT and the PUD treebanks; half an hour on one core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1
crosslens run heads --set encoder=lab:good --set data=lab --set "tasks=[pos, parsing, ner]" --set seeds=3 --executor serial --out runs-heads
crosslens results runs-heads/studies/*/results.csv --parquet heads.parquet --overwrite

cd heads
crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out e5-pud
crosslens run pos.yaml --executor serial --out e5-runs
crosslens results e5-runs/studies/heads-real-encoder/results.csv --parquet ../heads-real-encoder.parquet --overwrite
