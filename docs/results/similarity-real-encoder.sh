#!/bin/sh
# The runs behind similarity-real-encoder.md: 12 fine-tunings and 14 encoders compared. CROSSLENS_DATA names a folder with UD English-EWT
# and the PUD treebanks. Two to three hours of one core. Of the fine-tunings of seeds 2 and 3, only similarities were kept: the
# scores on the page are those of pos-real-encoder.sh and parsing-real-encoder.sh.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out encoders/e5-pud

crosslens run similarity-real-encoder.yaml --out store
crosslens results store --csv similarity-real-encoder.parquet

crosslens compare encoders/e5-pud --pairs en-fr,en-de,en-ru,en-ar,en-zh --measure cka,cka=muller2021-code \
  --baseline shuffled --sentences 500 --out code
crosslens results code --csv published-script.parquet
