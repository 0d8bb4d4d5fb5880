"""Every text that people read, found where it stands; run as a program, brings the catalogues up to date with them.

`python -m tests.laws.texts` keeps the translations there are, adds what is missing with an empty translation,
drops what is no longer said, and prints what is left to translate.
"""

from __future__ import annotations

import ast
import functools
import io
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from babel.messages.catalog import Catalog
from babel.messages.pofile import write_po

from ragbench import tiers
from ragbench.core import annexes, language
from ragbench.core.metric import GOALS, Metric
from ragbench.core.settings import Band
from ragbench.metrics import catalogue
from ragbench.metrics.criterion import Criterion
from ragbench.tiers.scoring import functions
from tests.laws import sources

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "ragbench"
KEYWORDS = {"Reason": 1, "_": 1, "text": 1, "html": 1, "sentence": 1, "plural": 2}
"""Whose calls begin with so many texts for people."""
_TEMPLATE_TEXT = re.compile(r"""\b_\(\s*(["'])(.+?)\1""")
NOT_PROSE = re.compile(r"^(```|\$\$)")


@functools.cache
def texts_of_code() -> tuple[tuple[str, str | tuple[str, str]], ...]:
    """Where a text stands, and the text (a pair for a plural)."""
    return tuple(_texts_of_code())


def _texts_of_code() -> Iterator[tuple[str, str | tuple[str, str]]]:
    folders = ("core", "stats", "metrics", "llm", "judge", "tiers", "views", "report", "cli", "extras")
    for path in [
        *sorted(PACKAGE.glob("*.py")),
        *(p for name in folders for p in sorted((PACKAGE / name).rglob("*.py"))),
    ]:
        calls = [node for node in sources.nodes(path) if isinstance(node, ast.Call)]
        for call in sorted(calls, key=lambda one: (one.lineno, one.col_offset)):
            wanted = KEYWORDS.get(getattr(call.func, "id", getattr(call.func, "attr", "")), 0)
            texts = [getattr(given, "value", None) for given in call.args[:wanted]]
            if wanted and len(texts) == wanted and all(isinstance(text, str) and text for text in texts):
                yield f"{path.relative_to(ROOT)}:{call.lineno}", texts[0] if wanted == 1 else tuple(texts)
    for path in sorted((PACKAGE / "report" / "template").rglob("*.j2")):
        for found in _TEMPLATE_TEXT.finditer(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), found[2]


def texts_of_notebooks() -> Iterator[tuple[str, str]]:
    for path in [*sorted((ROOT / "notebooks").glob("*.ipynb")), *annexes.notebooks().values()]:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] == "markdown":
                for block in re.split(r"\n[ \t]*\n+", "".join(cell["source"]).strip()):
                    if block.strip() and not NOT_PROSE.match(block.strip()):
                        yield f"{path.name}:{cell['id']}", block.strip()


def texts_of_metrics(*grains: str) -> Iterator[tuple[str, str]]:
    for name, metric in catalogue().items():
        if metric.function.__module__.startswith("ragbench.") and (not grains or metric.grain in grains):
            told = (metric.summary, metric.formula, metric.edges, metric.several, metric.differs, metric.source)
            for text in (*told, *_declared(metric)):
                if text:
                    yield f"metric {name}", text
    for scale in ("yes/no", (1, 5), ("bad", "good")):
        own = Criterion("own", {"": "Is it?"}, scale).metric()
        yield from (("criterion", text) for text in (own.formula, own.edges, own.source))
    yield "function", functions.SOURCE
    yield from (("goal", title) for title in GOALS.values())
    yield from (("threshold", band.word) for band in Band(good=0.5, excellent=0.8).stretches)


def _declared(metric: Metric) -> Iterator[str]:
    """What a metric's declaration tells of reading, choosing and trusting it."""
    if (reading := metric.reading) is not None:
        yield from (*reading.rules, reading.source, reading.trust)
        yield from (text for band in reading.bands for text in (band.word, band.meaning))
    yield from metric.when
    yield from (purpose.why for purpose in metric.purposes)
    yield from (peer.on for peer in metric.peers)


def texts_of_requests() -> Iterator[tuple[str, str]]:
    """The line of help of every parameter: a page's Method section shows it."""
    for name in tiers.__all__:
        if (request := getattr(getattr(tiers, name), "request", None)) is not None:
            for parameter, field in request.parameters().items():
                yield f"{name}: {parameter}", field.description
    for name in annexes.offered("notebooks"):
        for parameter, field in annexes.taken("notebooks", name).request.parameters().items():
            yield f"{name}: {parameter}", field.description


def all_texts(*grains: str) -> list[tuple[str, str | tuple[str, str]]]:
    """Texts of code, of notebooks, of parameters, and of metrics (of these grains; all if none)."""
    others = (*texts_of_notebooks(), *texts_of_requests())
    return [*texts_of_code(), *others, *texts_of_metrics(*grains)]


def update(path: Path) -> list[str | tuple[str, str]]:
    """Bring a catalogue up to date; the texts that have no translation yet are returned."""
    head = path.read_text(encoding="utf-8").split("\n\n", 1)[0]
    known = {message.id: message.string for message in language.catalogue(path) if message.id}
    catalogue = Catalog(locale=path.parts[-3])
    missing = []
    for text in dict.fromkeys(text for _, text in all_texts()):
        translation = known.get(text) or ("" if isinstance(text, str) else ("",) * 3)
        if not all([translation] if isinstance(translation, str) else translation):
            missing.append(text)
        catalogue.add(text, translation)
    buffer = io.BytesIO()
    write_po(buffer, catalogue, width=110, omit_header=True)
    body = re.sub(r"#, python-(brace-)?format\n", "", buffer.getvalue().decode())
    path.write_text(f"{head}\n\n{body}", encoding="utf-8")
    return missing


if __name__ == "__main__":
    left = [text for path in sorted(language.LOCALE.glob("*/LC_MESSAGES/ragbench.po")) for text in update(path)]
    print(*(repr(text) for text in left), sep="\n")
    sys.exit(1 if left else 0)
