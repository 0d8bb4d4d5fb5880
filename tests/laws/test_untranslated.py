"""No English word on a page of another language: every text is translated into marks, and what is none is found."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from ragbench.core import language, settings
from ragbench.core.measurement import Measurement
from ragbench.core.metric import registered
from ragbench.llm import endpoint
from ragbench.metrics import catalogue
from ragbench.report.keeping import kept
from ragbench.report.pages import drawing
from ragbench.tiers.judges import items
from ragbench.views import Page
from tests.laws import agreement, pseudo
from tests.report import kept_runs
from tests.views import every_page
from tests.views.measurements import measurement

NAMES = frozenset({
    "ragbench", "English", "max-T", "HNSW", "exact", "lexical", "hashing", "ngrams", "PostgreSQL",
    "Holm", "Student", "randomization", "McNemar", "Wilcoxon", "JavaScript",
    "url", "chunk", "specification", "KMeans", "UMAP", "BLEU", "ROUGE", "python", "numpy", "scipy", "pandas", "nan",
})  # fmt: skip
"""Names that are the same in every language."""


OF_PROJECT = " Let's solve this problem step by step kind strict letters near far direct"
MADE = Path(inspect.getfile(items)).read_text(encoding="utf-8") + OF_PROJECT
"""What answers are made of that tempt a judge, in the language of the data; and names of the project."""


@pytest.fixture
def marks(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Whatever is asked for in Russian comes in marks."""
    monkeypatch.setattr(language, "_compiled", lambda path: pseudo.Catalogue())
    language.translator.cache_clear()
    yield
    language.translator.cache_clear()


def data_of(measurements: Iterable[Measurement]) -> str:
    """Every text that the data hold, and every name in the facts, one after the other."""
    found = [json.dumps(made.facts, ensure_ascii=False) for made in measurements]
    for made in measurements:
        for table in (made.scores, made.questions, made.retrieved, *made.extra.values()):
            for column in table if isinstance(table, pd.DataFrame) else ():
                if column not in ("status", "topic", "cell", "textbook"):
                    found += dict.fromkeys(map(str, table[column].dropna()))
    return " ".join(" ".join(found).split())


def known(*measurements: Measurement) -> frozenset[str]:
    """Names of metrics, of what they take, of systems and data sets: code, the same in every language."""
    systems = {str(one["name"]) for made in measurements for one in made.facts.get("systems", ())}
    systems |= {str(made.facts.get("dataset")) for made in measurements}
    taken = {name for one in catalogue().values() for name in inspect.signature(one.function).parameters}
    cited = {word for one in registered().values() for word in one.source.replace(",", " ").split()}
    return NAMES | set(registered()) | taken | cited | systems


def untranslated(made: Measurement, words: frozenset[str] = frozenset()) -> list[str]:
    """What the views of a measurement leave in English. words: more that its data are made of."""
    page, data, names = Page(made, language="ru"), data_of([made]), known(made) | words
    drawn = {name: pseudo.left(view(page).html(), names, data) for name, view in every_page.every_view().items()}
    return [f"{made.notebook}: {name}: {text}" for name, texts in drawn.items() for text in texts]


def test_a_word_that_was_not_translated_is_found() -> None:
    html = '<p title="Nearest">ж<b>жжж</b> worse, <code>x_y</code> mrr@10</p><script>var text</script><p>of data</p>'
    assert list(pseudo.left(html, frozenset({"mrr"}), "some of data")) == ["Nearest", "worse,"]
    assert pseudo.marked("the {n} <b>worst</b> of `run`") == "жжж {n} <b>жжжжж</b> жж `run`"


@pytest.mark.usefixtures("marks")
def test_the_pages_of_a_run_are_translated_whole(tmp_path: Path) -> None:
    made = measurement(questions=12)
    folder = kept_runs.make(tmp_path / "reports", "one", made)
    assert drawing.draw(folder, kept.manifest_of(folder), "ru") == {}
    names, data = known(made), data_of([made])
    found = {
        path.relative_to(folder).as_posix(): texts
        for path in folder.rglob("*.html")
        if (texts := list(pseudo.left(path.read_text(encoding="utf-8"), names, data)))
    }
    assert not found
    assert untranslated(made) == []


NUMBERS = {
    0: "вопросов", 1: "вопрос", 2: "вопроса", 5: "вопросов", 11: "вопросов", 21: "вопрос", 22: "вопроса", 101: "вопрос",
    111: "вопросов", 301: "вопрос", 1001: "вопрос",
}  # fmt: skip


def test_a_number_governs_its_word() -> None:
    _ = language.translator("ru")
    for number, word in NUMBERS.items():
        assert _.plural("{n} question", "{n} questions", number) == f"{_.integer(number)} {word}"
    wrong = (
        "72 из 301 измерений",
        "21 вопросов",
        "5 вопроса",
        "2,5 вопросов",
        "найдено 103 фрагментов",
        "1\u00a0001 слов",
    )
    for text in wrong:
        assert agreement.disagreeing(text), text
    right = (
        "из 301 измерения",
        "21 вопрос",
        "из 22 вопросов",
        "82 вопросов хватило бы",
        "2,5 вопроса",
        "0 слов",
        "12 пар",
    )
    for text in right:
        assert agreement.disagreeing(text) == [], text


@pytest.mark.parametrize("number", NUMBERS)
def test_every_counted_text_agrees_with_its_number(number: int) -> None:
    """By the rules of the language, told apart from those of the catalogue: in the nominative or in the genitive."""
    _ = language.translator("ru")
    by_form = {form: forms for forms in agreement.declensions().values() for form in forms}
    counted = [(text, forms) for text, forms in agreement.messages() if isinstance(text, tuple)]
    checked = 0
    for text, forms in counted:
        words = [found[1] for form in forms if (found := agreement.NEXT.search(form))]
        if len(words) < 3 or not set(words) & set(by_form):
            continue
        one, few, many = by_form[next(word for word in words if word in by_form)]
        places = {name: "…" for form in forms for name in re.findall(r"\{(\w+)", form) if name != "n"}
        said = _.plural(*text, number, **places)
        place = agreement.place_of(number)
        right = {f"{_.integer(number)} {case[place]}" for case in ((one, few, many), (few, many, many))}
        assert any(each.replace("\xa0", " ") in said.replace("\xa0", " ") for each in right), said
        assert words in ([one, few, many], [few, many, many]), text
        checked += 1
    assert checked > 50


def test_a_text_for_one_speaks_of_twenty_one_too() -> None:
    """The first form of a Russian plural is that of 21 and 301: nothing in it may speak of a single thing."""
    single = re.compile(r"\b(?:он|она|оно|его|её|ему|ей|него|неё|нему|ней|ним|нём|единственн\w+)\b", re.IGNORECASE)
    plural = [forms for _text, forms in agreement.messages() if len(forms) == agreement.PLURAL]
    assert [one for one, _few, many in plural if set(single.findall(one)) - set(single.findall(many))] == []


def test_no_place_stands_where_its_word_could_not_agree() -> None:
    """`72 из {width} измерений` is right of 300 and wrong of 301: the word stands before the number."""
    assert agreement.governed() == []


def test_the_russian_pages_of_a_run_agree(tmp_path: Path) -> None:
    made = measurement(questions=21)
    folder = kept_runs.make(tmp_path / "reports", "one", made)
    assert drawing.draw(folder, kept.manifest_of(folder), "ru") == {}
    for path in folder.rglob("*.html"):
        assert agreement.disagreeing(pseudo.visible(path.read_text(encoding="utf-8"))) == [], path.name


@pytest.mark.slow
@pytest.mark.usefixtures("marks")
def test_every_kind_of_page_is_translated_whole(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "UNREACHABLE_AFTER", 10**6)  # most of what this server says is a fault
    with every_page.Server(keep=False).running() as server:
        monkeypatch.setenv("RAGBENCH_CONFIG", str(every_page.make(tmp_path, database_folder, server.url)))
        monkeypatch.chdir(tmp_path)
        settings.load.cache_clear()
        written = [path.read_text(encoding="utf-8") for path in tmp_path.rglob("*.jsonl")]
        said = " ".join((*written, MADE))
        words = frozenset([*re.findall(r"[A-Za-z]+", said), *re.findall(r"[A-Za-z]+'[a-z]+", said)])
        found = [text for measured in every_page.PAGES.values() for text in untranslated(measured(), words)]
    settings.load.cache_clear()
    assert not found, "\n".join(found)
