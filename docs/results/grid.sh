#!/bin/sh
# The runs behind grid.md, on artificial languages: no data needed. Some ten minutes on one core.
set -e
study="first-align-then-predict --set encoder=lab:good --set data=lab --set depth=6 --set conditions=[none,1-2,3-4,5-6,all] \
  --set tasks=[pos,parsing,ner] --set seeds=3"
# shellcheck disable=SC2086
crosslens run $study --set name=one-recipe --out runs-grid
# shellcheck disable=SC2086
crosslens run $study --set name=searched --out runs-grid \
  --set "grid={each: condition, batch: [16, 32], learning_rate: [3e-4, 1e-3, 3e-3]}"
crosslens results runs-grid/studies/*/results.csv --parquet grid.parquet --overwrite
