#!/bin/sh
# The studies behind unseen.md. CROSSLENS_DATA names a folder with Universal Dependencies, SIB-200 and raw text. The encoders are
# trimmed to the pieces that these corpora need, in both scripts, which changes nothing but their size. Needs the extras e5 and
# translit. Some three hours on two cores; the laboratory takes ten minutes and needs no data.
set -e
cd "$(dirname "$0")/unseen"
export OMP_NUM_THREADS=1
D=$CROSSLENS_DATA

# Every corpus in Latin letters, so that the trimmed vocabularies keep their pieces too.
python - <<'PYTHON'
from crosslens.catalogue import find_corpora, load_corpus, load_text
from crosslens.data.transliteration import transliterate
from crosslens.errors import RequestError
names = [f"ud/{name}" for name in find_corpora("ud", "*", None)] + [f"sib200/{name}" for name in find_corpora("sib200", "*", None)]
words = set()
for name in [*names, "ud/ug_udt:train", "ud/myv_jr:train"]:
    for scheme in ("uroman", "uyghur-latin", "cyrillic-latin"):
        try:
            words |= {word for item in transliterate(load_corpus(name), scheme) for word in item.text.split()}
        except RequestError:
            pass  # it changes nothing
for scheme in ("uroman", "uyghur-latin"):
    words |= {word for item in load_text(f"raw/uig@{scheme}") for word in item.text.split()}
open("latin.txt", "w").write("\n".join(sorted(words)) + "\n")
PYTHON
crosslens encoders get e5-small --characters all --trim-to "$D/ud/*/*.conllu" --trim-to "$D/sib200/*/*.tsv" \
  --trim-to "$D/raw/*.txt" --trim-to latin.txt --out e5-unseen

# A head of a masked language model for it, fitted to text of languages that it knows; the encoder is left alone.
texts=""
for pair in en:en fr:fr de:de ru:ru ar:ar tr:tr fi:fi sw:swa ha:hau yo:yor id:id es:es; do
  head -400 "$D/raw/${pair#*:}.txt" > "head-${pair%:*}.txt"
  texts="$texts --text ${pair%:*}=head-${pair%:*}.txt"
done
crosslens adapt e5-unseen $texts --set epochs=4 --set batch=16 --set learning_rate=2e-3 --set freeze=0-12 --out e5-mlm

for study in zero sib; do crosslens run $study.yaml --out zero; done
for study in adapted typology; do crosslens run $study.yaml --out few; done
crosslens run laboratory.yaml --out laboratory
cp zero/studies/zero-shot/summary.csv zero-shot.csv
cp zero/studies/topics/summary.csv topics.csv
cp few/studies/adapted/summary.csv adapted.csv
crosslens typology few --csv typology.csv
crosslens typology laboratory --csv laboratory.csv

# The rule that is shipped, from the scores of the encoder as it is and adapted.
crosslens encoders get e5-small --out e5-small
python - <<'PYTHON'
import crosslens as xl
from crosslens.data.records import Results
from crosslens.studies.store import Store
from crosslens.unseen.fitting import fit_rule
from crosslens.unseen.rule import write_rule
stores = [Store("zero"), Store("few")]
results = sum((store.records(run) for store in stores for run in store.ids()), Results.of([]))
about = ("zero-shot part-of-speech accuracy of multilingual-e5-small on the first 200 sentences of treebanks of Universal"
         " Dependencies")
write_rule(fit_rule(results, xl.load_encoder("e5-small"), about=about), "measured.csv")
PYTHON
