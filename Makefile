# Two commands do all the set-up: `make report` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
TESTS := $(VENV)/.tests
DOCS := $(VENV)/.docs
# Not compiled: Python compiles the few modules that are imported, once, when they first are.
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-compile
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH = $(PIP) --require-hashes --retries 2 --extra-index-url $(TORCH_INDEX) -r requirements-torch.lock
# A process for every core and one more: much of a test's time is waiting for servers and kernels.
SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist worksteal
# Each process that tests start would compile the package anew, where a machine says so.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup report test browser slow lab docs check bench calibrate lock clean

setup: $(READY)

$(READY): pyproject.toml requirements.lock requirements-torch.lock requirements-cuda.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "ragbench needs Python 3.11 or newer; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing ragbench and what it needs into $(VENV); this is quiet and takes some minutes."
	@$(TORCH) || { echo "No CPU build of PyTorch at $(TORCH_INDEX) (TORCH_INDEX= names another index):" \
		"taking the default index's, which on Linux comes with several GB of CUDA."; \
		$(PIP) --require-hashes -r requirements-cuda.lock; }
	@$(PIP) --require-hashes --no-build-isolation -r requirements.lock
	@$(PIP) --no-build-isolation -e .
	@touch $(READY)

# What tests need besides.
$(TESTS): $(READY) requirements-test.lock
	@$(PIP) --require-hashes --no-build-isolation -r requirements-test.lock
	@touch $(TESTS)

# What the site of the documents needs besides.
$(DOCS): $(READY) requirements-docs.lock
	@$(PIP) --require-hashes --no-build-isolation -r requirements-docs.lock
	@touch $(DOCS)

# Who types `make` here says that this folder may be used.
report: $(READY)
	@$(BIN)/ragbench trust .
	$(BIN)/ragbench run

test: $(TESTS)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow and not browser" --durations=15

browser: $(TESTS)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "browser and not slow"

slow: $(TESTS)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m slow

lab: $(READY)
	@$(BIN)/ragbench trust .
	$(BIN)/ragbench lab

docs: $(DOCS)
	$(BIN)/mkdocs build --quiet
	@echo "The site is in build/site; to search in it: $(BIN)/python -m http.server --directory build/site"

check: $(TESTS)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/nbstripout --keep-id --verify notebooks/*.ipynb ragbench/extras/*/*.ipynb

bench: $(TESTS)
	@for file in tests/benchmarks/bench_*.py; do echo "== $$file"; \
		OMP_NUM_THREADS=1 $(BIN)/python -m tests.benchmarks.$$(basename $$file .py); done

calibrate: $(TESTS)
	$(BIN)/python -m tests.calibration

lock:
	$(PYTHON) -m tests.release.locking $(LOCKING)  # LOCKING=--upgrade takes the newest of all

clean:
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
