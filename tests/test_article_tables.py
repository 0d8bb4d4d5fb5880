"""Tables for articles are set by LaTeX itself: no line is wider than the text, whatever systems are called."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from ragbench.language import translator
from ragbench.report.exports import articles
from tests.measurements import measurement

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


@pytest.mark.slow
@pytest.mark.parametrize("language", ["en", "ru"])
@pytest.mark.parametrize("number", [2, 5])
def test_a_table_is_no_wider_than_the_text(tmp_path: Path, number: int, language: str) -> None:
    pdflatex = engine()
    systems = tuple(f"retriever{place}_with-a-name-of-forty-signs-or-so".ljust(40, "x")[:40] for place in range(number))
    made = measurement(systems, ("answer_correctness_rating", "ndcg(gain=exponential)@10", "mrr"), 40, gain=0.3)
    table = articles.latex_table(made, translator(language))
    assert ("output-decimal-marker={,}" in table) is (language == "ru")
    encoding = r"\renewcommand{\encodingdefault}{T2A}" if language == "ru" else ""
    (tmp_path / "a.tex").write_text(DOCUMENT % (encoding, table), encoding="utf-8")
    command = [pdflatex, "-interaction=nonstopmode", "-halt-on-error", "-no-shell-escape", "a.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=120, check=False)
    said = (tmp_path / "a.log").read_text(encoding="latin-1")
    assert done.returncode == 0, said[-2000:]
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert re.findall(r"Overfull \\hbox.*", said) == []
