#!/bin/sh
# The alignments behind alignment.md. CROSSLENS_DATA names a folder with raw text, MUSE, Tatoeba, XNLI (dev) and UD; runs is
# the store of laboratory.yaml and small.yaml. Half an hour on one core. eflomal, which links words, takes no seed.
set -e
cd "$(dirname "$0")/pretraining-factors"
export OMP_NUM_THREADS=1
bilingual() { # NAME PAIR: where the store has the reference of a pair
  python - "$1" "$2" <<'PYTHON'
import json, sys
from pathlib import Path
for file in sorted(Path(sys.argv[1]).glob("runs/*/run.json")):
    if json.loads(file.read_text())["label"] == f"pretrain {sys.argv[2]} reference seed 1":
        print(file.parent / "encoder")
PYTHON
}

# Artificial languages: encoders of one language each, and the bilingual one.
for l in src adj gen sov; do
  crosslens pretrain laboratory-monolingual.yaml --set "corpora={$l: lab/$l}" --out lab/mono-$l
done
crosslens pretrain laboratory-monolingual.yaml --set seed=2 --out lab/mono-src2
for l in adj gen sov; do
  for against in "lab/mono-src --against lab/mono-$l" "$(bilingual runs-lab src-$l)"; do
    out=lab/$l-$(echo "$against" | grep -c against)
    crosslens align words $against --pair src-$l --text "src=lab/src[:6000],$l=lab/$l[:6000]" \
      --train lab/src-$l:train --test lab/src-$l:test --out $out-words
    crosslens align sentences $against --pair src-$l --train 'lab/all[:300]' --test 'lab/all[300:]' --out $out-sentences
    crosslens compare $against --pairs src-$l --corpus lab/all --measure cka --null shuffled,untrained --out $out-cka
    for task in pos parsing; do
      crosslens align transfer $task $against --pair src-$l --parallel 'lab/all[:300]' --train lab/src \
        --test "lab/src:test[300:],lab/$l:test[300:]" --recipe lab --out $out-$task
    done
  done
done
for against in "lab/mono-src --against lab/mono-adj" "$(bilingual runs-lab src-adj)"; do
  crosslens align transfer ner $against --pair src-adj --parallel 'lab/all[:300]' --train lab/src \
    --test 'lab/src:test[300:],lab/adj:test[300:]' --recipe lab --layers 0,2,4,6 \
    --out lab/adj-$(echo "$against" | grep -c against)-ner
done
crosslens compare lab/mono-src --against lab/mono-src2 --pairs src-src --corpus lab/all --measure cka --out lab/src-twice
# One language twice in one encoder, with embeddings of its own each time.
crosslens pretrain laboratory-twice.yaml --out lab/both
crosslens lab export --preset good --out lab-files
crosslens compare lab/both --pairs src-src-x-two --corpus src=lab-files/src/test.conllu,src-x-two=lab-files/src/test.conllu \
  --measure cka --null shuffled,untrained --out lab/src-both

# Real text, a megabyte a language.
for l in en fr de ru; do
  crosslens pretrain monolingual.yaml --set "corpora={$l: raw/$l}" --out mono-$l
done
crosslens pretrain monolingual.yaml --set seed=2 --out mono-en2
for l in fr de ru; do
  for against in "mono-en --against mono-$l" "$(bilingual runs-small en-$l)"; do
    out=real/$l-$(echo "$against" | grep -c against)
    crosslens align words $against --pair en-$l --text "en=raw/en,$l=raw/$l" --out $out-words
    crosslens align sentences $against --pair en-$l --train 'xnli/dev[:1500]' --test tatoeba/$l --out $out-sentences
    crosslens compare $against --pairs en-$l --measure cka --null shuffled,untrained --out $out-cka
    crosslens align transfer pos $against --pair en-$l --parallel 'xnli/dev[:1500]' --train ud/en_ewt \
      --test ud/en_pud,ud/${l}_pud --layers 0,2,4 --recipe small --set limit=2000 --set epochs=4 --set learning_rate=5e-4 \
      --out $out-pos
  done
done
crosslens compare mono-en --against mono-en2 --pairs en-en --measure cka --out real/en-twice

# A real encoder of 100 languages.
crosslens encoders get e5-small --out e5-small
for mapping in none procrustes; do
  for l in fr ru; do
    crosslens align words e5-small --pair en-$l --mapping $mapping --out real/e5-$l-words-$mapping
  done
  crosslens align sentences e5-small --pair en-fr --train ud/pud --test tatoeba/fr --mapping $mapping \
    --out real/e5-fr-sentences-$mapping
done
crosslens results lab real --csv ../alignment.parquet
