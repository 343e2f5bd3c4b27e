#!/bin/sh
# The runs behind interventions.md. Artificial languages need no data and some five minutes on two cores. For the pretrained
# encoder, CROSSLENS_DATA names a folder with UD English-EWT and the PUD treebanks; about an hour on one core.
set -e
crosslens run seven-interventions --set encoder=lab:good --set data=lab --set seeds=3 --out runs-interventions
crosslens results runs-interventions/studies/*/results.csv --parquet interventions.parquet --overwrite

export OMP_NUM_THREADS=1
crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out e5-pud
crosslens run interventions/pos.yaml --executor serial --out runs-interventions-e5
crosslens results runs-interventions-e5/studies/*/results.csv --parquet interventions-real-encoder.parquet --overwrite
