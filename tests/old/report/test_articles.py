"""Tables for articles are set by LaTeX itself: no line is wider than the text, whatever systems are called."""

from __future__ import annotations

import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from ragbench.old.core.language import translator
from ragbench.old.report import exports
from tests.old.views.measurements import measurement

NEEDED = ("article.cls", "booktabs.sty", "tabularx.sty", "siunitx.sty", "t2aenc.def")
DOCUMENT = r"""\documentclass[a4paper]{article}
\usepackage[T2A,T1]{fontenc}
\usepackage[utf8]{inputenc}
\usepackage{amssymb,booktabs,tabularx,siunitx}
\DeclareUnicodeCharacter{2026}{\ldots}
\DeclareUnicodeCharacter{2212}{\ensuremath{-}}
\DeclareUnicodeCharacter{202F}{\,}
%s
\begin{document}
%s
\end{document}
"""


def engine() -> str:
    """pdflatex with all that is needed; else the test is skipped, with the reason."""
    found = shutil.which("pdflatex")
    if found is None:
        pytest.skip(
            "there is no pdflatex: apt-get install texlive-latex-recommended texlive-science texlive-lang-cyrillic"
        )
    lacking = [
        name for name in NEEDED if not subprocess.run(["kpsewhich", name], capture_output=True, check=False).stdout
    ]
    if lacking:
        pytest.skip(f"LaTeX lacks {', '.join(lacking)}")
    return found


@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("number", [2, 5])
def test_a_table_is_no_wider_than_the_text(tmp_path: Path, number: int, language: str) -> None:
    systems = tuple(f"retriever{place}_with-a-name-of-forty-signs-or-so".ljust(40, "x")[:40] for place in range(number))
    names = ("answer_correctness_rating", "ndcg(gain=exponential)@10", *(f"hit_rate@{k}" for k in range(1, 13)))
    made = measurement(systems, names, 12, gain=0.3)
    table = exports.latex_table(made, translator(language))
    assert ("output-decimal-marker={,}" in table) is (language == "ru")
    captions = re.findall(r"\\caption\{(.*)\}", table)
    assert len(captions[0].replace(r"\allowbreak{}", "")) < 330, "three lines"
    assert {*captions[1:]} == {translator(language)("Continued.")}
    set_by_latex(tmp_path, table, language)


def set_by_latex(folder: Path, table: str, language: str) -> None:
    """LaTeX sets the table, and no line of it is wider than the text and no part of it longer than a page."""
    pdflatex = engine()
    encoding = r"\renewcommand{\encodingdefault}{T2A}" if language == "ru" else ""
    (folder / "a.tex").write_text(DOCUMENT % (encoding, table), encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "a.tex"]
    done = subprocess.run(command, cwd=folder, capture_output=True, timeout=120, check=False)
    said = (folder / "a.log").read_text(encoding="latin-1")
    assert done.returncode == 0, said[-2000:]
    assert (folder / "a.pdf").read_bytes().startswith(b"%PDF")
    assert re.findall(r"Overfull \\hbox.*|Float too large.*", said) == []


def test_a_name_in_markdown_calls_nobody() -> None:
    """GitHub writes to whoever stands behind an @ that begins a word; an @ inside a word is left as it is."""
    assert exports.markdown("@octocat and (@team/all) of ndcg@10") == (
        r"@&#8203;octocat and \(@&#8203;team/all\) of ndcg@10"
    )
    assert exports.markdown("v5 $k$") == r"v5 \$k\$", "no formula"
    made = measurement(("@base", "@new"), ("mrr",), 10, facts={"dataset": "@data"})
    text = exports.summary({"notebooks": [{"name": "@t"}]}, {"@t": made}, None, translator("en"))
    assert "@&#8203;base" in text
    assert re.findall(r"(?<!\w)@(?!&#8203;)", text) == []


def test_a_caption_names_test_intervals_and_groups_in_one_line_and_which_way_is_good() -> None:
    english, russian = translator("en"), translator("ru")
    made = measurement(metrics=("mrr", "noise_sensitivity", "retrieval_latency_ms"))
    way = ("higher", "lower", "lower")
    turned = zip(made.comparisons, way, strict=True)
    made = replace(made, comparisons=tuple(replace(c, comparison=replace(c.comparison, better=b)) for c, b in turned))
    latex, markdown = (
        exports.latex_table(made, english),
        exports.summary({"notebooks": [{"name": "t"}]}, {"t": made}, None, english),
    )
    for text in (latex, markdown.replace("\\", "")):
        assert re.search(r"Test: [^.]*, intervals: bootstrap interval \(BCa\), independent questions: 40\.", text), text
        plain = text.replace("\\allowbreak{}", "").replace("\\", "")
        assert "Higher is better: mrr. Lower is better: noise_sensitivity, retrieval_latency_ms." in plain, text
    assert "Чем ниже, тем лучше: noise" in exports.latex_table(made, russian)
    grouped = tuple(replace(c, comparison=replace(c.comparison, clusters=7)) for c in made.comparisons)
    assert "independent groups: 7." in exports.latex_table(replace(made, comparisons=grouped), english)
    assert "Higher is better." in exports.latex_table(measurement(), english)
