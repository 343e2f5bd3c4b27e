#!/bin/sh
# The runs behind dose-response.md: artificial languages (no data needed, four minutes on one core) and multilingual-e5-small. CROSSLENS_DATA
# names a folder with UD English-EWT and the PUD treebanks; about half an hour on one core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1
crosslens run dose-response --set encoder=lab:good --set data=lab --set "tasks=[pos, parsing, ner]" --set seeds=3 --executor serial --out runs-doses
crosslens results runs-doses/studies/dose-response/results.csv --parquet dose-response.parquet --overwrite

cd dose-response
crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out e5-pud
crosslens run pos.yaml --executor serial --out e5-runs
crosslens results e5-runs/studies/dose-response-real-encoder/results.csv --parquet ../dose-response-real-encoder.parquet --overwrite
