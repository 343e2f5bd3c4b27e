#!/bin/sh
# The runs behind ner-real-encoder.md: 21 fine-tunings, each evaluated on 6 corpora.
# CROSSLENS_DATA names a folder with WikiANN, laid out as its release: wikiann/en/train, …
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --out encoders/e5-small

for seed in 1 2 3; do
  for layers in none 1-2 3-4 5-6 7-8 9-10 11-12; do
    ablation=$([ $layers = none ] || echo "--random-init $layers")
    # shellcheck disable=SC2086
    crosslens finetune ner encoders/e5-small $ablation --train wikiann/en --test 'wikiann/*' \
      --recipe small --set limit=4000 --seed $seed --out runs/ner-$layers-seed$seed
  done
done

crosslens results runs --csv ner-real-encoder.parquet --overwrite
