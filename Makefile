# Two commands do all the set-up: `make report` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
VENV ?= .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
TORCH = $(PIP) --quiet --require-hashes --retries 2 --extra-index-url $(TORCH_INDEX) -r requirements-torch.lock
LOCKS := requirements.lock requirements-torch.lock requirements-cuda.lock
CALIBRATION_SIMULATIONS ?= 4000
# Which to try; if not given, the newest 3.12 and 3.13 that are found. SMOKE=--brief leaves PyTorch and tests out.
PYTHONS ?=
# A process for every core and one more, each with a database of its own; one that has finished takes over from the
# others.
SIDE_BY_SIDE := -n auto --maxprocesses 4 --dist worksteal
# Each of some hundred processes that tests start would compile the package anew, where a machine says so.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: setup report test browser slow lab check bench soak calibrate audit lock smoke clean

setup: $(READY)

$(READY): pyproject.toml $(LOCKS)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "ragbench needs Python 3.11 or newer; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "Installing ragbench and what it needs into $(VENV), about 2.9 GB; this is quiet and takes some minutes."
	@$(TORCH) || { echo "No CPU build of PyTorch at $(TORCH_INDEX) (TORCH_INDEX= names another index):" \
		"taking the default index's, which on Linux comes with several GB of CUDA."; \
		$(PIP) --require-hashes -r requirements-cuda.lock; }
	@$(PIP) --require-hashes --no-build-isolation -r requirements.lock
	@$(PIP) --no-build-isolation -e .
	@touch $(READY)

report: $(READY)
	$(BIN)/ragbench run

test: $(READY)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "not slow and not browser" --durations=20

browser: $(READY)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "browser and not slow" --durations=20

slow: $(READY)
	$(BIN)/python -m pytest $(SIDE_BY_SIDE) -m "slow or hypothesis" --hypothesis-profile=searching --durations=20

lab: $(READY)
	$(BIN)/ragbench lab

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/nbstripout --keep-id --verify notebooks/*.ipynb

bench: $(READY)
	@for file in benchmarks/bench_*.py; do echo "== $$file"; OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.$$(basename $$file .py); done

calibrate: $(READY)
	$(BIN)/python -m benchmarks.calibration --simulations $(CALIBRATION_SIMULATIONS)

audit: $(READY)
	@folder=$$(mktemp -d) && trap 'rm -rf "$$folder"' EXIT && $(PYTHON) -m venv "$$folder" \
		&& "$$folder/bin/python" -m pip install --quiet --disable-pip-version-check pip-audit \
		&& for file in $(LOCKS); do echo "== $$file"; \
			"$$folder/bin/pip-audit" --disable-pip --require-hashes --no-deps -r $$file || failed=1; done; \
		exit $${failed:-0}

soak: $(READY)
	$(BIN)/python -m benchmarks.soak $(SOAKING)

smoke:
	$(PYTHON) -m tests.release.smoke $(SMOKE) $(PYTHONS)

lock:
	$(PYTHON) -m tests.release.locking $(LOCKING)  # LOCKING=--upgrade takes the newest of all

clean:
	-test -x $(BIN)/ragbench && $(BIN)/ragbench db stop
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build docs/_build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
