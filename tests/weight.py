"""Weight of the code by room, in tokens: names, operators, numbers and strings.

A string is one token, however long. Comments, docstrings, blank lines and layout are free, so
neither comments nor wide lines change the weight.
`python -m tests.weight [FOLDER]` prints what a folder weighs (default: ragbench).
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections import defaultdict
from pathlib import Path

PACKAGE = Path(__file__).parent.parent / "ragbench"
TOP = "cli, top"
TOGETHER = {
    "llm": "llm, judge",
    "judge": "llm, judge",
    "embed": "embed, store",
    "store": "embed, store",
    "cli": TOP,
}
"""Rooms that share one budget."""
LAYOUT = {
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}


def tokens_of(source: str) -> int:
    """Tokens of a module's source."""
    docstring_lines = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            docstring_lines.add(node.value.lineno)
    counted = 0
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        is_docstring = token.type == tokenize.STRING and token.start[0] in docstring_lines
        if token.type not in LAYOUT and not is_docstring:
            counted += 1
    return counted


def tokens_by_room(package: Path = PACKAGE) -> dict[str, int]:
    """Tokens of each room: the folders of a package, and the files at its top."""
    weights: dict[str, int] = defaultdict(int)
    for path in sorted(package.rglob("*.py")):
        parts = path.relative_to(package).parts
        room = parts[0] if len(parts) > 1 else TOP
        weights[TOGETHER.get(room, room)] += tokens_of(path.read_text(encoding="utf-8"))
    return dict(weights)


if __name__ == "__main__":
    weights = tokens_by_room(Path(sys.argv[1]) if sys.argv[1:] else PACKAGE)
    for room, weight in sorted(weights.items(), key=lambda item: -item[1]):
        print(f"{room:14} {weight:9,}")
    print(f"{'all':14} {sum(weights.values()):9,}")
