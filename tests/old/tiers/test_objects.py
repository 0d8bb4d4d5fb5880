"""Objects in the place of names: the same rankings, answers and vectors give the same numbers, however given."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import ragbench.old as rb
from ragbench.old import tiers
from ragbench.old.core import settings, trust
from ragbench.old.data import DatasetError, in_memory, load
from ragbench.old.tiers import BenchError
from ragbench.old.tiers.basics.objects import logged
from tests.old import small_project
from tests.old.small_project import CHUNKS, RELEVANT, write_lines

PASSAGES = [
    "The library opens at 8:00.",
    "The registry issues cards.",
    "The gym is in building C.",
    "Exams begin in May.",
]
QUESTIONS = [
    {"question": "When does the library open?", "relevant": 0, "reference": "At 8:00."},
    {"question": "Who issues cards?", "relevant": 1, "reference": "The registry."},
    {"question": "Where is the gym?", "relevant": 2, "reference": "In building C."},
]
ASKED = [str(one["question"]) for one in QUESTIONS]
RANKED = dict(zip(ASKED, ([0, 1], [0, 1], [1, 0, 2]), strict=True))
MRR = [1.0, 0.5, 1 / 3]
"""By hand: the relevant passage is first, second and third."""


@pytest.fixture
def place(tmp_path: Path, database_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder without settings, as the current one."""
    monkeypatch.setenv("RAGBENCH_DATABASE__FOLDER", str(database_folder))
    monkeypatch.delenv("RAGBENCH_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    settings.load.cache_clear()
    return tmp_path


def asked(question: str, k: int) -> list[int]:
    return RANKED[question][:k]


async def later(question: str, k: int) -> list[int]:
    return asked(question, k)


def documents(question: str) -> list[Any]:
    return [SimpleNamespace(page_content=PASSAGES[one], metadata={}, id=None) for one in RANKED[question]]


def chain() -> Any:
    """Of the shape of a retriever of LangChain."""
    body = {"invoke": staticmethod(documents), "get_input_jsonschema": staticmethod(lambda: {"type": "string"})}
    return type("Retriever", (), {"__module__": "langchain_core.retrievers", **body})()


def tables(folder: Path) -> dict[str, Any]:
    wide = pd.DataFrame({"question": ASKED, "retrieved": list(RANKED.values())})
    each = [(q, one, rank) for q, found in RANKED.items() for rank, one in enumerate(found, 1)]
    alone = pd.DataFrame(each[::-1], columns=["question", "doc_id", "rank"])
    scored = alone.assign(score=1 / alone["rank"]).drop(columns="rank")
    rows = [{"id": str(place), "retrieved": [str(one) for one in found]} for place, found in enumerate(RANKED.values())]
    files = {"texts.json": wide.to_json(orient="records"), "each.csv": alone.to_csv(index=False)}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    lists = {row["id"]: row["retrieved"] for row in rows}
    (folder / "lists.json").write_text(json.dumps(lists), encoding="utf-8")
    return {
        **{name.replace(".", " "): folder / name for name in (*files, "lists.json")},
        "wide": wide, "alone": alone, "scored": scored, "rows": rows, "mapping": RANKED, "by id": lists,
        "series": pd.Series(RANKED), "columns": wide.to_dict("list"),
        "each text": pd.DataFrame({"Question": alone["question"], "Doc": [PASSAGES[one] for one in alone["doc_id"]],
                                   "Rank": alone["rank"]}),
        "file": write_lines(folder / "results.jsonl", rows), "named": str(folder / "results.jsonl"),
    }  # fmt: skip


def test_the_same_ranking_has_the_same_numbers_whatever_it_comes_from(place: Path) -> None:
    systems = {
        "two": asked, "one": lambda question: RANKED[question], "later": later, "chain": chain(),
        "texts": lambda question, k: [PASSAGES[one] for one in RANKED[question]],
        "pairs": lambda question, k: [(str(one), 1.0 / (rank + 1)) for rank, one in enumerate(RANKED[question])],
        "numpy": lambda question: np.array(RANKED[question]), **tables(place),
        "method": type("Search", (), {"retrieve": staticmethod(documents), "to_dict": dict})(),
    }  # fmt: skip
    before = settings.load()
    page = rb.tier1(systems, pd.DataFrame(QUESTIONS), documents=PASSAGES, k=3, repeats=1, metrics="mrr", resamples=200)
    scores = page.measurement.scores
    for name in systems:
        assert scores[scores["system"] == name]["value"].tolist() == pytest.approx(MRR), name
    assert page.material.baseline == "two", "the first"
    assert isinstance(page, rb.views.Page)
    assert "two" in rb.views.comparison.table(page).html()
    assert settings.load() == before, "nothing of it stays"


def test_objects_need_no_trust_and_names_do(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "ragbench.toml").write_text(
        '[systems.theirs]\ncallable = "theirs:search"\n'
        '[judges.theirs]\nbase_url = "https://example.com/v1"\nmodel = "m"\nkey_variable = "THEIR_KEY"\n',
        encoding="utf-8",
    )
    (place / "theirs.py").write_text("raise SystemExit('it ran')", encoding="utf-8")
    monkeypatch.setenv("RAGBENCH_TRUST", "")
    monkeypatch.setenv("XDG_STATE_HOME", str(place / "state"))
    settings.load.cache_clear()
    given: dict[str, Any] = {"dataset": QUESTIONS, "documents": PASSAGES, "repeats": 1, "resamples": 200}
    assert rb.tier1({"mine": asked}, **given).measurement.facts["systems"][0]["name"] == "mine"
    judged = rb.tier3({"mine": answering}, **given, metrics="e2e_score").measurement
    assert [one["name"] for one in judged.facts["judges"]] == ["lexical"], "nobody has answered for the folder's judges"
    with pytest.raises(trust.UntrustedError, match=r"systems\.theirs"):
        rb.tier1({"mine": asked, "theirs": "theirs"}, **given)
    with pytest.raises(trust.UntrustedError, match=r"judges\.theirs"):
        rb.tier3({"mine": answering}, **given, judges="theirs")


def answering(question: str, k: int) -> dict[str, Any]:
    return {"answer": PASSAGES[RANKED[question][0]], "retrieved": RANKED[question]}


def test_writers_are_given_the_ideal_contexts(place: Path) -> None:
    seen: list[tuple[str, list[str]]] = []

    def copy(question: str, contexts: list[str]) -> str:
        seen.append((question, list(contexts)))
        return contexts[0]

    logged = pd.DataFrame({"question": ASKED, "answer": [one["reference"] for one in QUESTIONS]})
    given: dict[str, Any] = {"repeats": 1, "resamples": 200, "metrics": "rouge1_f"}
    page = rb.tier2({"copy": copy, "logged": logged}, QUESTIONS, documents=PASSAGES, **given)
    assert seen == [(question, [PASSAGES[number]]) for number, question in enumerate(ASKED)]
    scores = page.measurement.scores
    assert scores[scores["system"] == "logged"]["value"].tolist() == [1.0, 1.0, 1.0], "word for word the reference"
    found = dict(zip(ASKED, scores[scores["system"] == "copy"]["value"], strict=True))
    assert found["When does the library open?"] == pytest.approx(2 * (3 / 6) * (3 / 3) / (3 / 6 + 3 / 3)), (
        "at 8 00 of 6"
    )


def test_a_system_answers_itself_or_by_a_part_of_its_own(place: Path) -> None:
    parts = {"retriever": asked, "generator": lambda question, contexts: contexts[0]}
    given: dict[str, Any] = {"repeats": 1, "resamples": 200, "metrics": "rouge1_f", "contexts": 1, "k": 3}
    page = rb.tier3({"whole": answering, "parts": parts}, QUESTIONS, documents=PASSAGES, **given)
    answers = page.measurement.extra["answers"].set_index(["system", "sample"])["response"]
    assert answers["whole"].tolist() == answers["parts"].tolist() == [PASSAGES[one[0]] for one in RANKED.values()]


def test_tables_of_answers_and_systems_that_answer_are_scored_alike(place: Path) -> None:
    said = [PASSAGES[found[0]] for found in RANKED.values()]
    contexts = [[PASSAGES[one] for one in found] for found in RANKED.values()]
    table = pd.DataFrame({"question": ASKED, "answer": said, "contexts": contexts})
    by_question = {row["question"]: row for row in table.to_dict("records")}
    how: dict[str, Any] = {"metrics": "faithfulness", "resamples": 200}
    asked_now = rb.rag_metrics({"a": answering}, QUESTIONS, documents=PASSAGES, **how).measurement
    by_system = rb.rag_metrics({"a": table, "b": by_question}, **how).measurement
    in_a_column = tiers.rag_metrics(answers=table.assign(system="a"), **how)
    values = [one.estimates[0].estimate.value for one in (asked_now, by_system, in_a_column)]
    assert values == [1.0, 1.0, 1.0], "each answer is a passage of its contexts"
    assert [(one.system, one.estimate.value) for one in by_system.estimates] == [("a", 1.0), ("b", 1.0)]


def test_embedders_are_told_by_what_they_give(place: Path) -> None:
    def letters(texts: list[str]) -> Any:
        return np.array([[len(text), text.count("e") + 1.0, text.count("a") + 1.0] for text in texts])

    async def later(texts: list[str]) -> Any:
        return pd.DataFrame(letters(texts))

    langchain = SimpleNamespace(embed_documents=letters, embed_query=lambda text: letters([text])[0])
    sentences = SimpleNamespace(encode=letters)
    log = [
        {"question": question, "answer": "yes", "score": 5, "user": user, "asked_at": f"2026-03-0{user}T10:00:00"}
        for question in ASKED
        for user in (1, 2)
    ]
    page = rb.ux({"function": letters, "langchain": langchain, "sentences": sentences, "later": later}, log,
                 resamples=200)  # fmt: skip
    rates = {one.system: one.estimate.value for one in page.measurement.estimates if one.metric == "cache_hit_rate"}
    assert rates == dict.fromkeys(("function", "langchain", "sentences", "later"), 1.0), (
        "each question was asked before, or will be"
    )
    identities = {one["embedder_identity"].rpartition(" ")[2] for one in page.measurement.facts["systems"]}
    assert len(identities) == 1, "the same vectors, told by their bits"
    with pytest.raises(ValueError, match="is no embedder: a function of a list of texts is expected"):
        rb.ux({"none": SimpleNamespace(embed=3)}, log)
    with pytest.raises(ValueError, match="it is called with a list of texts, and a vector of numbers is expected"):
        rb.ux({"texts": lambda texts: texts}, log)


def test_lists_for_each_column_are_tables_in_memory() -> None:
    made = in_memory.dataset({
        "documents": {"id": ["d1", "d2"], "text": ["Oaks live long.", "Pines grow."]},
        "questions": {"question": ["Oaks?", "Pines?"], "relevant": [["d1"], ["d2"]]},
    })  # fmt: skip
    assert [(asked.text, dict(asked.relevant)) for asked in made.questions] == [
        ("Oaks?", {"d1": 1.0}), ("Pines?", {"d2": 1.0}),
    ]  # fmt: skip


def test_data_in_memory_are_the_data_of_files(tmp_path: Path, database_folder: Path) -> None:
    small_project.make(tmp_path, database_folder)
    chunks = pd.DataFrame([{"id": name, "text": f"Text of {name}.", "url": url} for name, url in CHUNKS.items()])
    questions = [
        {
            "id": name,
            "text": f"What of {name}?",
            "relevant": json.dumps(relevant),
            "answerable": "yes" if relevant else 0,
        }
        for name, relevant in RELEVANT.items()
    ]
    for given in (pd.DataFrame(questions), questions, [{**one, "relevant": RELEVANT[one["id"]]} for one in questions]):
        made = in_memory.dataset({"questions": given, "documents": chunks})
        assert made.content_hash == load("small", tmp_path / "data").content_hash
    by_text = [{**one, "relevant": [f"Text of {name}." for name in RELEVANT[one["id"]]]} for one in questions]
    made = in_memory.dataset({"questions": by_text, "documents": dict(zip(chunks["id"], chunks["text"], strict=True))})
    assert [set(one.relevant) for one in made.questions] == [set(RELEVANT[one.id]) for one in made.questions]
    alone = in_memory.dataset({"questions": [{"question": "Где?", "reference_contexts": ["Там."]}]})
    assert (alone.language, [chunk.text for chunk in alone.chunks]) == ("ru", ["Там."])
    assert alone.title == in_memory.LABELLED_ALONE
    named = [{"Вопрос": "Где?", "Эталонный ответ": ["Там.", "Тут."], "gold": 0, "Категория": "залы", "Автор": "я"}]
    made = in_memory.dataset({"questions": named, "documents": [{"Текст": "Там.", "source": "a.md"}]})
    [question], [passage] = made.questions, made.chunks
    assert (question.reference, question.references, question.kind) == ("Там.", ("Там.", "Тут."), "залы")
    assert (question.relevant, passage.text, passage.url) == ({"0": 1.0}, "Там.", "a.md")
    assert made.left_out == {"field Автор, which means nothing here": 1}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            {"questions": [{"question": "?", "relevant": 7}], "documents": ["a"]},
            r"row 1: names the passage '7', .* 1, such",
        ),
        ({"questions": [{"question": "?", "relevant": 7}]}, "there are no documents: give them as documents="),
        ({"questions": [{"title": "?"}]}, "row 1: question is missing; .* it has title"),
        (
            {"questions": [{"answer": "a", "prompt": "b", "instruction": "c"}]},
            "prompt and instruction differ, and either",
        ),
        ({"documents": [{"id": "a"}]}, "row 1: it has no text: text, page_content or content; it has id"),
        ({"documents": [{"id": "a", "text": "x"}, {"id": "a", "text": "y"}]}, "row 2: the id 'a' stands there twice"),
        (
            {"documents": "text"},
            "documents = 'text': a data frame, a list of mappings or a map",
        ),
        ({"questons": []}, "there is no table 'questons'; tables are questions"),
        ({}, "it holds neither questions nor documents"),
        ({"documents": ["a"], "language": "fr"}, "language = 'fr': one of en, ru is expected"),
    ],
)
def test_what_is_no_data_is_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(DatasetError, match=said):
        in_memory.dataset(given)


@pytest.mark.parametrize(
    ("systems", "said"),
    [
        ({"v1": "bm52"}, r"v1 = 'bm52': that is neither a file of results nor one of .*did you mean 'bm25'"),
        ({"v1": lambda: 1}, r"v1: it takes \(\), and is called with \(question, k\)"),
        ({"v1": 5}, "v1: that is a whole number, not a function"),
        ({"v1": [[0], [1], [2]]}, "v1: a list of a list each does not tell of which question; a mapping from question"),
        ({"a,b": asked}, "the name 'a,b' holds a comma"),
        ({}, "nothing is given"),
        ({"v1": [{"id": "0", "score": 1}]}, "row 1: it says neither what was retrieved nor what was answered"),
        ({"v1": [{"question": "Else?", "retrieved": [1]}]}, "no question of the data set reads 'Else\\?'"),
    ],
)
def test_what_is_no_system_is_refused(place: Path, systems: Any, said: str) -> None:
    with pytest.raises(BenchError, match=said):
        rb.tier1(systems, QUESTIONS, documents=PASSAGES)


def test_logged_rows_keep_what_was_logged_of_them() -> None:
    rows = [{"id": 1, "contexts": ["a"], "answer": "yes", "latency_ms": 5, "strange": 1}]
    assert list(logged(rows, "v1", {})) == [{"id": "1", "latency_ms": 5, "retrieved": ["a"], "answer": "yes"}]


@pytest.mark.browser
def test_the_first_notebook_is_executed_as_it_is(place: Path) -> None:
    import nbformat
    from papermill import execute_notebook

    quickstart = Path(__file__).parents[3] / "notebooks" / "quickstart.ipynb"
    execute_notebook(str(quickstart), str(place / "done.ipynb"), progress_bar=False, cwd=str(place), log_output=False)
    done = nbformat.read(place / "done.ipynb", as_version=4)
    shown = [output.data for cell in done.cells for output in cell.get("outputs", ()) if "data" in output]
    page = "".join(one.get("text/html", "") for one in shown)
    assert "<b>bm25</b> is better than letters" in page, "letters alone find next to nothing"
    assert any("image/svg+xml" in one for one in shown)
