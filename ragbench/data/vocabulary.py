"""The names that the reader knows, out of vocabulary.toml."""

from __future__ import annotations

import re
import tomllib
from functools import lru_cache
from pathlib import Path
from typing import Any

VOCABULARY: dict[str, Any] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)
SYNONYMS = VOCABULARY["synonyms"]
# Records of formats: the columns they are known by, and by field the paths to its values.
FORMATS = list(VOCABULARY["formats"].values())
TRACES = list(VOCABULARY["traces"].values())
LISTS = VOCABULARY["lists"]
FILES = VOCABULARY["files"]
KINDS = VOCABULARY["kinds"]["first"]
NEEDED = VOCABULARY["needed"]
PAGES = VOCABULARY["pages"]
FIELDS: tuple[str, ...] = tuple(SYNONYMS)
# Fields that a sample has; the others are read by data sets only.
SAMPLE_FIELDS = FIELDS[: FIELDS.index("text")]
FIELD_BY_NAME = {name: name for name in FIELDS}
for _name, _synonyms in SYNONYMS.items():
    FIELD_BY_NAME.update(dict.fromkeys(_synonyms, _name))


@lru_cache  # asked for every key of a trace
def normalize(name: str) -> str:
    """Write a name without case, blanks, hyphens and humps.

    >>> normalize("Expected Output"), normalize("expectedOutput")
    ('expected_output', 'expected_output')
    """
    parted = re.sub(r"(?<=[a-zа-яё0-9])(?=[A-ZА-ЯЁ])", "_", str(name).strip())
    return re.sub(r"[\s/-]+", "_", parted).lower()


def field_of(column: str) -> str | None:
    """Return the field that a column goes by, or None."""
    return FIELD_BY_NAME.get(normalize(column))
