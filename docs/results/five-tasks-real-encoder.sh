#!/bin/sh
# The runs behind five-tasks-real-encoder.md. CROSSLENS_DATA names a folder with UD English-EWT, the PUD treebanks,
# SIB-200, XNLI (XTREME's layout) and labelled sentences in many languages (langid). Some three to four hours of one core.
set -e
export OMP_NUM_THREADS=1
cd "$(dirname "$0")/five-tasks"

crosslens encoders get e5-small --out e5-small
crosslens encoders get e5-small --trim-to "$CROSSLENS_DATA/ud/UD_English-EWT/*.conllu" \
  --trim-to "$CROSSLENS_DATA/ud/UD_*-PUD/*.conllu" --out e5-pud

for study in documents documents-features pos pos-features nli parsing-off parsing-gold parsing-masked; do
  crosslens run $study.yaml --executor serial --out store
done

probe="crosslens probe langid e5-small --train langid/all --test langid/all"
$probe --out langid
$probe --inputs raw --out langid-raw
$probe --random-init 0,all --out langid-untrained
for seed in 2 3; do # for the range of the accuracies; not in the records
  $probe --seed $seed --out langid-$seed
  $probe --seed $seed --inputs raw --out langid-raw-$seed
  $probe --seed $seed --random-init 0,all --out langid-untrained-$seed
done

crosslens overlap e5-small --train sib200/eng_Latn --test 'sib200/*' --out overlap-document
crosslens overlap e5-small --train 'xnli/en:dev[1500:2490]' --test 'xnli/*:dev[:1500]' --out overlap-nli
crosslens overlap e5-pud --train ud/en_ewt --test 'ud/*_pud[:300]' --out overlap-pos

crosslens results store langid langid-raw langid-untrained overlap-document overlap-nli overlap-pos \
  --csv five-tasks-real-encoder.parquet --overwrite
crosslens report five-tasks-real-encoder.parquet --beside wu2019 --out report
crosslens correlate five-tasks-real-encoder.parquet --measures overlap_types,overlap_tokens --coefficient pearson
