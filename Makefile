# Two commands do all the set-up: `make report` and `make test`.

PYTHON ?= $(shell command -v python3.11 || command -v python3)
BIN := .venv/bin
READY := .venv/.ready
CALIBRATION_SIMULATIONS ?= 2000

.PHONY: setup report test lab check bench calibrate readme lock clean

setup: $(READY)

$(READY): pyproject.toml requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "ragbench needs Python 3.11 or newer; found $$($(PYTHON) --version). Set PYTHON=/path/to/python3.11"; exit 1; }
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@echo "Installing ragbench and what it needs into .venv, about 2.7 GB; this is quiet and takes some minutes."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -c requirements.lock -e '.[dev]'
	@touch $(READY)

report: $(READY)
	$(BIN)/ragbench run

test: $(READY)
	$(BIN)/python -m pytest -m "not slow"

lab: $(READY)
	$(BIN)/ragbench lab

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/nbstripout --keep-id --verify notebooks/*.ipynb

bench: $(READY)
	@for file in tests/benchmarks/bench_*.py; do echo "== $$file"; OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python $$file; done

calibrate: $(READY)
	$(BIN)/python -m tests.calibration --simulations $(CALIBRATION_SIMULATIONS)
	$(BIN)/ragbench run statistics_calibration

readme: $(READY)
	$(BIN)/python -m tests.readme

lock: $(READY)
	@{ sed -n '/^#/p' requirements.lock; $(BIN)/python -m pip freeze --exclude-editable | sed 's/+cpu$$//'; } > requirements.new
	@mv requirements.new requirements.lock

clean:
	-test -x $(BIN)/ragbench && $(BIN)/ragbench db stop
	rm -rf .venv .pytest_cache .mypy_cache .ruff_cache .hypothesis build *.egg-info
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
