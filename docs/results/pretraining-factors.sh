#!/bin/sh
# The runs behind pretraining-factors.md. CROSSLENS_DATA names a folder with raw text (raw/en.txt, …), MUSE and UD. About 80 minutes
# for the artificial languages and 75 for real text, on one free core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1
cd "$(dirname "$0")/pretraining-factors"

crosslens run laboratory.yaml --workers 1 --out runs-lab
crosslens run small.yaml --workers 1 --out runs-small # made on 2026-11-21
crosslens results runs-lab runs-small --csv ../pretraining-factors.parquet --overwrite
crosslens report runs-lab --spread interval --out report
