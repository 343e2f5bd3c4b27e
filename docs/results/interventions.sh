#!/bin/sh
# The runs behind interventions.md, on artificial languages: no data needed. Some five minutes on two cores.
set -e
crosslens run seven-interventions --set encoder=lab:good --set data=lab --set seeds=3 --out runs-interventions
crosslens results runs-interventions/studies/*/results.csv --parquet interventions.parquet
