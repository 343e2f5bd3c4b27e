#!/bin/sh
# The runs behind pretraining-factors.md. CROSSLENS_DATA names a folder with raw text (raw/en.txt, …), MUSE and UD. An hour and a
# quarter for the laboratory and as long for the rest, on one core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1
cd "$(dirname "$0")/pretraining-factors"

crosslens run laboratory.yaml --workers 1 --out runs-lab
crosslens run small.yaml --workers 1 --out runs-small
crosslens results runs-lab runs-small --csv ../pretraining-factors.parquet
crosslens report runs-lab --spread interval --out report
