# Two commands: `make demo` sets up and runs the main job on built-in data, `make test` sets up and passes all tests.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo check test lint fuzz clean

demo: $(VENV)/.demo
	$(BIN)/wlhn train

# One thread each: small tensors gain nothing from more, and spinning threads lose much on a busy machine.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

# The quick tests: the layout, and the rooms without training.
QUICK = tests/test_architecture.py tests/test_files.py tests/graphs tests/hierarchy tests/hyperbolic tests/loops tests/ops
check: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 $(QUICK)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# Ten thousand malformed inputs over all readers: every one is read or refused in a sentence.
fuzz: $(VENV)/.test
	OMP_NUM_THREADS=1 $(BIN)/python tests/fuzz/fuzz_readers.py

# torch first and alone, at the tested version: a plain `torch` may bring gigabytes of CUDA packages.
$(VENV)/.torch: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	touch $@

$(VENV)/.demo: $(VENV)/.torch pyproject.toml
	$(PIP) -e .
	touch $@

$(VENV)/.test: $(VENV)/.torch pyproject.toml
	$(PIP) -e '.[bench,dev,docs,molecules,parquet,ray,search,transport]'
	touch $@

clean:
	rm -rf $(VENV)
