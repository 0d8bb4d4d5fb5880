"""Reports of somebody else's project: nothing is published before one answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.old.core.trust.test_hostile import REPORTS, Hostile, assert_asked_first
from tests.old.core.trust.test_hostile import server as server
from tests.old.core.trust.test_hostile import stranger as stranger
from tests.old.llm.chat_server import ChatServer

PROJECTS = {
    "a link deep in its reports": Hostile(links={"reports/20260101T000000-01/parts": "data"},
                                          named="leads to {other}/data", words=("publish", "latest", "--to", "public")),
    "reports of others, published": Hostile(top=REPORTS, named="writes to {other}/reports",
                                            words=("publish", "latest", "--to", "public")),
}  # fmt: skip


@pytest.mark.fault("cloned-projects", tried="hostile projects: one question, nothing run, sent or opened", count=2)
@pytest.mark.parametrize("name", PROJECTS)
def test_nothing_of_it_happens_before_one_answer(
    name: str, stranger: Callable[..., tuple[Path, Path]], server: ChatServer
) -> None:
    assert_asked_first(PROJECTS[name], stranger, server)
