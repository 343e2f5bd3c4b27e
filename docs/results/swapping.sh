#!/bin/sh
# The runs behind swapping.md. The laboratory needs no data and a quarter of an hour on one core. For the pretrained encoder, CROSSLENS_DATA
# names a folder with Universal Dependencies and raw text; about an hour on one core.
set -e
export OMP_NUM_THREADS=1
cd "$(dirname "$0")/swapping"
crosslens run lab.yaml --executor serial --out runs
crosslens results runs/studies/*/results.csv --parquet ../swapping.parquet --overwrite

# e5 with the pieces that these texts need, and a head of a masked language model fitted to text of languages that it knows.
D=$CROSSLENS_DATA
texts=""
for pair in en:en fr:fr de:de ru:ru ar:ar tr:tr fi:fi sw:swa ha:hau yo:yor id:id es:es; do
  head -400 "$D/raw/${pair#*:}.txt" > "head-${pair%:*}.txt"
  texts="$texts --text ${pair%:*}=head-${pair%:*}.txt"
done
trim=""
for language in wol mlt myv fao; do trim="$trim --trim-to $D/raw/$language.txt"; done
for bank in English-EWT Wolof-WTB Maltese-MUDT Erzya-JR Faroese-FarPaHC; do trim="$trim --trim-to $D/ud/UD_$bank/*.conllu"; done
set -f  # the patterns are crosslens's
crosslens encoders get e5-small $trim --trim-to "head-*.txt" --out e5-few
set +f
crosslens adapt e5-few $texts --set epochs=4 --set batch=16 --set learning_rate=2e-3 --set freeze=0-12 --out e5-mlm
crosslens run pos.yaml --executor serial --out runs-e5
crosslens results runs-e5/studies/swap-and-revert-real-encoder/results.csv --parquet ../swapping-real-encoder.parquet --overwrite
crosslens run added.yaml --executor serial --out runs-e5
crosslens results runs-e5/studies/added-change-real-encoder/results.csv --parquet ../swapping-added.parquet --overwrite
