#!/bin/sh
# The main job on a few real sentences: does a tagger that saw English only tag other languages, and what becomes of
# that when the lowest or the highest layers of the encoder are drawn anew?
#
# 400 sentences of UD English-EWT train it; 50 parallel sentences of UD PUD in six languages test it
# (examples/sample/README.md has their sources and licences). The encoder is multilingual-e5-small, from PyPI.
set -e
cd "$(dirname "$0")/.."
out=${OUT:-runs/demo}
rm -rf "$out" && mkdir -p "$out"
export CROSSLENS_DATA="$PWD/examples/sample"

crosslens encoders get e5-small --trim-to 'examples/sample/ud/*/*.conllu' --out "$out/e5-small"

for layers in none 1-2 11-12; do
  ablation=$([ $layers = none ] || echo "--random-init $layers")
  # shellcheck disable=SC2086
  crosslens finetune pos "$out/e5-small" $ablation --train ud/en_ewt --test 'ud/*_pud' \
    --recipe small --set batch=8 --set epochs=3 --seed 1 --out "$out/pos-$layers" >/dev/null
done
crosslens compare "$out/e5-small" --corpus ud/pud --pairs 'en-*' --out "$out/similarity" >/dev/null

crosslens results "$out"
