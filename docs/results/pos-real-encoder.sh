#!/bin/sh
# The runs behind pos-real-encoder.md: 24 fine-tunings, each evaluated on 20 corpora, and similarities of the encoder.
# CROSSLENS_DATA names a folder with UD English-EWT and the PUD treebanks. About two and a half hours on one core of 2.5 GHz.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out encoders/e5-pud

tests=ud/en_ewt
for language in ar cs de en es fi fr hi id it ja ko pl pt ru sv th tr zh; do
  tests="$tests,ud/${language}_pud[:500]"
done

for seed in 1 2 3; do
  for layers in none 1-2 3-4 5-6 7-8 9-10 11-12 all; do
    ablation=$([ $layers = none ] || echo "--random-init $layers")
    # shellcheck disable=SC2086
    crosslens finetune pos encoders/e5-pud $ablation --train ud/en_ewt --test "$tests" \
      --recipe small --set limit=2000 --seed $seed --out runs/pos-$layers-seed$seed
  done
done

compare="crosslens compare --corpus ud/pud --pairs en-* --sentences 500"
set -f
$compare encoders/e5-pud --out runs/similarity-pretrained
$compare encoders/e5-pud --random-init 0,all --out runs/similarity-untrained

crosslens results runs --csv pos-real-encoder.parquet --overwrite
