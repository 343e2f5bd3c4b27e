# make demo   the finding on artificial languages, with all the set-up a fresh machine needs
# make test   the default tests
# make check  formatting, lint, types, floors, documentation site, tests
#             (those that depend on rounding a second time, as another machine would round)
# make site   the documentation as a site, in site/
# make notebooks  run docs/notebooks and keep their outputs, some five minutes
# make browser  the tests that open the page in Chromium (apt-get install chromium), about two minutes
# make lowest the default tests on the lowest versions that pyproject.toml admits (its torch pulls gigabytes of CUDA)
# make bench  speed, as ratios against other programs in the same run (needs CROSSLENS_DATA)
# make mutants  how many small mistakes in the source the tests notice: a sample, an hour or so
# make audit  look the pinned versions up among known vulnerabilities (PyPI's advisories)
# make bench-gpu  the same question of a GPU

PYTHON ?= python3
VENV ?= .venv
OUT ?= demo
SITE ?= site
RUN = $(VENV)/bin
ELSEWHERE = OMP_NUM_THREADS=2 ONEDNN_MAX_CPU_ISA=AVX2 MKL_ENABLE_INSTRUCTIONS=AVX2
READY = $(VENV)/.ready

# Images of containers often set it. Tests start hundreds of programs, each of which would compile the package again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check lint types site notebooks browser fix lowest bench bench-gpu mutants audit clean

demo: $(READY)
	$(RUN)/crosslens demo --out $(OUT)

test: $(READY)
	$(RUN)/python -m pytest

check: $(READY)
	$(MAKE) -j 2 lint types site
	OMP_NUM_THREADS=1 $(RUN)/python -m pytest -n 2 --dist loadfile --no-loadscope-reorder
	$(ELSEWHERE) $(RUN)/python -m pytest -m rounding --no-onednn --rounding 1 $$(grep -rl mark.rounding tests --include 'test_*.py')

lint: $(READY)
	$(RUN)/ruff format --check src tests benchmarks
	$(RUN)/ruff check src tests benchmarks
	$(RUN)/lint-imports

types: $(READY)
	$(RUN)/pyright --pythonpath $(RUN)/python

site: $(READY)
	NO_MKDOCS_2_WARNING=1 $(RUN)/mkdocs build --quiet --strict --site-dir $(SITE)

notebooks: $(READY)
	OMP_NUM_THREADS=1 $(RUN)/python docs/make_notebooks.py

browser: $(READY)
	$(RUN)/pip install -q playwright axe-playwright-python pillow
	OMP_NUM_THREADS=1 $(RUN)/python -m pytest -rs -m 'browser and not slow' tests/report

fix: $(READY)
	$(RUN)/ruff check --fix src tests benchmarks
	$(RUN)/ruff format src tests benchmarks

lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/pip install -q -r constraints-lowest.txt
	$(VENV)-lowest/bin/pip install -q --no-deps -e .
	OMP_NUM_THREADS=1 $(VENV)-lowest/bin/python -m pytest -n 2 --dist loadfile

bench: $(READY)
	$(RUN)/pip install -q -c constraints.txt '.[bench]'
	$(RUN)/pip install -q --no-deps -r benchmarks/peers.txt
	sh benchmarks/run.sh $(RUN)/python

mutants: $(READY)
	$(RUN)/pip install -q -c constraints.txt -e '.[mutants]'
	OMP_NUM_THREADS=1 nice $(RUN)/python tests/mutants.py --each 20 --seed 1 --least 40

# Where PyPI's advisories cannot be reached, tests/advisories.txt stands in; with AUDIT=--strict, that is a failure.
audit:
	$(PYTHON) -m venv $(VENV)-audit
	-$(VENV)-audit/bin/pip install -q pip-audit
	$(VENV)-audit/bin/python tests/audit.py constraints.txt $(AUDIT)

UD = $(CROSSLENS_DATA)/ud
bench-gpu: $(READY)
	$(RUN)/python benchmarks/gpu.py $(UD)/UD_English-EWT/en_ewt-ud-train.conllu $(UD)/UD_French-PUD/fr_pud-ud-test.conllu

# torch comes first and alone: where a CPU build of this very version is at hand (PIP_EXTRA_INDEX_URL can name
# PyTorch's own index of them), that one is taken, and not gigabytes of CUDA.
$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(RUN)/python -m pip install -q --upgrade pip
	$(RUN)/pip install -q -c constraints.txt torch
	$(RUN)/pip install -q -c constraints.txt -e '.[e5,dev,docs]'
	touch $@

clean:
	rm -rf $(VENV) $(VENV)-audit demo runs mutants build dist .pytest_cache .ruff_cache .hypothesis .import_linter_cache
