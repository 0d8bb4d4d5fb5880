"""The table of questions in a real browser: searched, sorted, read to the judged claim by keys alone."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from ragbench.old.core.measurement import Measurement
from tests.old.report.visits import HANDLERS, VIEWS, Visit, build, draw, keep_page
from tests.old.views.measurements import measurement
from tests.old.views.test_show import HOSTILE

pytestmark = pytest.mark.browser
SYSTEMS = ("base", "new")
LINES = "[...document.querySelectorAll('.rb-line .rb-clamp')].map((e) => e.textContent)"
CELLS = (
    "[...document.querySelectorAll('.rb-line')]"
    ".map((e) => [...e.querySelectorAll('[role=gridcell]')].map((c) => c.textContent))"
)


def judged(made: Measurement, statement: str = "The office opens at nine.", reason: str = "It says so.") -> Measurement:
    """The measurement with an answer for every question, and judgements of faithfulness with two claims each."""
    samples = list(made.questions["sample"])
    systems = list(dict.fromkeys(made.scores["system"]))
    detail = {
        "statements": [
            {"statement": statement, "verdict": "supported", "reason": reason, "chunks": ["c1"]},
            {"statement": "Dogs are let in.", "verdict": "contradicted", "reason": reason, "chunks": []},
        ]
    }
    rows = [(s, "mrr", q, "judge", 0.5, "ok", reason, 0.1, json.dumps(detail)) for s in systems for q in samples]
    answers = [(s, q, f"{s} answers: {statement}") for s in systems for q in samples]
    columns = ["system", "metric", "sample", "judge", "value", "status", "reason", "seconds", "detail"]
    extra = {
        "judgements": pd.DataFrame(rows, columns=columns),
        "answers": pd.DataFrame(answers, columns=["system", "sample", "response"]),
    }
    return replace(made, extra=extra)


TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"


@pytest.fixture(scope="module")
def made() -> Measurement:
    found = judged(measurement(SYSTEMS, ("mrr", "hit_rate@1"), 300, notebook="page"))
    kinds = ["well_formed" if i % 3 else "colloquial" for i in range(300)]
    scores = found.scores.copy()
    lost = (scores["sample"] == "q7") & (scores["metric"] == "mrr") & (scores["system"] == "new")
    scores.loc[lost, ["value", "status", "reason"]] = [np.nan, "judge_error", "away"]
    return replace(found, questions=found.questions.assign(kind=kinds), scores=scores)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, made: Measurement) -> Path:
    return build(tmp_path_factory.mktemp("run"), made)


def values(made: Measurement, metric: str, system: str) -> pd.Series:
    own = made.scores[(made.scores["metric"] == metric) & (made.scores["system"] == system)]
    return own.set_index("sample")["value"]


def test_questions_are_scrolled_searched_filtered_and_sorted(browser: Any, folder: Path, made: Measurement) -> None:
    page = folder / "page.html"
    with Visit(browser, page) as visit:
        visit.page.locator(".rb-table").scroll_into_view_if_needed()
        visit.page.wait_for_selector(".rb-line")
        status = visit.page.locator(".rb-table [role=status]")
        assert status.inner_text() == "300 of 300 questions"
        assert len(visit.run(LINES)) < 60, "only the rows that are seen are there"
        seen = set()
        for step in range(0, 300, 8):
            visit.run(f"document.querySelector('.rb-grid-of-questions').scrollTop = {step} * 54")
            visit.page.evaluate(TWO_FRAMES)  # the first one tells of the scrolling
            seen |= set(visit.run(LINES))
        assert len(seen) == 300, "scrolling shows every row"
        visit.page.fill(".rb-controls input", "question 29 answer")
        assert status.inner_text() == "13 of 300 questions", "every word is somewhere in the text: 29, 129, 290, …"
        assert visit.run(LINES)[0] == "Where does question 29 find its answer?"
        visit.page.get_by_role("button", name="show all").click()
        visit.page.select_option("select[name=slice]", "kind:colloquial")
        assert status.inner_text() == "100 of 300 questions"
        visit.page.select_option("select[name=sort]", "worst")
        worst = values(made, "mrr", "new")[[f"q{i}" for i in range(0, 300, 3)]].min()
        assert visit.run(CELLS)[0][0] == f"{worst:.3f}"
        visit.page.get_by_role("button", name="show all").click()
        visit.page.select_option("select[name=outcome]", "worse")
        lost = (values(made, "mrr", "new") < values(made, "mrr", "base")).sum()
        assert status.inner_text() == f"{lost} of 300 questions"
        visit.page.select_option("select[name=outcome]", "!judge_error")
        assert status.inner_text() == "1 of 300 questions"
        assert visit.run(CELLS)[0] == ["the judge failed", f"{values(made, 'mrr', 'base')['q7']:.3f}", "—"]
        visit.assert_quiet(folder)


def test_a_number_of_a_table_leads_to_its_questions(browser: Any, folder: Path, made: Measurement) -> None:
    with Visit(browser, folder / "page.html") as visit:
        visit.page.locator(".rb-view-table a[href*='hit_rate'][href*='lost']").first.click()
        visit.page.wait_for_selector(".rb-line")
        first = visit.run(CELLS)[0]
        difference = values(made, "hit_rate@1", "new") - values(made, "hit_rate@1", "base")
        assert first[2] == f"{difference.min():+.3f}".replace("-", "−")
        assert visit.run("document.activeElement.getAttribute('role')") == "grid"
        assert visit.run("document.querySelector('select[name=metric]').selectedOptions[0].textContent") == "hit_rate@1"


def test_the_address_holds_what_is_seen(browser: Any, folder: Path, made: Measurement) -> None:
    """Metric, filters, order and the open question: whoever opens the address sees the same, and back leads back."""
    page = folder / "page.html"
    with Visit(browser, page, hash_="#questions") as visit:
        visit.page.wait_for_selector(".rb-line")
        visit.page.select_option("select[name=metric]", "1")
        visit.page.select_option("select[name=slice]", "kind:colloquial")
        visit.page.get_by_role("button", name="greatest loss first").click()
        assert "slice=" not in visit.run("location.hash"), "a preset shows nothing but what it says"
        visit.page.select_option("select[name=slice]", "kind:colloquial")
        visit.page.fill("input[name=most]", "0.9")
        assert visit.run("location.hash") == "#questions?metric=hit_rate%401&sort=lost&slice=kind%3Acolloquial&most=0.9"
        seen, before = visit.run(CELLS), visit.run("location.hash")
        visit.page.locator(".rb-line").nth(2).click()
        visit.page.wait_for_selector(".rb-detail h3")
        title, address = visit.page.locator(".rb-detail h3").inner_text(), visit.run("location.hash")
        assert address.startswith(before + "&open=q")
        visit.page.go_back()
        visit.page.locator(".rb-detail").wait_for(state="hidden")
        assert visit.run("location.hash") == before
        assert visit.run(CELLS) == seen
    with Visit(browser, page, hash_=address) as visit:
        visit.page.wait_for_selector(".rb-detail h3")
        assert visit.page.locator(".rb-detail h3").inner_text() == title
        assert visit.run(CELLS)[:5] == seen[:5]
        visit.assert_quiet(folder)


def test_answers_and_reasons_are_searched_where_that_is_asked(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "page.html", hash_="#questions?search=passage+17+says") as visit:
        visit.page.wait_for_selector(".rb-table.rb-ready")
        status = visit.page.locator(".rb-table [role=status]")
        assert status.inner_text() == "No question fits."
        visit.page.select_option("select[name=inside]", "all")
        visit.until("document.querySelectorAll('.rb-line').length > 0")
        shown = visit.run(LINES)
        assert shown[0] == "Where does question 12 find its answer?", "the first that retrieved passage 17"
        visit.page.fill("input[name=search]", "rb-chip")
        assert status.inner_text() == "No question fits.", "what people do not see is not searched"


def test_what_is_filtered_is_printed_and_exported(browser: Any, folder: Path, made: Measurement) -> None:
    with Visit(browser, folder / "page.html", hash_="#questions?search=29&sort=worst") as visit:
        visit.page.wait_for_selector(".rb-line")
        with visit.page.expect_download() as download:
            visit.page.get_by_role("button", name="CSV").click()
        table = pd.read_csv(download.value.path(), encoding="utf-8-sig")
        assert len(table) == 13
        assert list(table.columns[:3]) == ["id", "question", "Kind of question"]
        assert table["new mrr"].dropna().is_monotonic_increasing
        own = values(made, "mrr", "new")
        assert table["new mrr"].tolist() == pytest.approx(own[table["id"]].tolist(), abs=5e-4, nan_ok=True)
        visit.run("dispatchEvent(new Event('beforeprint'))")
        assert visit.run("document.querySelectorAll('.rb-printed tbody tr').length") == 13
        visit.assert_quiet(folder)


def test_all_systems_stand_beside_each_other(browser: Any, tmp_path: Path) -> None:
    made = judged(measurement(("a", "b", "c", "d", "e"), ("mrr",), 30, notebook="page"))
    with Visit(browser, build(tmp_path, made) / "page.html", hash_="#questions?against=*&open=q3") as visit:
        visit.page.wait_for_selector(".rb-detail h3")
        assert len(visit.run(CELLS)[0]) == 5
        said = visit.page.locator(".rb-detail").inner_text()
        assert all(f"{name} answers:" in said for name in "abcde")
        visit.assert_whole()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1280, 390])
def test_a_question_shows_all_that_is_known(browser: Any, folder: Path, width: int, scheme: str) -> None:
    with Visit(browser, folder / "page.html", width, scheme, "#q-q12") as visit:
        visit.page.wait_for_selector(".rb-detail h3")
        text = visit.page.locator(".rb-detail").inner_text()
        assert "Where does question 12 find its answer?" in text
        assert "base answers: The office opens at nine." in text
        assert "new answers: The office opens at nine." in text
        assert "supported" in text
        assert "contradicted" in text
        assert "It says so." in text
        assert "Passage 12 says where answers are found." in text
        assert re.search(r"c15 · base: rank 3 · new: rank 3", text)
        visit.see_all()
        visit.assert_whole()
        visit.assert_quiet(folder)


def test_keys_alone_lead_from_the_overview_to_a_judged_claim_and_back(browser: Any, folder: Path) -> None:
    with Visit(browser, folder / "index.html") as visit:
        press = visit.page.keyboard.press
        press("Tab")
        assert visit.run("document.activeElement.className") == "skip"
        _tab_to(visit, "document.activeElement.matches('.rb-cell a')")
        outline = visit.run("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"
        press("Enter")
        visit.page.wait_for_url("**/page.html#metric-*")
        _tab_to(visit, "document.activeElement.matches('a[href^=\"#questions?\"]')")
        press("Enter")
        visit.page.wait_for_selector(".rb-line")
        visit.page.locator("[role=grid]:focus").wait_for()
        press("ArrowDown")
        press("ArrowDown")
        active = visit.run("document.activeElement.getAttribute('aria-activedescendant')")
        assert visit.run(f"document.getElementById({active!r}).getAttribute('aria-rowindex')") == "4"
        press("Enter")
        visit.page.locator(".rb-detail:focus").wait_for()
        assert "contradicted" in visit.page.locator(".rb-claims").first.inner_text()
        press("Escape")
        assert visit.run("document.activeElement.getAttribute('role')") == "grid"
        assert visit.run("document.activeElement.getAttribute('aria-activedescendant')") == active
        for _ in range(3):
            visit.page.go_back()
        visit.page.wait_for_url("**/index.html")
        visit.assert_quiet(folder)


def _tab_to(visit: Visit, there: str) -> None:
    for _ in range(120):
        visit.page.keyboard.press("Tab")
        if visit.run(there):
            return
    raise AssertionError(f"120 steps of Tab never came where {there}")


def test_a_page_without_its_data_says_so(browser: Any, folder: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    shutil.rmtree(copy / "questions")
    with Visit(browser, copy / "page.html") as visit:
        visit.page.locator(".rb-table").scroll_into_view_if_needed()
        visit.page.get_by_text("The data of this table is not beside the page: of-page/table").wait_for()


BREAKS = ("", "\"'`>", "</option></select>", "&quot;&#62;", "--></textarea></title>", "\n\t")
TEXTS = tuple(f"{before}{text}" for before in BREAKS for text in HOSTILE)


@pytest.mark.fault("markup", tried="texts in every slot of a page in a browser", count=114)
def test_a_hundred_hostile_texts_in_every_slot_do_nothing(browser: Any, tmp_path: Path) -> None:
    assert len(set(TEXTS)) >= 100
    every = " ".join(TEXTS)
    systems = (f"base {every[:300]}", f"new {every[300:600]}")
    made = measurement(
        systems, (f"m {every[:200]}", "mrr"), len(TEXTS), chunk=every[:3000], reason=every[:500], notebook=every[:80],
        facts={"dataset": every, "stand_ins": [every], "commit": every, "systems": [{"name": s} for s in systems]},
    )  # fmt: skip
    names = {f"q{i}": f"{text}{i}" for i, text in enumerate(TEXTS)}
    made = judged(made, statement=every[:2000], reason=every[:2000])
    questions = _renamed(made.questions, names).assign(
        text=list(TEXTS), reference=list(TEXTS), kind=list(TEXTS[:50]) + ["k"] * (len(TEXTS) - 50)
    )
    scores, retrieved = _renamed(made.scores, names), _renamed(made.retrieved, names)
    extra = {name: _renamed(table, names) for name, table in made.extra.items()}
    made = replace(made, questions=questions, scores=scores, retrieved=retrieved, extra=extra)
    described = keep_page(tmp_path, made, "<img src=x onerror=alert(1)>&'\"", "en", f"# {every[:500]}", VIEWS)
    draw(tmp_path, [described])
    for path in sorted(tmp_path.glob("*.html")):
        with Visit(browser, path) as visit:
            visit.see_all()
            if visit.page.locator(".rb-line").count():
                visit.page.focus(".rb-grid-of-questions")
                for _ in range(len(TEXTS)):
                    visit.page.keyboard.press("ArrowDown")
                visit.page.keyboard.press("Enter")
                visit.page.wait_for_selector(".rb-detail h3")
                visit.see_all()
            visit.page.mouse.move(640, 500)
            visit.assert_quiet(tmp_path)
            assert visit.run("document.querySelectorAll('iframe, object, embed, form, base').length") == 0
            assert visit.run(HANDLERS) == 0


def _renamed(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    return table.assign(sample=table["sample"].map(names))


@pytest.mark.parametrize("language", ["en", "ru"])
def test_claims_are_marked_and_judges_who_disagree_or_say_nothing_are_a_press_away(
    browser: Any, tmp_path: Path, language: str
) -> None:
    made = judged(
        measurement(SYSTEMS, ("mrr",), 12, notebook="page"), statement="🙂 Passage 3 says: answers are found."
    )
    lines = made.extra["judgements"]
    second = lines.assign(judge="second", value=np.where(lines["sample"] == "q5", 1.0, 0.6))
    scores = made.scores.copy()
    lost = (scores["sample"] == "q7") & (scores["system"] == "new")
    scores.loc[lost, ["value", "status", "reason"]] = [np.nan, "judge_error", "away"]
    others = [lines.assign(metric=name, detail="") for name in ("faithfulness", "context_recall")]
    both = pd.concat([lines, second, *others], ignore_index=True)
    folder = build(tmp_path, replace(made, scores=scores, extra={**made.extra, "judgements": both}), language)
    words = {
        "en": ("judges disagree", "mrr: judge 0.500, second 1.000", "unjudged", "mrr: the judge failed", "supported"),
        "ru": ("судьи расходятся", "mrr: judge 0,500, second 1,000", "без оценки судьи", "mrr: сбой судьи",
               "подтверждено"),
    }[language]  # fmt: skip
    told = "[...document.querySelectorAll('.rb-line .rb-one.rb-quiet')].map((e) => e.textContent)"
    with Visit(browser, folder / "page.html") as visit:
        visit.see_all()
        visit.page.get_by_role("button", name=words[0]).click()
        assert visit.run(told) == [words[1]]
        assert visit.run("location.hash").endswith("outcome=apart")
        visit.page.get_by_role("button", name=words[2]).click()
        assert visit.run(told) == [words[3]]
        visit.page.select_option("select[name=outcome]", "")
        visit.page.locator(".rb-line").nth(3).click()
        visit.page.wait_for_selector(".rb-detail mark")
        marks = visit.run(
            "[...document.querySelectorAll('.rb-detail mark')].map((e) => [e.firstChild.data, e.className])"
        )
        answer = [text for text, _ in marks if text.endswith("Passage 3 says: answers are found.")]
        assert answer == ["new answers: 🙂 Passage 3 says: answers are found.",
                          "base answers: 🙂 Passage 3 says: answers are found."]  # fmt: skip
        sign = visit.page.locator(".rb-detail mark .rb-sign").first
        assert sign.inner_text() == "✓\N{NO-BREAK SPACE}×2", "both judges say so"
        told = [f"mrr · {judge}: {words[4]} — 🙂 Passage 3 says: answers are found." for judge in ("judge", "second")]
        assert sign.get_attribute("aria-label") == "\n".join(told)
        opened = (
            "[...document.querySelectorAll('.rb-side:first-of-type .rb-judgement')].map((e) => [e.innerText, e.open])"
        )
        assert [(name.split()[0], is_open) for name, is_open in visit.run(opened)] == [
            ("mrr", True), ("mrr", True), ("faithfulness", False), ("context_recall", False)
        ], "of many, those of the metric that is looked at"  # fmt: skip
        visit.assert_quiet(folder)
        assert visit.faults() == []
