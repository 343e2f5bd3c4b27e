#!/bin/sh
# The alignments behind alignment.md. CROSSLENS_DATA names a folder with raw text, MUSE, Tatoeba, XNLI (dev) and UD; runs-small
# is the store of small.yaml. A quarter of an hour on one core for the laboratory, and two hours for the rest. eflomal,
# which links words, takes no seed.
set -e
cd "$(dirname "$0")/pretraining-factors"
export OMP_NUM_THREADS=1
bilingual() { # STORE PAIR SEED: where the store has the reference of a pair
  python - "$1" "$2" "$3" <<'PYTHON'
import json, sys
from pathlib import Path
for file in sorted(Path(sys.argv[1]).glob("runs/*/run.json")):
    if json.loads(file.read_text())["label"] == f"pretrain {sys.argv[2]} reference seed {sys.argv[3]}":
        print(file.parent / "encoder")
PYTHON
}

# Artificial languages, three seeds: encoders of one language each, none of which starts from the seed of the other, and one of
# both. Last, the encoders of one language before their first step: untrained as pretraining initialises them.
for seed in 1 3 5; do
  mkdir seed-$seed && cd seed-$seed
  for l in src adj sov; do
    crosslens pretrain ../laboratory-monolingual.yaml --set "corpora={$l: lab/$l}" --set seed=$seed --out lab/mono-$l
  done
  crosslens pretrain ../laboratory-monolingual.yaml --set seed=$((seed + 1)) --out lab/mono-src2
  for l in adj sov; do
    crosslens pretrain ../laboratory-monolingual.yaml --set "corpora={src: lab/src, $l: lab/$l}" --set mix=one --set steps=975 \
      --set "validation={lines: 200, every: 488}" --set seed=$seed --out lab/both-$l
    for against in "lab/mono-src2 --against lab/mono-$l" "lab/both-$l"; do
      out=lab/$l-$(echo "$against" | grep -c against || true)
      case $against in *against*) parallel="--parallel lab/all[:300]" ;; *) parallel= ;; esac
      crosslens align words $against --pair src-$l --text "src=lab/src[:6000],$l=lab/$l[:6000]" \
        --train lab/src-$l:train --test lab/src-$l:test --baseline-seeds 2 --seed $seed --out $out-words
      crosslens align sentences $against --pair src-$l --train 'lab/all[:300]' --test 'lab/all[300:]' --baseline-seeds 2 --seed $seed \
        --out $out-sentences
      crosslens compare $against --pairs src-$l --corpus lab/all --measure cka --baseline shuffled,untrained --seed $seed --out $out-cka
      crosslens align transfer pos $against --pair src-$l $parallel --train lab/src \
        --test "lab/src:test[300:],lab/$l:test[300:]" --recipe lab --layers 0,3,6 --baseline-seeds 2 --seed $seed --out $out-pos
    done
  done
  crosslens compare lab/mono-src --against lab/mono-src2 --pairs src-src --corpus lab/all --measure cka --baseline untrained \
    --seed $seed --out lab/src-twice
  for l in src adj sov; do
    crosslens pretrain ../laboratory-monolingual.yaml --set "corpora={$l: lab/$l}" --set seed=$([ $l = src ] && echo $((seed + 1)) || echo $seed) \
      --set steps=1 --set learning_rate=1e-9 --set embedding_learning_rate=1e-9 --set validation=null --out init/raw-$l
  done
  for l in adj sov; do
    crosslens align sentences init/raw-src --against init/raw-$l --pair src-$l --train 'lab/all[:300]' --test 'lab/all[300:]' \
      --baseline none --out init/$l-sentences
  done
  cd ..
done

# Real text, a megabyte a language. The English encoder does not start from the seed of the others.
for l in fr de ru; do
  crosslens pretrain monolingual.yaml --set "corpora={$l: raw/$l}" --out mono-$l
done
crosslens pretrain monolingual.yaml --set "corpora={en: raw/en}" --set seed=2 --out mono-en
crosslens pretrain monolingual.yaml --set "corpora={en: raw/en}" --out mono-en1
for l in fr de ru; do
  cp -r "$(bilingual runs-small en-$l 1)" both-$l
  for against in "mono-en --against mono-$l" both-$l; do
    out=real/$l-$(echo "$against" | grep -c against || true)
    case $against in *against*) parallel="--parallel xnli/dev[:1500]" ;; *) parallel= ;; esac
    crosslens align words $against --pair en-$l --text "en=raw/en,$l=raw/$l" --baseline-seeds 2 --out $out-words
    crosslens align sentences $against --pair en-$l --train 'xnli/dev[:1500]' --test tatoeba/$l --baseline-seeds 2 \
      --out $out-sentences
    crosslens compare $against --pairs en-$l --measure cka --baseline shuffled,untrained --out $out-cka
    crosslens align transfer pos $against --pair en-$l $parallel --train ud/en_ewt \
      --test ud/en_pud,ud/${l}_pud --layers 0,2,4 --recipe small --set limit=2000 --set epochs=4 --set learning_rate=5e-4 \
      --baseline-seeds 2 --out $out-pos
  done
done
crosslens compare mono-en --against mono-en1 --pairs en-en --measure cka --baseline untrained --out real/en-twice

# Two more seeds: four hours and a half.
for seed in 3 5; do
  mkdir real-$seed && cd real-$seed
  crosslens run ../small.yaml --set "conditions=[none]" --set "tasks=[pos]" --set "seeds=[$seed]" --workers 1 --out runs
  for l in fr de ru; do
    crosslens pretrain ../monolingual.yaml --set "corpora={$l: raw/$l}" --set seed=$seed --out mono-$l
    cp -r "$(bilingual runs en-$l $seed)" both-$l
  done
  crosslens pretrain ../monolingual.yaml --set "corpora={en: raw/en}" --set seed=$((seed + 1)) --out mono-en
  crosslens pretrain ../monolingual.yaml --set "corpora={en: raw/en}" --set seed=$seed --out mono-en1
  for l in fr de ru; do
    for against in "mono-en --against mono-$l" both-$l; do
      out=real/$l-$(echo "$against" | grep -c against || true)
      case $against in *against*) parallel="--parallel xnli/dev[:1500]" ;; *) parallel= ;; esac
      crosslens align sentences $against --pair en-$l --train 'xnli/dev[:1500]' --test tatoeba/$l --baseline-seeds 2 \
        --seed $seed --out $out-sentences
      crosslens compare $against --pairs en-$l --measure cka --baseline shuffled,untrained --seed $seed --out $out-cka
      crosslens align words $against --pair en-$l --text "en=raw/en,$l=raw/$l" --baseline-seeds 2 --seed $seed --out $out-words
      crosslens align transfer pos $against --pair en-$l $parallel --train ud/en_ewt \
        --test ud/en_pud,ud/${l}_pud --layers 0,2,4 --recipe small --set limit=2000 --set epochs=4 --set learning_rate=5e-4 \
        --baseline-seeds 2 --seed $seed --out $out-pos
    done
  done
  crosslens compare mono-en --against mono-en1 --pairs en-en --measure cka --baseline untrained --seed $seed --out real/en-twice
  cd ..
done

# A real encoder of 100 languages.
crosslens encoders get e5-small --out e5-small
crosslens align words e5-small --pair en-fr --mapping procrustes --baseline-seeds 2 --out real/e5-fr-words
crosslens align words e5-small --pair en-ru --mapping identity --baseline-seeds 2 --out real/e5-ru-words
crosslens align sentences e5-small --pair en-fr --train ud/pud --test tatoeba/fr --mapping identity --baseline-seeds 2 \
  --out real/e5-fr-sentences
# A row is a way of pretraining where there are several seeds: the seed of its records is pretraining's, and their mean is over seeds.
python - <<'PYTHON'
import re
from dataclasses import replace
import crosslens as xl

def of_seed(each, seed):
    settings = each.settings and re.sub(" ?against_digest=[0-9a-f]+", "", each.settings)
    return replace(each, encoder_digest=None, settings=settings, seed=seed if each.seed is None else each.seed)

records = []
for each in xl.read_results("real"):  # seed 1
    records.append(of_seed(each, 1) if each.encoder.startswith(("mono-", "both-")) else each)
for seed in (3, 5):
    records += [of_seed(each, seed) for each in xl.read_results(f"real-{seed}/real")]
for seed in (1, 3, 5):
    records += [of_seed(each, seed) for folder in ("lab", "init") for each in xl.read_results(f"seed-{seed}/{folder}")]
xl.Results.of(records).write("../alignment.parquet")
PYTHON
cd .. && crosslens report alignment.parquet --out report
