#!/bin/sh
# The runs behind similarity-real-encoder.md: 12 fine-tunings and 16 encoders compared. CROSSLENS_DATA names a folder with UD English-EWT
# and the PUD treebanks. Two to three hours of one core. Of the fine-tunings of seeds 2 and 3, only similarities were kept: the
# scores on the page are of the same runs, trained as pos-real-encoder.sh and parsing-real-encoder.sh do in earlier versions.
set -e
export OMP_NUM_THREADS=1

crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out encoders/e5-pud

crosslens run similarity-real-encoder.yaml --out store
for seed in 2 3; do  # of the untrained encoder
  crosslens compare encoders/e5-pud --random-init 0,all --seed $seed --pairs 'en-*' --sentences 500 --out untrained-$seed \
    --measure cka,cka_debiased,cka_shuffled,cka_length_matched,retrieval,mexa,anc
done
crosslens results store untrained-2 untrained-3 --parquet similarity-real-encoder.parquet --overwrite

crosslens compare encoders/e5-pud --pairs en-fr,en-de,en-ru,en-ar,en-zh --measure cka,cka=muller2021-code \
  --baseline shuffled --sentences 500 --out code
crosslens results code --csv published-script.parquet --overwrite
