"""What tests of tiers share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.old.tiers import decided_project


@pytest.fixture
def labelled(project: Path) -> Path:
    """The small project with labelled decisions, and judges of them."""
    return decided_project.write(project)
