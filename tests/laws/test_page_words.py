"""What can be kept of a page's words by machine: nothing said twice, nothing of Python, no mixed languages."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from ragbench.core import language, settings
from ragbench.core.language import LANGUAGES
from ragbench.core.parts import Spoken, Style, Text
from ragbench.core.settings import GateSettings
from ragbench.core.types import Comparison, Estimate, Verdict
from ragbench.core.types.reason import Reason, kept
from ragbench.llm.budget import Amount, Budget
from ragbench.metrics.explanation import reason_in
from ragbench.report import exports, papers
from ragbench.tiers.basics import verdict_tables
from ragbench.tiers.run import gates as gate
from ragbench.views import Page
from ragbench.views.basics.differences import Notes
from ragbench.views.basics.marks import FIRST, SYSTEMS, one_by_one, shortened
from ragbench.views.basics.web import Web
from ragbench.views.view import VIEWS
from tests.laws import sources
from tests.laws.texts import PACKAGE, all_texts
from tests.views.every_page import every_view
from tests.views.measurements import measurement

TWICE = re.compile(r"\b([^\W\d_]{2,}) \1\b", re.IGNORECASE)
PYTHON = re.compile(r"\bNone\b|\bnan\b|\binf\b|[\[{]'|<\w+ object|\bNaN\b(?! or)")
STRAIGHT = re.compile(r"\"(?=[^\W\d_])")
PERCENT = re.compile(r"[\d}] ?%")
POINTED = re.compile(r"(?<![\w.:])\d+\.\d+(?![\w.])")
SECTIONS = re.compile(r"раздел\w*|arXiv|k1")
LATIN = re.compile(r"(?:\b[a-z]{2,}\b[ ,;:]+){4,}")
CODE = ("code", "pre", "script", "style", "svg")


def faults(page: str, code: str, data: str = "$^") -> list[str]:
    """What nobody would write by hand, found in a page's text. data: a pattern of texts that are not the page's own."""
    soup = BeautifulSoup(page, "html.parser")
    for one in soup.find_all(CODE):
        one.decompose()
    found = []
    for text in soup.find_all(string=True):
        said = str(text).strip()
        if re.match(data, said):
            continue
        for rule in (TWICE, PYTHON):
            found += [f"{hit[0]!r} in {said!r}" for hit in rule.finditer(said)]
        if "  " in said:
            found.append(f"two spaces in {said!r}")
        if code == "ru":
            found += [f"not Russian: {hit[0]!r} in {said!r}" for hit in LATIN.finditer(said)]
    for table in soup.find_all("table"):
        region = table.find_parent(attrs={"aria-label": True})
        if not (table.find("caption") or (region and region["aria-label"].strip())):
            found.append(f"a table without a name: {table.get_text(' ')[:60]!r}")
    for figure in soup.find_all("figure"):
        title = figure.find(class_="rb-title")
        if title is None or not title.get_text().strip():
            found.append("a figure without a title")
    for heading in soup.find_all(re.compile("^h[1-6]$")):
        if not heading.get_text().strip():
            found.append("a heading without a word")
    return found


@functools.cache
def said() -> tuple[tuple[str, str], ...]:
    """The texts of people in each language, as the code and the catalogue have them."""
    return tuple(_said())


def _said() -> Iterator[tuple[str, str]]:
    for _, text in all_texts():
        for one in (text,) if isinstance(text, str) else text:
            yield "en", one
    for message in language.catalogue(language.LOCALE / "ru" / "LC_MESSAGES" / "ragbench.po"):
        for one in (message.string,) if isinstance(message.string, str) else message.string:
            if message.id:
                yield "ru", one


@pytest.mark.law
def test_no_text_says_a_word_twice_or_has_two_spaces() -> None:
    assert not [text for _, text in said() if TWICE.search(text) or re.search(r"\S {2,}\S", text)]


@pytest.mark.law
def test_russian_texts_have_russian_signs() -> None:
    """A no-break space before %, a decimal comma, and «» but around what is typed as it stands."""
    russian = [text for code, text in said() if code == "ru"]
    assert not [text for text in russian if PERCENT.search(text)]
    assert not [text for text in russian if POINTED.search(text) and not SECTIONS.search(text)]
    typed = {text for _, text in said() if STRAIGHT.search(text) and _ == "en"}
    known = {message.string for message in _catalogue() if message.id in typed}
    assert not [text for text in russian if STRAIGHT.search(text) and text not in known]


def _catalogue() -> list[language.Any]:
    return list(language.catalogue(language.LOCALE / "ru" / "LC_MESSAGES" / "ragbench.po"))


@pytest.mark.parametrize("code", LANGUAGES)
@pytest.mark.parametrize("systems", [("a",), ("a", "b"), ("a", "b", "c", "d", "e")], ids=len)
def test_every_view_is_worded_as_people_write(code: str, systems: tuple[str, ...]) -> None:
    page = Page(measurement(systems), language=code)
    views = {name: str(page.view(name).html(frozenset(VIEWS))) for name in every_view()}
    assert not {name: found for name, html in views.items() if (found := faults(html, code, r"Passage \d+"))}


@pytest.mark.parametrize(
    ("html", "fault"),
    [
        ("<p>randomization and and tests</p>", "'and and'"),
        ("<p>reached None of 3</p>", "'None'"),
        ("<p>it is nan</p>", "'nan'"),
        ("<p>systems {'a': 1}</p>", "{'"),
        ("<p>one  two</p>", "two spaces"),
        ("<p>the value was not measured at all</p>", "not Russian"),
        ("<table><tr><td>1</td></tr></table>", "a table without a name"),
        ("<figure><svg></svg></figure>", "a figure without a title"),
        ("<h2> </h2>", "a heading without a word"),
    ],
)
def test_what_is_wrong_is_found(html: str, fault: str) -> None:
    assert any(fault in one for one in faults(html, "ru"))


def test_a_figure_says_of_how_many_questions_it_is() -> None:
    page = Page(measurement(("a", "b")))
    for view in ("intervals", "forest"):
        axis = BeautifulSoup(str(page.view(view).html(frozenset())), "html.parser").find(class_="rb-axis")
        assert axis is not None, view
        assert re.search(r"n\s=\s\d+, \w+", axis.get_text()), view


def test_long_lists_show_their_first_entries_and_fold_the_others() -> None:
    """Nothing is left out; a fold that would hide a single entry is none."""
    _, made = language.translator("en"), [Text(f"entry {n}") for n in range(12)]
    for count in (0, 1, FIRST, FIRST + 1, FIRST + 2, 12):
        said = str(Web(_).blocks(shortened(_, made[:count], list)))
        assert said.count("<p>entry") == count
        assert ("<details" in said) == (count > FIRST + 1)
        assert said.partition("<details")[0].count("<p>entry") == (FIRST if count > FIRST + 1 else count)
    assert f"{12 - FIRST} more" in str(Web(_).blocks(shortened(_, made, list)))
    several = str(Web(_).blocks(one_by_one(_, [[text] for text in made])))
    assert several.partition("<details")[0].count("<p>entry") == SYSTEMS
    assert several.count("<p>entry") == 12


def test_a_difference_without_spread_is_not_explained_as_equal_values() -> None:
    material = Page(measurement(("a", "b"))).material
    notes = Notes(material)
    one = replace(material.comparison("b", material.metrics[0]), note="no_spread", method="none")
    notes.mark(one)
    assert "the difference is the same on every question" in str(Web(material.text).blocks(notes.parts()))
    assert "all values are equal" not in str(Web(material.text).blocks(notes.parts()))


NUMBERS = ("slices", "table", "measures", "across", "forest")


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_table_of_means_says_of_how_many_they_are(code: str) -> None:
    """In a column, beside the number, or in the line below it."""
    pytest.importorskip("ragbench.extras.runs.views")  # where `across` stands
    page = Page(measurement(("a", "b", "c")), language=code)
    drawn = {name: BeautifulSoup(str(page.view(name).html(frozenset())), "html.parser") for name in NUMBERS}
    said = {name: soup.get_text(" ") for name, soup in drawn.items() if soup.find("table")}
    assert {"table", "across", "forest"} <= set(said)
    counted = re.compile(r"n\s(?:=\s)?\d")
    columns = {name: {head.get_text().strip() for head in soup.find_all("th")} for name, soup in drawn.items()}
    assert not [name for name, text in said.items() if not counted.search(text) and "n" not in columns[name]]


RAISED = {"Fault", "MalformedError", "CallFailed", "ProviderRefused", "ProviderUnreachable", "Answer", "BudgetSpent"}
"""What endpoints, replies and judges fail with: the texts become reasons of values, in the data."""


def reasons_of_code() -> Iterator[tuple[str, bool]]:
    """Where something fails, and whether its words are written there without a `Reason`: no page could translate
    them."""
    for path in sorted(path for room in ("llm", "judge") for path in (PACKAGE / room).glob("*.py")):
        for call in sources.nodes(path):
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") in RAISED:
                for given in call.args:
                    parts = given.values if isinstance(given, ast.JoinedStr) else [given]
                    known = [one.value for one in parts if isinstance(one, ast.Constant)]
                    text = "".join(map(str, known))
                    apart = isinstance(given, ast.Call) and getattr(given.func, "id", "") in ("Reason", "joined")
                    if apart or len(re.findall(r"[a-z]{2,}", text)) > 1:
                        yield f"{path.name}:{call.lineno}", not apart


@pytest.mark.law
def test_reasons_of_judges_and_endpoints_are_said_in_the_readers_language() -> None:
    found = dict(reasons_of_code())
    assert len(found) > 15
    assert not [place for place, bare in found.items() if bare]


def test_a_reason_within_a_reason_is_translated_too() -> None:
    refused = Reason(
        "Cannot connect to host {who} ({said}); look whether it runs, and at {name}",
        who="127.0.0.1:9",
        said=Reason("Connection refused"),
        name="base_url",
    )
    given = Reason(
        "{who} failed {count} calls in a row, each after all its attempts; the last: {said}. Replies so far are in the "
        "journal: run again to go on",
        who="judge 'mine' (small)",
        count=8,
        said=refused,
    )
    for one in (given, kept(given)):
        said = reason_in(one, language.translator("ru"))
        assert "последняя ошибка: нет соединения с 127.0.0.1:9 (в соединении отказано)" in said
        assert reason_in(one, language.translator("en")) == given
    assert reason_in("It is fine (good)", language.translator("ru")) == "It is fine (good)", "a model's own words"


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_caption_says_whose_values_how_sure_and_what_arrows_mean(code: str) -> None:
    made = measurement(("a", "b", "c"), questions=60)
    text = exports.latex_table(made, language.translator(code))
    caption = text.partition(r"\caption{")[2].partition("\n")[0]
    said = {
        "en": ("Data set synthetic, 60 questions, passages are searched.", r"with 95\% intervals", "Baseline: a."),
        "ru": ("Набор данных synthetic, 60 вопросов, ищутся фрагменты.", r"с интервалами 95 \%", "База сравнения: a."),
    }[code]
    assert all(each in caption.replace("\N{NO-BREAK SPACE}", " ") for each in said)
    assert not re.search(r"\b(?:n\\_questions|dataset|unit)\b", caption)
    arrows = {"uparrow", "downarrow"} & set(re.findall(r"\w+arrow", text.partition(r"\toprule")[2]))
    assert arrows <= set(re.findall(r"\w+arrow", caption)), "an arrow is explained where one stands"
    if code == "ru":
        assert not POINTED.search(re.sub(r"max-T|synthetic", "", caption))


def test_what_could_have_been_shown_is_a_sentence_however_many_comparisons_there_are() -> None:
    made = measurement(("a", "b", "c", "d"), ("mrr", "ndcg@10", "recall@5", "hit_rate@5"), questions=40, gain=0.0)
    open_ones = tuple(
        replace(
            one,
            comparison=replace(
                one.comparison, verdict=Verdict.NOT_SHOWN, minimum_detectable=0.1, margin=0.05, questions_needed=400
            ),
        )
        for one in made.comparisons
    )
    notes = papers.of_comparisons(Page(replace(made, comparisons=open_ones)).material)
    assert len(open_ones) == 12
    assert len(notes) == 2
    assert all(len(re.findall(rf"\b{name} \d", note)) == 4 for note in notes for name in "bcd")


@pytest.mark.parametrize("code", LANGUAGES)
def test_a_gate_speaks_the_language_of_its_summary(code: str) -> None:
    bounds = {"metric": "mrr", "not_worse_by": 0.02, "at_least": 0.5}
    gates = {"own": GateSettings.model_validate({"metric": "mrr", "not_worse_by": 0.02}),
             "high": GateSettings.model_validate({"metric": "mrr", "at_least": bounds["at_least"]})}  # fmt: skip
    made = measurement(("a", "b"), questions=60)
    decided = gate.decide({"page": made}, settings.load().model_copy(update={"gate": gates})).as_json()
    _ = language.translator(code)
    text = exports.summary({"notebooks": [{"name": "page"}]}, {"page": made}, decided, _)
    told = text.partition("## page")[0]
    assert {"en": "difference +", "ru": "разность +"}[code] in told.replace("\\", "")
    if code == "ru":
        assert not LATIN.search(told)
    cases = exports.junit({"notebooks": []}, {"page": made}, decided, _).decode()
    assert code == "en" or not LATIN.search(re.sub(r"<[?/]?\w+|\w+=", "", cases))


def test_a_path_below_the_project_is_not_cut_in_two() -> None:
    made = measurement(("a",), facts={"topics_embedder": "data/mine/answers.jsonl", "parameters": "/home/me/x/own.csv"})
    told = BeautifulSoup(str(Page(made).view("provenance").html(frozenset())), "html.parser").get_text(" ")
    assert "data/mine/answers.jsonl" in told
    assert "own.csv" in told
    assert "/home/me" not in told


@pytest.mark.law
def test_metrics_speak_of_passages() -> None:
    """A passage is what people read; chunks are meant where their ids are told, documents where texts are whole."""
    whole = ("inverse document frequency", "Questions on documents", "{chunk}", "the chunk has no text")
    told = [text for place, text in all_texts() if place.startswith(("metric ", "ragbench/metrics"))]
    assert not [
        text
        for text in told
        if isinstance(text, str)
        and re.search(r"\b([Dd]ocument|[Cc]hunk)s?\b", re.sub(r"`[^`]*`", "", text))
        and not any(known in text for known in whole)
    ]


def test_of_twelve_systems_three_are_read_and_the_others_folded() -> None:
    names = tuple(f"system-{n}" for n in range(12))
    page = Page(measurement(names))
    for view in ("answer", "slices"):
        soup = BeautifulSoup(str(page.view(view).html(frozenset({"questions"}))), "html.parser")
        folds = [one for one in soup.find_all("details") if "more" in one.summary.get_text()]
        assert folds or not soup.find("table"), view
        for one in folds:
            one.extract()
        if folds:
            assert names[2] in soup.get_text()
            assert names[11] not in soup.get_text()
            assert all(names[11] in one.get_text() for one in folds)


@pytest.mark.parametrize("style", [Style(), Spoken(language.translator("en"))])
def test_a_table_has_true_minus_signs_and_no_p_of_0(style: Style) -> None:
    one = Comparison("a", "b", -0.25, -0.375, -0.125, 0.95, "t", 4e-7, "sign flips", 0.00003, Verdict.WORSE, 40)
    [row] = style.written(verdict_tables.comparisons([("mrr", one)], language.translator("en")))
    assert "−0.250" in row
    assert not [cell for cell in row if re.search(r"-\d|\b0\.0+$", cell)]
    assert [cell for cell in row if cell.startswith("<")]


@pytest.mark.parametrize("code", LANGUAGES)
def test_methods_of_intervals_have_names(code: str) -> None:
    """In the code each stands as the value of `method`; the column says it as an article would."""
    _ = language.translator(code)
    named = [(("x",), Estimate(0.5, 0.25, 0.75, 0.95, code, 9, 0)) for code in sorted(METHODS)]
    said = set(verdict_tables.estimates(("a",), named, _).column(_("method")))
    assert METHODS & said == set()
    assert all(" " in one or "-" in one for one in said)


METHODS = {
    node.value
    for node in sources.nodes(PACKAGE / "stats" / "estimates.py")
    if isinstance(node, ast.Constant) and node.value in ("bca", "percentile", "studentized", "wilson", "t", "fisher",
                                                         "clopper_pearson", "bonett_price", "bonett_wright")
}  # fmt: skip


def test_what_a_spent_budget_says_is_in_one_language() -> None:
    for limits in ((3, None, None), (4, 100, None), (None, 10, 0.5), (4, 100, 0.5)):
        given = Budget(*limits, Amount(3, 9, 0.25))._explain()
        said = reason_in(given, language.translator("ru"))
        assert not re.search(r"\b(calls|tokens|money|of)\b", said), said


def test_commands_count_passages() -> None:
    """What people are told of a data set is counted in the word of the pages."""
    found = [
        f"{path.name}:{node.lineno}"
        for path in (PACKAGE / "commands").rglob("*.py")
        for node in sources.nodes(path)
        if isinstance(node, ast.JoinedStr)
        for before, after in zip(node.values, node.values[1:], strict=False)
        if isinstance(before, ast.FormattedValue) and isinstance(after, ast.Constant)
        if re.match(r" chunks?\b", str(after.value))
    ]
    assert found == []
