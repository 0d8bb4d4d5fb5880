"""Views of judged answers: statements with verdicts and passages, formulas, what is missing, what goes together."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import Any

import pytest

from ragbench.old import views
from ragbench.old.core.measurement import Measurement, NamedEstimate
from ragbench.old.core.types import Chunk, Estimate, Sample, Score, Status
from ragbench.old.judge import Rule
from ragbench.old.llm import run
from ragbench.old.metrics import catalogue
from ragbench.old.tiers.answers.rag_metrics import Made, measurement_of
from ragbench.old.tiers.scoring.ledger import Row
from ragbench.old.tiers.scoring.measure import Asked, applicable, measure
from ragbench.old.tiers.scoring.scored_answers import Scores
from ragbench.old.tiers.scoring.table_sources import of_samples
from ragbench.old.views import Page
from tests.old.embed.scripted_embedder import ScriptedEmbedder
from tests.old.judge.scripted_judge import ScriptedJudge, claims, entailment
from tests.old.views.measurements import measurement

HOSTILE = "</script><script>alert(1)</script> <img src=x onerror=alert(2)> & $x$"
PAYLOAD = re.compile(r'<script type="application/json">(.*?)</script>', re.DOTALL)
VIEWS = ("verdicts", "correlations", "side_by_side", "unmeasured")
CHUNKS = (Chunk("c1", "Paris is in France."), Chunk("c2", "The tower is 330 metres high."))
JUDGED = (
    "faithfulness", "factual_correctness", "answer_correctness", "context_precision", "context_recall",
    "context_entity_recall", "noise_sensitivity", "response_relevancy", "response_groundedness", "rubrics_score",
    "aspect_critique",
)  # fmt: skip


def judge() -> ScriptedJudge:
    return ScriptedJudge(
        entities={"entities": ["Paris", "France"]},
        context_precision=lambda texts: {
            "reason": f"of {texts['context'][:5]}",
            "verdict": "useful" if "Paris" in texts["context"] else "useless",
        },
        claims=lambda texts: claims(f"{texts['text']} (1)", f"{texts['text']} (2)"),
        entailment=lambda texts: entailment(
            *[(1, "contradicted")[place] for place in range(len(texts["statements"]))], passages=[1]
        ),
        response_relevancy={"questions": [{"question": "Where?", "manner": "committal"},
                                          {"question": "Well?", "manner": "noncommittal"}]},
        response_groundedness={"reason": "half of it", "rating": 1},
        rubrics_score={"reason": "nearly all", "level": 2},
        aspect_critique={"reason": "it is right", "verdict": "yes"},
    )  # fmt: skip


def sample(name: str = "s1", **changed: Any) -> Sample:
    made = Sample(
        name,
        user_input="Where is Paris?",
        response="In France.",
        reference="It lies in France. It is old.",
        contexts=CHUNKS,
        rubric={1: "bad", 2: "good", 3: "best"},
        language="en",
    )
    return replace(made, **changed)


def scored(samples: list[Sample], names: tuple[str, ...] = JUDGED, by: ScriptedJudge | None = None) -> Measurement:
    vectors: dict[str, list[float]] = {"Where?": [1, 0], "Well?": [0.6, 0.8]}
    for one in samples:
        vectors |= {text: [1, 0] for text in (one.user_input, one.response, one.reference) if text}
    metrics = applicable(samples, [catalogue()[name] for name in names])
    asked = Asked((by or judge(),), ScriptedEmbedder(vectors), resamples=200)
    found = run(measure(samples, metrics, asked))
    return measurement_of(found, of_samples(samples, "answers.jsonl"), Made(("scripted",), Rule(), ("hashing",)))


@pytest.fixture(autouse=True)
def _no_judge_is_configured(monkeypatch: pytest.MonkeyPatch) -> None:
    from ragbench.old.tiers.scoring import judged_metrics

    monkeypatch.setattr(judged_metrics, "listed", lambda *_: [{"name": "scripted", "stand_in": False}])


@pytest.fixture(scope="module")
def page() -> Page:
    with pytest.MonkeyPatch.context() as patch:
        from ragbench.old.tiers.scoring import judged_metrics

        patch.setattr(judged_metrics, "listed", lambda *_: [{"name": "scripted", "stand_in": False}])
        return Page(scored([sample(), sample("s2", response="In Spain.")]))


def cells(html: str) -> list[list[str]]:
    """The texts of the tables' body rows."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.DOTALL)
    return [re.sub(r"<[^>]+>", "\x00", row).replace("\x00", "|").split("|") for row in rows]


def drawn(page: Page, count: int = 5, *more: str) -> str:
    return str(views.answers.verdicts(page, count, *more).html())


def words(markup: Any) -> str:
    return str(markup.html().striptags())


def ends(html: str) -> tuple[set[str], list[str]]:
    """Anchors that the page leads to, and those that it has."""
    return set(re.findall(r'href="#([^"]+)"', html)), re.findall(r' id="([^"]+)"', html)


class TestVerdicts:
    def test_the_answer_is_shown_with_what_it_was_written_from(self, page: Page) -> None:
        html = drawn(page)
        for text in ("Where is Paris?", "In France.", "It lies in France. It is old.", *(c.text for c in CHUNKS)):
            assert text in html

    def test_every_statement_has_its_verdict_its_reason_and_its_passage(self, page: Page) -> None:
        html = drawn(page)
        table = html[html.index("Statements and verdicts") :]
        first, second = (cells(table)[n] for n in (1, 2))
        assert "In France. (1)" in first
        assert "supported" in first
        assert "because 1" in first
        assert "c1" in first
        assert "In France. (2)" in second
        assert "contradicted" in second

    def test_the_formula_has_its_numbers(self, page: Page) -> None:
        text = words(views.answers.verdicts(page, 5))
        assert "1 of 2; 1 / 2 = 0.500." in text
        assert "(1/1) / 1 = 1.000" in text
        assert "(2 − 1) / (3 − 1) = 0.500" in text
        assert "Rating 1 of 2; 1 / 2 = 0.500. The judge says: half of it" in text

    def test_it_speaks_the_pages_language(self, page: Page) -> None:
        text = words(views.answers.verdicts(Page(page.measurement, language="ru"), 5))
        for russian in ("подтверждено", "опровергнуто", "полезен", "бесполезен", "по существу", "уклончиво", "да"):
            assert russian in text
        assert "1 / 2 = 0,500" in text
        assert "Claims of" not in text

    def test_cited_passages_are_links_to_passages_on_the_page(self, page: Page) -> None:
        html = drawn(page)
        links, ids = ends(html)
        assert links
        assert links <= set(ids)
        assert len(ids) == len(set(ids))

    def test_a_passage_that_was_not_retrieved_is_no_link(self, page: Page) -> None:
        """A judgement may cite what the measurement no longer holds: a dead link would be worse than none."""
        table = page.measurement.extra["judgements"].copy()
        table["detail"] = table["detail"].str.replace('["c1"]', '["c1", "gone"]', regex=False)
        extra = {**page.measurement.extra, "judgements": table}
        html = str(views.answers.verdicts(Page(replace(page.measurement, extra=extra)), 5).html())
        links, ids = ends(html)
        assert links
        assert links <= set(ids)
        assert ">gone<" not in html

    def test_each_metric_has_its_own_table(self, page: Page) -> None:
        html = drawn(page)
        tables = ["Statements and verdicts", "Claims of the response", "Claims of the reference"]
        tables += ["Passages and verdicts", "Questions that the answer would answer", "Repeats and verdicts"]
        assert [label for label in [*tables, "led by"] if label not in html] == []

    def test_the_worst_come_first_and_only_so_many(self) -> None:
        good = ScriptedJudge(claims=claims("A.", "B."), entailment=lambda texts: entailment(1, 1))
        bad = [sample(f"s{n}") for n in range(4)]
        found = scored(bad, ("faithfulness",), good)
        table = found.scores.copy()
        table["value"] = [0.5, 1.0, 0.0, 0.25]
        page = Page(replace(found, scores=table))
        shown = re.findall(r'<li id="judged0-(s\d)"', str(views.answers.verdicts(page, 2).html()))
        assert shown == ["s2", "s3"]

    def test_an_unmeasured_judgement_says_why(self) -> None:
        silent = ScriptedJudge(claims=claims())
        found = scored([sample()], ("faithfulness",), silent)
        for language, reason in (("en", "the response makes no claim"), ("ru", "в ответе нет утверждений")):
            text = words(views.answers.verdicts(Page(found, language=language), 3))
            assert "empty_decomposition" in text
            assert reason in text

    def test_several_judges_stand_below_each_other(self) -> None:
        one, other = judge(), judge()
        one.name, other.name = "kind", "strict"
        other.scripts = {**other.scripts, "entailment": lambda texts: entailment(*[0] * len(texts["statements"]))}
        samples = [sample()]
        found = run(measure(samples, [catalogue()["faithfulness"]], Asked((one, other), resamples=200)))
        made = measurement_of(found, of_samples(samples, "a.jsonl"), Made(("kind", "strict"), Rule(), ("hashing",)))
        text = words(views.answers.verdicts(Page(made), 1))
        assert "kind 0.500" in text
        assert "strict 0.000" in text
        assert "neither" in text
        side = words(views.answers.side_by_side(Page(made)))
        assert "The judges, each by itself" in side
        assert "kindstricttogether" in side.replace(" ", "")
        said = found.rows[0].score.reason
        assert said == "By the judges: kind 0.500; strict 0.000; together (mean): 0.250."

    def test_another_metric_may_rank(self, page: Page) -> None:
        text = words(views.answers.verdicts(page, 3, "noise_sensitivity"))
        assert "First answers of answers: all have the same noise_sensitivity" in text
        with pytest.raises(ValueError, match="judged are faithfulness"):
            views.answers.verdicts(page, 3, "mrr")
        with pytest.raises(ValueError, match="a whole number from 1"):
            views.answers.verdicts(page, 0)

    def test_nothing_judged_is_said(self) -> None:
        assert "No answer was judged." in str(views.answers.verdicts(Page(measurement())).html())


class TestUnmeasured:
    def test_counted_with_the_reason_and_both_ends(self) -> None:
        """Of 3 answers one is empty: the mean .5 of 2 would be 1/3 if it were the worst and 2/3 if the best."""
        found = scored([sample(), sample("s2"), sample("s3", response="")], ("faithfulness", "noise_sensitivity"))
        text = words(views.answers.unmeasured(Page(found)))
        assert "1 of 3" in text
        assert "a text is empty: 1" in text
        assert "the field response is empty" in text
        assert "0.333 … 0.667" in text

    def test_the_worst_end_comes_first_where_low_is_good(self) -> None:
        found = scored([sample(), sample("s2", response="")], ("hallucination",))
        [row] = [row for row in cells(str(views.answers.unmeasured(Page(found)).html())) if "hallucination" in row]
        assert any("0.750 … 0.250" in cell for cell in row)

    def test_everything_measured_is_said(self, page: Page) -> None:
        assert "Every metric was measured on every answer." in str(views.answers.unmeasured(page).html())


class TestCorrelations:
    def made(self, rows: list[tuple[str, str, float]]) -> Page:
        pairs = tuple(
            NamedEstimate("", "spearman", Estimate(x, x - 0.1, x + 0.1, 0.95, "bca", 30), {"one": a, "other": b})
            for a, b, x in rows
        )
        return Page(replace(measurement(("one",), ("a", "b", "c"), 5), placed=pairs))

    def test_people_first_then_the_strongest(self) -> None:
        page = self.made([("a", "b", 0.3), ("a", "c", -0.9), ("people", "c", 0.1), ("b", "c", float("nan"))])
        html = str(views.comparison.correlations(page).html())
        table = [row for row in cells(PAYLOAD.sub("", html)) if any("[" in cell for cell in row)]
        assert [next(cell for cell in row if cell) for row in table][:2] == ["people&#39;s scores", "a"]
        assert "−0.900" in "".join(table[1])
        assert "1 pair has no ρ" in html

    def test_the_picture_is_square_and_symmetric(self) -> None:
        page = self.made([("a", "b", 0.3), ("a", "c", -0.9), ("b", "c", 0.5)])
        [payload] = PAYLOAD.findall(str(views.comparison.correlations(page).html()))
        figure = json.loads(payload)
        [trace] = figure["data"]
        assert trace["z"] == [[1.0, 0.3, -0.9], [0.3, 1.0, 0.5], [-0.9, 0.5, 1.0]]
        assert figure["layout"]["meta"]["narrow"]["xaxis"] == {"showticklabels": False}, "no room for them on a phone"
        assert views.comparison.correlations(page).figure is not None

    def test_nothing_to_go_together(self) -> None:
        assert "fewer than two metrics" in str(views.comparison.correlations(Page(measurement())).html())


@pytest.mark.fault("markup", tried="texts in views, looked for in their HTML", count=8)
@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("view", VIEWS)
def test_hostile_texts_stay_texts(view: str, language: str) -> None:
    def evil(texts: Any) -> Any:
        return {"verdicts": [{"statement": 1, "reason": HOSTILE, "verdict": "contradicted", "passages": [1]}]}

    by = ScriptedJudge(claims=claims(HOSTILE), entailment=evil)
    bad = {"user_input": HOSTILE, "response": HOSTILE, "reference": HOSTILE, "system": HOSTILE}
    samples = [sample(f"s{n}", **bad, contexts=(Chunk(HOSTILE, HOSTILE),)) for n in range(3)]
    found = scored([*samples, sample("x", response="")], ("faithfulness", "hallucination", "factual_correctness"), by)
    html = str(Page(found, language=language).view(view).html())
    outside = PAYLOAD.sub("", html)
    assert "<script" not in outside
    assert "<img" not in outside
    for payload in PAYLOAD.findall(html):
        assert not re.search(r"[<>&]", payload)


def test_the_same_bytes_every_time(page: Page, tmp_path: Any) -> None:
    page.measurement.save(tmp_path)
    again = Page(Measurement.load(tmp_path))
    for view in VIEWS:
        assert again.view(view).html() == page.view(view).html()


def test_a_score_without_a_sentence_shows_its_reason() -> None:
    row = Row(sample(), catalogue()["faithfulness"], Score.unmeasured(Status.TIMEOUT, "after 30 s", judge="scripted"))
    found = measurement_of(Scores((row,)), of_samples([sample()], "a"), Made(("scripted",), Rule(), ("hashing",)))
    assert "not measured: timeout after 30 s" in words(views.answers.verdicts(Page(found), 1))
