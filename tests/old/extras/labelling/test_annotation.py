"""Drafts reviewed in a plain page of a real browser: by keys, with undo and notes, and taken in from what it saves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragbench.old import data
from ragbench.old.data.records import ChunkRecord, QuestionRecord
from ragbench.old.extras.labelling import annotation
from tests.old.cli.command_line import ragbench
from tests.old.report.visits import WATCH

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\u202e{{ 7 * 7 }}"
TEXTS = ["When does it open?", f'=HYPERLINK("x"), {HOSTILE}', "Where?", "Who?"]


def drafted(folder: Path) -> None:
    questions = [
        QuestionRecord(id=f"q{n}", text=text, reference="At nine.", relevant={"a": 1.0}, draft="unreviewed")
        for n, text in enumerate(TEXTS)
    ]
    records = data.Records(chunks=[ChunkRecord(id="a", text=f"It opens at nine. {HOSTILE}")], questions=questions)
    data.write(
        "kb", folder / "data", chunks=records.chunks, questions=records.questions, title="KB", licence="CC0",
        source="x", language="en",
    )  # fmt: skip
    (folder / "ragbench.toml").write_text('dataset = "kb"\n', encoding="utf-8")


def told(*words: str) -> str:
    done = ragbench(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.usefixtures("bare")
def test_what_is_reviewed_in_a_page_comes_back_as_it_was_given(tmp_path: Path, browser: Any) -> None:
    drafted(tmp_path)
    assert "4 drafts are in" in told("review", "kb", "--annotator", "anna", "--page", "anna.html")
    page = browser.new_page(accept_downloads=True)
    page.add_init_script(WATCH)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "anna.html").as_uri())
    shown = page.locator(".rb-label-body section").first.locator("p")
    assert shown.inner_text() == TEXTS[0]
    keys = page.keyboard
    keys.press("1")
    assert shown.inner_text().startswith('=HYPERLINK("x"), </script><script>'), "a text, not markup"
    keys.press("0")
    keys.press("u")
    assert shown.inner_text().startswith("=HYPERLINK"), "the rejection is taken back"
    keys.press("2")
    assert "Write the question into the note first" in page.locator(".rb-label-said").inner_text()
    keys.press("n")
    keys.type('-When, "exactly"?')
    keys.press("Escape")
    keys.press("2")
    keys.press("0")
    page.reload()
    assert page.locator(".rb-label-count").inner_text() == "3 / 4"
    assert shown.inner_text() == TEXTS[3], "the first that is not reviewed"
    with page.expect_download() as saved:
        page.get_by_role("button", name="save the file").click()
    saved.value.save_as(tmp_path / "back.csv")
    assert page.evaluate("window.__fired") == []
    assert {url.partition(":")[0] for url in asked} <= {"file", "blob"}
    page.close()
    assert "3 reviews by anna are kept" in told("review", "kb", "--annotator", "anna", "--take", "back.csv")
    given = {name: own["anna"] for name, own in annotation.read("kb:en").items()}
    assert given == {"q0": (1.0, ""), "q1": (2.0, '-When, "exactly"?'), "q2": (0.0, "")}
    told("review", "kb", "--apply")
    kept = {question.id: question for question in data.load("kb", tmp_path / "data").questions}
    assert {name: (question.text, question.draft) for name, question in kept.items()} == {
        "q0": (TEXTS[0], "reviewed"), "q1": ('-When, "exactly"?', "reviewed"), "q3": (TEXTS[3], "unreviewed")
    }  # fmt: skip
