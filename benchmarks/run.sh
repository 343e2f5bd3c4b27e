#!/bin/sh
# Every benchmark, on the treebanks that CROSSLENS_DATA names. Usage: sh benchmarks/run.sh PYTHON
set -e
cd "$(dirname "$0")/.."
python=${1:-python3}
ud=${CROSSLENS_DATA:?name a folder of treebanks in CROSSLENS_DATA}/ud
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tests="$ud/UD_French-PUD/fr_pud-ud-test.conllu $ud/UD_German-PUD/de_pud-ud-test.conllu $ud/UD_Russian-PUD/ru_pud-ud-test.conllu"
train=$ud/UD_English-EWT/en_ewt-ud-train.conllu
# shellcheck disable=SC2086
"$python" benchmarks/make_encoder.py "$work/encoder" "$train" $tests
# shellcheck disable=SC2086
"$python" benchmarks/pos.py "$work/encoder" "$train" $tests
if "$python" -c "import supar" 2>/dev/null; then
  # shellcheck disable=SC2086
  "$python" benchmarks/parsing.py "$work/encoder" "$train" $tests
else
  echo "parsing.py is left out: it needs SuPar (pip install -r benchmarks/supar.txt --no-deps)"
fi
"$python" benchmarks/freezing.py "$work/encoder" "$train"
OMP_NUM_THREADS=1 "$python" benchmarks/similarity.py "$work/encoder"
OMP_NUM_THREADS=1 "$python" benchmarks/lab.py
OMP_NUM_THREADS=1 "$python" benchmarks/studies.py
