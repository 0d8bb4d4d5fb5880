"""Texts of others are masked, then cut: of a secret that is cut first, no mask finds the rest."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import pytest

from ragbench.core.progress import Event, Listening
from ragbench.core.settings import secrets
from ragbench.core.settings.endpoints import EmbedderSettings
from ragbench.core.settings.urls import Url
from ragbench.core.types import EmbeddingError
from ragbench.data.remotes import RemoteError, refusing
from ragbench.embed import model
from ragbench.llm import endpoint
from ragbench.metrics import vectors
from ragbench.systems import callables, passages, service_replies
from ragbench.tiers.basics import verdict_tables
from tests.laws import sources

KEY = "sk-Qz7Wm2Xv9Lp4Rt8Yk3Nb6Hd"
LENGTH = 300
FRAGMENT = 4
"""So many characters of the key in a row are a part of it."""


def _listener(said: str) -> str:
    def told(event: Event) -> None:
        raise RuntimeError(said)

    listening = Listening([("mine", told)])
    listening.tell(Event("metric", "run", "1", "", 0.0, 0.0, "bm25", "q1"))
    return listening.close()[0].why


def _storage(said: str) -> str:
    with pytest.raises(RemoteError) as caught, refusing(Url.of("s3://bucket/folder"), "read"):
        raise RuntimeError(said)
    return str(caught.value)


def _vectors(said: str) -> str:
    def embed(texts: object, *, kind: str) -> object:
        raise RuntimeError(said)

    return " ".join(verdict_tables.frequent(vectors.embedded(embed, ["a"], "query").faults.values()))  # type: ignore[arg-type]


def _model(said: str) -> str:
    def broken(source: str) -> None:
        raise RuntimeError(said)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(model, "_loaded", broken)
        with pytest.raises(EmbeddingError) as caught:
            model.ModelEmbedder("mine", EmbedderSettings(kind="sentence_transformers", model="a/b"))
    return str(caught.value)


CHANNELS: dict[str, Callable[[str], str]] = {
    "a function of a user": lambda said: callables.told(RuntimeError(said)),
    "several errors at once": lambda said: callables.told(ExceptionGroup("", [RuntimeError(said)])),
    "a function that judges": lambda said: endpoint._told(RuntimeError(said)),
    "a listener": _listener,
    "a reply that is not JSON": service_replies._beginning,
    "an item that is none": passages._shown,
    "storage": _storage,
    "an embedder": _vectors,
    "a model that does not load": _model,
    "reasons of a page": lambda said: " ".join(verdict_tables.frequent([said])),
    "a packed run": lambda said: pytest.importorskip("ragbench.extras.runs.packs").excerpt(RuntimeError(said), 200),
    "a tracker": lambda said: pytest.importorskip("ragbench.extras.publishing.publish")._short({"said": said}),
}


@pytest.mark.fault("cut", tried="a key at every place of an error of 300 characters, by each channel", count=3600)
@pytest.mark.parametrize("channel", CHANNELS)
def test_no_part_of_a_key_is_left_wherever_a_text_is_cut(channel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAR_API_KEY", KEY)
    parts = {KEY[place : place + FRAGMENT] for place in range(len(KEY) - FRAGMENT + 1)}
    for before in range(LENGTH):
        text = "." * before + KEY + "." * max(0, LENGTH - before - len(KEY))
        shown = CHANNELS[channel](text)
        assert ".." in shown, "the error itself is told"
        assert not [part for part in parts if part in shown], f"{before} characters before the key: {shown}"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("12345", 5, "12345"),
        ("123456", 5, "1234…"),
        (" a \n b ", 9, "a b"),
        (f"..{KEY}..", 9, "..••••.."),
        (f"..{KEY}..", 4, "..•…"),
        ("postgresql://me:a word@host/x", 60, "postgresql://me:a word@host/x"),
        ("postgresql://me:pass@host/x", 19, "postgresql://me:••…"),
    ],
)
def test_an_excerpt_is_one_line_masked_first(
    text: str, limit: int, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAR_API_KEY", KEY)
    assert secrets.excerpt(text, limit) == shown


MASKING = {"excerpt", "hide", "mask", "sha256"}
SHORT = 20
"""A cut below so many characters is of a list, or of a word of one's own."""
ALLOWED = {
    ("data/documents.py", "LONGEST_TITLE"),
    ("extras/labelling/annotation.py", "MOST_NOTE"),
    ("core/settings/__init__.py", "!r"),
}
"""What a user's own file is called, and what somebody writes of a label: data, which are masked where they are kept; a
table's name, by which alone it is known which variables hold keys."""


def called(node: ast.Call) -> str:
    function = node.func
    if isinstance(function, ast.Call):
        return called(function)
    return function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")


def is_foreign(node: ast.AST, names: set[str]) -> bool:
    """Whether somebody else's text is in an expression, and no mask around it."""
    if isinstance(node, ast.Call):
        if called(node) in MASKING:
            return False
        if called(node) in ("repr", "decode", "format_exc"):
            return True
    if isinstance(node, ast.FormattedValue) and node.conversion == ord("r"):
        return True
    if isinstance(node, ast.Attribute) and node.attr in ("stderr", "stdout", "refusal"):
        return True
    if isinstance(node, ast.Name) and node.id in names:
        return True
    return any(is_foreign(inner, names) for inner in sources.children(node))


def foreign_names(function: ast.AST) -> set[str]:
    """Errors that are caught or given, and what is made of them."""
    within = sources.walk(function)
    names = {node.name for node in within if isinstance(node, ast.ExceptHandler) and node.name}
    names |= {
        node.arg
        for node in within
        if isinstance(node, ast.arg) and node.annotation and re.search("Error|Exception", ast.unparse(node.annotation))
    }
    made = [node for node in within if isinstance(node, ast.Assign | ast.NamedExpr | ast.AugAssign)]
    while True:
        targets = [
            target
            for node in made
            if is_foreign(node.value, names)
            for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        ]
        found = {name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)}
        if found <= names:
            return names
        names |= found


def cuts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """The line and the limit of each place where a text of somebody else's is cut before it is masked."""
    everything = sources.walk(tree)
    for node in everything:
        if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
            form = "".join(str(one.value) for one in ast.walk(node.format_spec) if isinstance(one, ast.Constant))
            if re.fullmatch(r"[^.]*\.\d+s?", form):  # of a number a letter stands behind it
                yield node.lineno, form
        if isinstance(node, ast.FormattedValue) and node.conversion == ord("r") and is_cut(node.value):
            yield node.lineno, "!r"
        if isinstance(node, ast.Call) and called(node) == "shorten":
            yield node.lineno, "shorten"
    if not any(is_cut(node) for node in everything):
        return
    for work in everything:
        if not isinstance(work, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        parts = [node for node in sources.walk(work) if is_cut(node)]
        names = foreign_names(work) if parts else set()
        for node in parts:
            made = node.value  # type: ignore[attr-defined]
            if is_foreign(made, names) or (isinstance(made, ast.Call) and called(made) == "str"):
                yield node.lineno, ast.unparse(node.slice.upper)  # type: ignore[attr-defined]


def is_cut(node: ast.AST) -> bool:
    """Whether it is the first part of something, as long as a text that is shown."""
    if not (isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice)):
        return False
    limit = node.slice.upper
    if isinstance(limit, ast.Constant):
        return isinstance(limit.value, int) and limit.value >= SHORT
    return isinstance(limit, ast.Name) and limit.id.isupper() and bool(re.search("SHOWN|LONG|KEPT|MOST_N", limit.id))


@pytest.mark.law
def test_nothing_of_others_is_cut_before_it_is_masked() -> None:
    found = {
        f"ragbench/{name}:{line}: cut at {limit}; ragbench.core.settings.secrets.excerpt masks before it cuts"
        for path in sources.package()
        for name in [path.relative_to(sources.PACKAGE).as_posix()]
        for line, limit in cuts(sources.tree(path))
        if (name, limit) not in ALLOWED
    }
    assert not found, "\n".join(sorted(found))


@pytest.mark.parametrize(
    ("code", "count"),
    [
        ("try:\n 1\nexcept ValueError as error:\n x = str(error)[:200]", 1),
        ("try:\n 1\nexcept ValueError as error:\n said = f'{error}'.split()\n x = ' '.join(said)[:SHOWN]", 1),
        ("try:\n 1\nexcept ValueError as error:\n x = excerpt(error, 200)", 0),
        ("try:\n 1\nexcept ValueError as error:\n x = hide(str(error))[:200]", 0),
        ("try:\n 1\nexcept ValueError as error:\n x = error.places[:5]", 0),
        ("x = repr(given)[:80]", 1),
        ("x = f'{given!r:.80}'", 1),
        ("x = f'{given[:80]!r}'", 1),
        ("x = str(given)[:500]", 1),
        ("x = f'{shown(given):.80}'", 1),
        ("x = f'{given:.3f} {given:.2%} {given:.3g}'", 0),
        ("x = textwrap.shorten(given, 80)", 1),
        ("x = done.stderr.splitlines()[-1][:200]", 1),
        ("x = content.decode()[:300]", 1),
    ],
)
def test_the_law_finds_what_is_cut_too_early(code: str, count: int) -> None:
    lines = "\n".join(f" {line}" for line in code.split("\n"))
    assert len(list(cuts(ast.parse(f"def made(given, done, content):\n{lines}")))) == count


def test_the_law_is_broken_by_an_error_that_is_given() -> None:
    source = "def told(error: Exception) -> str:\n return f'{error}'[:SHOWN_CHARACTERS]"
    assert list(cuts(ast.parse(source))) == [(2, "SHOWN_CHARACTERS")]
