"""What people type wrongly, to publish: the thing, the value and the way out."""

from __future__ import annotations

import pytest

from tests.old.cli.command_line import invoke as call
from tests.old.cli.test_faults import said
from tests.old.cli.test_faults import there as there


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("publish latest --to scores.csv/site", "is a file; name a folder"),
        ("publish latest --to site -l fr", "'fr': en or ru is expected"),
        ("render latest -l fr", "'fr': en or ru is expected"),
    ],
)
@pytest.mark.usefixtures("there")
def test_a_fault_names_the_thing(words: str, expected: str) -> None:
    done = call(*words.split())
    assert done.exit_code != 0
    assert expected in said(done)
