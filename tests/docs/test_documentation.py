"""README.md, CONTRIBUTING.md and docs/: whatever stands in a fenced block is executed, and what cannot be says why."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import yaml
from babel.messages.pofile import read_po

from docs import docstrings, gallery, works
from ragbench import load
from ragbench.core import language, metric, settings
from ragbench.core.settings import schema
from ragbench.metrics import catalogue
from tests.cli.command_line import ragbench
from tests.docs import (
    chapters,
    commands_page,
    documented_project,
    fragments,
    metrics_page,
    parameters,
    python_page,
    russian_pages,
    settings_page,
)
from tests.docs.fragments import PAGES, ROOT, SERVES, Fragment
from tests.judge.judged_project import reply
from tests.llm.chat_server import ChatServer
from tests.small_project import NOTEBOOKS, add, write_lines

ALL = [one for page in PAGES for one in fragments.fragments(page)]
RUN = ("sh", "python", "toml", "json", "yaml")
NOT_RUN = {
    "README.md": 1,
    "docs/how-to/cluster.md": 5,
    "docs/how-to/completeness.md": 1,
    "docs/how-to/data.md": 1,
    "docs/how-to/install.md": 2,
    "docs/how-to/judges.md": 1,
    "docs/how-to/runs.md": 1,
    "docs/how-to/services.md": 1,
    "docs/how-to/sweeps.md": 1,
    "docs/how-to/test-sets.md": 6,
    "docs/how-to/tools.md": 2,
    "docs/tutorial.md": 1,
}
"""Blocks that cannot be run here, by page; each says why in its first line."""
LONG = ("run",)
"""Commands that execute notebooks; the slow test runs them."""
OWN_TABLES = "assistant"
UNCITED = ("licences.md", "CHANGELOG.md")
BY_ITSELF = "from-voproshalych"
"""Pages that tests/docs/test_voproshalych.py executes, with the files and the database that they are about."""
GATE = (0, 1, 2)
HOW_TOS = [path for path in sorted((ROOT / "docs" / "how-to").glob("*.md")) if path.stem != "index"]


@pytest.fixture
def registry() -> Iterator[None]:
    """Metrics that a text declares are forgotten."""
    catalogue()  # so that all of the house's own are there
    before = dict(metric._registry)
    yield
    metric._registry.clear()
    metric._registry.update(before)
    metric._going_by.cache_clear()


@pytest.fixture
def documented(
    tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch, registry: None
) -> Iterator[Path]:
    """The project that the texts speak of, as the current folder; its judges answer at once."""
    with ChatServer(answer=reply).running() as server:
        path = documented_project.make(tmp_path, server)
        monkeypatch.setenv("RAGBENCH_CONFIG", str(path))
        monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))  # also where a text writes settings anew
        monkeypatch.setenv("MY_JUDGE_KEY", "nothing")
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(tmp_path)
        settings.load.cache_clear()
        yield tmp_path


def test_every_block_is_of_a_kind_that_is_run_or_says_why_not() -> None:
    strange = [
        f"{one} {one.language}" for one in ALL if one.language and one.language[0] != "{" and one.language not in RUN
    ]
    assert not strange
    assert Counter(str(one.page.relative_to(ROOT)) for one in ALL if one.reason) == NOT_RUN
    plain = [str(one) for one in ALL if not one.language]
    assert [place.partition(":")[0] for place in plain] == ["CONTRIBUTING.md"], "the plan of the house, and no other"


def test_every_command_line_is_one_that_there_is() -> None:
    lines = [
        (str(one), words) for one in ALL if one.language == "sh" for words in one.lines() if words[0] == "ragbench"
    ]
    for page in PAGES:
        lines += [(page.name, words) for words in fragments.written(page.read_text(encoding="utf-8"))]
    for one in (one for one in ALL if one.language == "yaml"):
        lines += [(str(one), words) for words in _of_workflow(one)]
    assert len(lines) > 100
    assert not [f"{place}: {said}" for place, words in lines if (said := fragments.unknown(words))]


def test_a_command_line_that_there_is_not_would_be_found() -> None:
    for line in ("ragbench rum", "ragbench run --gates", "ragbench load answer x.csv", "ragbench --encodin x run"):
        assert "no " in fragments.unknown(line.split())
    assert not fragments.unknown(["ragbench", "--encoding", "koi8-r", "load", "answers", "x.csv", "--name", "a"])


def _of_workflow(one: Fragment) -> Iterator[list[str]]:
    """The command lines of ragbench in a workflow of GitHub."""
    jobs = yaml.safe_load(one.text)["jobs"].values()
    for script in (step["run"] for job in jobs for step in job["steps"] if "run" in step):
        for line in re.findall(r"(?:^|\s)(ragbench [^|&>\n]+)", script):
            yield line.split()


def _run(page: Path, of: Callable[[list[str]], bool], folder: Path) -> int:
    """Everything on a page, in its order, of command lines those that are asked for; how much it was."""
    told: dict[str, Any] = {}
    done = 0
    for one in fragments.fragments(page):
        if one.reason or one.language not in RUN:
            continue
        if one.language == "sh":
            done += sum(_command(one, words) for words in one.lines() if of(words))
            continue
        {"python": _python, "toml": _toml, "json": _json, "yaml": lambda *_: None}[one.language](one, folder, told)
        done += 1
    return done


def _command(one: Fragment, words: list[str]) -> int:
    assert words[0] == "ragbench", f"{one}: {words}"
    if words[1:] == ["init"]:  # it begins in a folder without settings
        settings.config_path().unlink()
    found = ragbench(*words[1:])
    assert found.returncode in (GATE if "gate" in words or "--gate" in words else (0,)), (
        f"{one}: {' '.join(words)}\n{found.stdout}\n{found.stderr}"
    )
    assert "Traceback" not in found.stderr
    return 1


def _python(one: Fragment, folder: Path, told: dict[str, Any]) -> None:
    if "def retrieve" in one.text:
        documented_project.package(folder, one.text)
    if one.text.startswith("# style.py\n"):  # a module that the settings name
        (folder / "style.py").write_text(one.text, encoding="utf-8")
        return
    exec(compile(one.text, str(one), "exec"), told)


def _toml(one: Fragment, folder: Path, told: dict[str, Any]) -> None:
    """The settings' own model reads it, beside nothing; metrics are the project's from then on."""
    path = folder / "read.toml"
    path.write_text(one.text, encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAGBENCH_CONFIG", str(path))
        settings.load.cache_clear()
        settings.load()
    if "[metrics" in one.text:
        add(folder, one.text)
    settings.load.cache_clear()


def _json(one: Fragment, folder: Path, told: dict[str, Any]) -> None:
    """Lines of a file that ragbench reads: it is written, and read by whoever reads such a file."""
    [row, *_] = rows = documented_project.rows(one.text)
    data = folder / "data" / "mine"
    data.mkdir(exist_ok=True)
    if "people" in row:
        from ragbench.tiers.judges import judgement_files
        from ragbench.tiers.judges.items import Scale

        assert judgement_files.judgements(write_lines(folder / "one.jsonl", rows), Scale(1, 4), Scale(0, 1))
    elif "retrieved" in row:
        from ragbench.systems.logged import LoggedSystem

        write_lines(folder / "one.jsonl", rows)
        assert LoggedSystem("v3", folder / "one.jsonl", load("campus:en"))
    elif "user_input" in row:
        from ragbench.data.samples import samples_of

        assert samples_of(rows)[0].response == row["response"]
    else:
        write_lines(data / ("questions.en.jsonl" if "relevant" in row else "chunks.en.jsonl"), rows)


def _first(words: list[str]) -> Path:
    """The first page that has this command."""
    return next(one.page for one in ALL if one.language == "sh" and not one.reason and words in one.lines())


def _is_quick(words: list[str], page: Path) -> bool:
    """A command of seconds, on the first page that has it."""
    return words[0] == "ragbench" and not {*LONG, *SERVES, OWN_TABLES} & set(words) and _first(words) == page


@pytest.mark.documents
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_what_a_page_says_runs(page: Path, documented: Path) -> None:
    blocks = [one for one in fragments.fragments(page) if one.language in RUN and not one.reason]
    if not blocks or page.name.startswith(BY_ITSELF):
        return
    if any(word in one.text for one in blocks for word in ("latest", "plan-study", "runs", "history", "prune")):
        documented_project.record_runs(documented)
    assert _run(page, lambda words: _is_quick(words, page), documented)


def _is_possible(words: list[str], page: Path) -> bool:
    """What executes notebooks is so on the first page that has it."""
    if words[0] != "ragbench" or {*SERVES, OWN_TABLES, f"db:{OWN_TABLES}"} & set(words):
        return False
    return words[1] not in LONG or _first(words) == page


def _runs(page: Path) -> list[list[str]]:
    """The commands of a page that execute notebooks, and are executed there."""
    shell = (one for one in ALL if one.page == page and one.language == "sh" and not one.reason)
    return [words for one in shell for words in one.lines() if words[1:2] == [*LONG] and _is_possible(words, page)]


RUNNING = [page for page in PAGES if _runs(page) and not page.name.startswith(BY_ITSELF)]


@pytest.mark.usefixtures("one_pool")
@pytest.mark.slow
@pytest.mark.parametrize("page", RUNNING, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_the_runs_of_a_page_run(page: Path, documented: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first page's run is of all notebooks; where another names none, of two tiers and the overview."""
    documented_project.record_runs(documented)
    if page != RUNNING[0]:
        named = {word for words in _runs(page) for word in words if (NOTEBOOKS / f"{word}.ipynb").exists()}
        (documented / "notebooks").mkdir()
        for name in named or ("tier1_retrieval", "tier3_end_to_end", "overview"):
            (documented / "notebooks" / f"{name}.ipynb").symlink_to(NOTEBOOKS / f"{name}.ipynb")
        monkeypatch.setenv("RAGBENCH_NOTEBOOKS_FOLDER", str(documented / "notebooks"))
    assert _run(page, lambda words: _is_possible(words, page), documented) > 1


@pytest.mark.parametrize(
    "made", [metrics_page, commands_page, settings_page, parameters, python_page], ids=lambda made: made.__name__
)
def test_what_is_made_from_the_code_is_as_it_is(made: Any) -> None:
    assert chapters.read(made.PAGE) == made.pages(), f"`python -m {made.__name__}` writes it anew"


def test_the_page_of_every_metric_is_russian_too() -> None:
    assert not {name: texts for name, one in catalogue().items() if (texts := metrics_page.without_russian(one))}
    page = metrics_page.section(catalogue()["precision"], language.translator("ru"))
    assert "**Разобранный пример**: Из первых пяти документов релевантны два: 2 / 5 = 0.400." in page
    source = ["in English"]
    metrics_page.russian(SimpleNamespace(config=SimpleNamespace(language="ru")), "metrics/precision", source)
    assert source == [page]


@pytest.mark.documents
@pytest.mark.parametrize("spoken", language.LANGUAGES)
def test_the_site_has_a_picture_of_every_page_and_figure_and_one_in_every_how_to(spoken: str) -> None:
    site = gallery.HERE / "_build" / "html" / spoken
    if not site.exists():
        pytest.skip("`make docs` builds the site")
    pictures = {
        page: _pictures(site / f"{page}.html") for page in ("gallery", *(f"how-to/{one.stem}" for one in HOW_TOS))
    }
    assert [page for page, names in pictures.items() if not names] == []
    every = [name for names in pictures.values() for name in names]
    assert all((site / "_images" / name).stat().st_size > 1000 for name in every)
    assert all(("." + spoken in name) == (spoken != "en") for name in every)
    shown = {name.partition(".")[0] for name in pictures["gallery"]}
    assert {path.stem for path in (ROOT / "notebooks").glob("*.ipynb")} - {"quickstart"} <= shown
    assert shown >= {"tier0_embeddings-map", "tier1_retrieval-curves", "tier3_end_to_end-blame", "tier_ux-cache"}


def _pictures(page: Path) -> list[str]:
    """The files of a built page's pictures."""
    return re.findall(r'<img [^>]*src="(?:\.\./)?_images/([^"]+)"', page.read_text(encoding="utf-8"))


def test_every_page_is_reached_and_every_link_leads_somewhere() -> None:
    for page in PAGES:
        text = fragments.FENCE.sub("", page.read_text(encoding="utf-8"))
        for link in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", text):
            made = "_build/pictures/" in link  # Sphinx refuses one that the build did not draw
            assert made or "://" in link or (page.parent / link).exists(), f"{page}: {link}"


def test_every_page_is_short_enough_to_be_read() -> None:
    words = {str(page.relative_to(ROOT)): len(page.read_text(encoding="utf-8").split()) for page in PAGES}
    assert {page: many for page, many in words.items() if "/" in page and many >= chapters.MOST_WORDS} == {}, "part it"


def test_every_work_that_is_cited_stands_in_the_table_with_where_it_is() -> None:
    """Of pages and of metrics; a link leads to a DOI, to arXiv, the ACL anthology, or a page by https."""
    pages = {str(page): page.read_text(encoding="utf-8") for page in PAGES if page.name not in UNCITED}
    pages |= {f"metric {name}": one.source for name, one in catalogue().items()}
    found = [(name, match) for name, text in pages.items() for match in works.CITED.finditer(text)]
    cited = [(name, match, works.cited_by(match)) for name, match in found]
    unknown = sorted({f"{name}: {' '.join(match[0].split())}" for name, match, work in cited if work is None})
    assert not unknown, "docs/works.toml has the works that are cited"
    assert len({work.cited for _, _, work in cited if work}) == len(works.works()), "and no others"
    assert all(work.address.startswith("https://") for work in works.works().values() if work.address)
    assert sum(not work.address for work in works.works().values()) <= 9
    linked = works.linked("the interval is Wilson's (1927), after Järvelin & Kekäläinen 2002; DCG in 2002")
    assert linked == (
        "the interval is [Wilson's (1927)](https://doi.org/10.1080/01621459.1927.10502953), after "
        "[Järvelin & Kekäläinen 2002](https://doi.org/10.1145/582415.582418); DCG in 2002"
    )


def test_the_source_of_every_metric_leads_to_it_unless_it_is_no_work_of_others() -> None:
    own = re.compile(r"the specification\b|the project's own|context_preservation over|cache hits")
    sources = {name: one.source for name, one in catalogue().items() if not own.match(one.source)}
    assert len(sources) > 50
    assert [name for name, source in sources.items() if "](https://" not in works.linked(source)] == []
    assert works.linked("aspect critic of RAGAS").endswith(
        "[RAGAS](https://docs.ragas.io/en/stable/concepts/metrics/available_metrics/)"
    )


def test_docstrings_become_lists_of_arguments() -> None:
    text = "What it is.\n\nk: how *many*,\n    from 1.\nname, other: `a_b` of it_\nRaises ValueError for others."
    assert list(docstrings.pieces(text)) == [
        ("", "What it is."),
        ("k", "how *many*, from 1."),
        ("name, other", "`a_b` of it_ Raises ValueError for others."),
    ]
    lines = text.split("\n")
    docstrings.written(None, "", "", None, None, lines)
    assert lines[2] == r"* **k**: how \*many\*, from 1."
    assert lines[4] == r"* **name, other**: ``a_b`` of it\_ Raises ValueError for others."


@pytest.mark.parametrize("page", russian_pages.TRANSLATED)
def test_a_page_that_is_said_to_be_translated_is_so_to_its_last_message(page: str) -> None:
    text = (russian_pages.DOCS / f"{page}.md").read_text(encoding="utf-8")
    text = re.sub(r"\A---\n.*?\n---\n|<!--.*?-->", "", fragments.FENCE.sub("", text), flags=re.DOTALL)
    text = re.sub(rf"^\*{russian_pages.EVIDENCE}\*.*?(?:\n\n|\Z)", "", text, flags=re.MULTILINE | re.DOTALL)
    flat = " ".join(re.sub(r"^( *- |#+ |\|[-:| ]+\|$)", "", text, flags=re.MULTILINE).split())
    known = russian_pages.read(russian_pages.LOCALE / f"{page}.po")
    assert [message for message, russian in known.items() if not russian] == []
    for message in sorted(known, key=len, reverse=True):
        if message in flat:
            flat = flat.replace(message, " ")
    flat = re.sub(r"`[^`]*`|\]\([^)]*\)", "", flat)
    assert not re.search(r"[A-Za-z]{3}", flat), "`python -m tests.docs.russian_pages` brings the catalogue up to date"


@pytest.mark.parametrize("page", russian_pages.TRANSLATED)
def test_a_catalogue_stands_as_it_would_be_written_again(page: str) -> None:
    """So that bringing it up to date changes nothing but what is new."""
    path = russian_pages.LOCALE / f"{page}.po"
    with path.open("rb") as file:
        assert russian_pages.written(read_po(file, locale="ru")) == path.read_bytes()


@pytest.mark.slow
def test_the_catalogues_hold_what_sphinx_finds(tmp_path: Path) -> None:
    russian_pages.templates(tmp_path)
    for page in russian_pages.TRANSLATED:
        known = russian_pages.read(russian_pages.LOCALE / f"{page}.po")
        assert russian_pages.needed(tmp_path, page) == list(known), page


def test_the_schema_is_what_the_models_say() -> None:
    written = "`python -m tests.docs.settings_page` writes it anew"
    assert settings_page.SCHEMA.read_text(encoding="utf-8") == schema.text(), written
