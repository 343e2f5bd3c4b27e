#!/bin/sh
# The runs behind pretraining-factors.md. CROSSLENS_DATA names a folder with raw text (raw/en.txt, …), MUSE and UD. About 80 minutes
# for the artificial languages and four hours for real text, on one free core of 2.5 GHz. The page's runs of real text come from a GPU (nine
# processes side by side, five minutes for 72 of the 108 runs).
set -e
export OMP_NUM_THREADS=1
cd "$(dirname "$0")/pretraining-factors"

crosslens run laboratory.yaml --workers 1 --out runs-lab
crosslens run small.yaml --workers 1 --out runs-small
crosslens results runs-lab runs-small --csv ../pretraining-factors.parquet --overwrite
crosslens report runs-lab --spread interval --out report
