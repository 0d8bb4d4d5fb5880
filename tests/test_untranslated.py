"""No English word on a page of another language: every text is translated into marks, and what is none is found."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pandas as pd
import pytest

from ragbench import language, settings, show
from ragbench.bench.judges import texts
from ragbench.llm import endpoint
from ragbench.measurement import Measurement
from ragbench.metric import registered
from ragbench.metrics import catalogue
from ragbench.report.keeping import kept
from ragbench.report.pages import drawing
from ragbench.show import VIEWS, Page
from tests import every_page, kept_runs, pseudo
from tests.measurements import measurement

NAMES = frozenset({
    "ragbench", "English", "max-T", "HNSW", "exact", "lexical", "hashing", "ngrams", "PostgreSQL",
    "Holm", "Student", "randomization", "McNemar", "Wilcoxon", "JavaScript",
    "url", "chunk", "specification", "KMeans", "UMAP", "BLEU", "ROUGE", "python", "numpy", "scipy", "pandas", "nan",
})  # fmt: skip
"""Names that are the same in every language."""


OF_PROJECT = " Let's solve this problem step by step kind strict letters near far direct"
MADE = Path(inspect.getfile(texts)).read_text(encoding="utf-8") + OF_PROJECT
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
    drawn = {name: pseudo.left(view(page).html(), names, data) for name, view in VIEWS.items()}
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


@pytest.mark.usefixtures("marks")
def test_the_simulated_situations_are_translated() -> None:
    from ragbench import bench

    settings.load.cache_clear()
    page = Page(bench.statistics_calibration(), language="ru")
    drawn = show.about.simulations(page).html() + show.about.promise(page).html()
    assert list(pseudo.left(drawn, known())) == []


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
