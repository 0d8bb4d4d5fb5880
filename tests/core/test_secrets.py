"""Secrets are dots on every page, by their form or because ragbench uses them."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragbench.core.secrets import read_secret
from ragbench.report.page import Page
from ragbench.report.parts import Part


@pytest.mark.parametrize(
    ("used", "text"),
    [
        ("", "cannot connect to postgresql://me:canary-4711@host/db"),
        ("", "GET https://host/v1?x=1&api_key=canary-4711 failed"),
        ("", "Authorization: Bearer canary-4711-token"),
        ("", "wrong key sk-canary-4711-canary-4711"),
        ("canary-4711", "wrong key canary-4711"),
        ("canary-8", "wrong key canary-8"),
        ("canary/47 11", "GET https://host/canary%2F47%2011 failed"),
        ("canary\\47-11", "sent {'key': 'canary\\\\47-11'}"),
    ],
)
def test_what_a_page_says_holds_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, used: str, text: str
) -> None:
    monkeypatch.setattr("ragbench.core.secrets._secrets", set())
    monkeypatch.setenv("MY_KEY", used)
    read_secret("MY_KEY")
    page = Page("Text", [Part(text)]).save(tmp_path / "page.html").read_text(encoding="utf-8")
    assert "••••" in page
    assert "canary" not in page
