#!/bin/sh
# The runs behind checkpoints.md: artificial languages, no data needed. Half an hour for three seeds on one core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1
crosslens run checkpoints/lab.yaml --executor serial --out runs-checkpoints
crosslens results runs-checkpoints --parquet checkpoints.parquet --overwrite
