# Two commands: `make demo` sets up and runs the main job on built-in data, `make test` sets up and passes all tests.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo check test fuzz soak lint clean

demo: $(VENV)/.demo
	$(BIN)/wlhn train
	$(BIN)/wlhn evaluate MUTAG --grid defaults --final-runs 1 --out runs/MUTAG-ten-folds

# One thread each: small tensors gain nothing from more, and spinning threads lose much on a busy machine.
test: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal

# The quick tests: the layout, and the rooms without training.
QUICK = tests/test_architecture.py tests/test_files.py tests/graphs tests/hierarchy tests/hyperbolic tests/loops tests/ops
check: lint
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist worksteal $(QUICK)

# Malformed inputs by the thousand, and an hour of faults; see docs/reliability.md. Others: make fuzz SEED=7
SEED ?= 0
fuzz: $(VENV)/.test
	for script in tests/fuzz/fuzz_*.py; do OMP_NUM_THREADS=1 $(BIN)/python $$script --seed $(SEED) || exit 1; done

soak: $(VENV)/.test
	$(BIN)/python tests/soak/soak.py --seconds 3600 --seed $(SEED)

lint: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

# torch first and alone, at the tested version: a plain `torch` may bring gigabytes of CUDA packages.
$(VENV)/.torch: constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(PIP) torch
	touch $@

$(VENV)/.demo: $(VENV)/.torch pyproject.toml
	$(PIP) -e .
	touch $@

$(VENV)/.test: $(VENV)/.torch pyproject.toml
	$(PIP) -e '.[bench,dev,docs,hub,mlflow,molecules,parquet,ray,search,tensorboard,transport]'
	touch $@

clean:
	rm -rf $(VENV)
