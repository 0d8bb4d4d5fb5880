"""Seeds of the random tables that peers are compared on: some in every test run, all two hundred with the slow ones."""

from __future__ import annotations

import pytest

IN_EVERY_RUN = 20
TABLES = [pytest.param(seed, marks=[pytest.mark.slow] if seed >= IN_EVERY_RUN else []) for seed in range(200)]
