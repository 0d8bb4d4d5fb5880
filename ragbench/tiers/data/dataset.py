"""What is in a data set, and what of it makes the numbers of the other pages look better or worse than they are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypedDict

from pydantic import Field

from ragbench.core import settings as configuration
from ragbench.core.annexes import offered, taken
from ragbench.core.measurement import Evidence, columns
from ragbench.core.settings import Settings
from ragbench.data import Dataset
from ragbench.tiers.basics import requests
from ragbench.tiers.basics.requests import Request, tier
from ragbench.tiers.basics.session import Need, Needed, commit, dataset_of, versions
from ragbench.tiers.data import persons
from ragbench.tiers.data.examination import MOST_TOLD, Examination, examine
from ragbench.tiers.data.persons import Masker

if TYPE_CHECKING:
    import pandas as pd


class OddityRow(TypedDict):
    """How many texts of a table are odd in a way, of how many."""

    kind: str
    table: str
    found: int
    of: int | None


class OddTextRow(TypedDict):
    """An odd text, and the other that makes it so."""

    kind: str
    table: str
    id: str
    text: str
    other: str
    other_text: str


class LengthRow(TypedDict):
    """How many texts of a table have so many words."""

    table: str
    words: int
    texts: int


class TongueRow(TypedDict):
    """How many texts of a table are in a language; empty: too short or unsure to tell."""

    table: str
    language: str
    texts: int


class DatasetRequest(Request):
    """What of a data set is looked at, and how its texts are shown."""

    dataset: requests.Dataset = ""
    sampled: int = Field(
        300,
        description="how many texts of a table are searched for names, and how many questions BM25 searches for",
        ge=1,
    )
    listed: int = Field(100, description="texts of each finding that are kept; the page shows the first", ge=1)
    mask: bool = Field(True, description="replace people's names, e-mail addresses, telephones and long numbers")
    seed: requests.Seed = Field(0, description="of the samples")
    language: requests.Language = "en"
    notebook: str = "dataset"

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Any texts."""
        return (Needed.of(Need.PASSAGES, Need.QUESTIONS, Need.HISTORY, Need.DIALOGUES),)


@tier(DatasetRequest)
def dataset(request: DatasetRequest) -> Evidence:
    """Look a data set over; nothing is retrieved, no model is asked.

    The tables are `oddities` (kind, table, texts found, of how many; see `ragbench.tiers.data.examination`),
    `odd_texts`, `lengths` (words) and `tongues`. Raises DatasetError for a data set that is not there.
    """
    data = dataset_of(request.dataset or configuration.load().dataset, configuration.load(), request.language)
    shown = _shown(_masker(data) if request.mask else None)
    examined = examine(data, data.language, listed=request.listed, sampled=request.sampled, seed=request.seed)
    return Evidence(
        notebook=request.notebook,
        facts={
            "dataset": data.label,
            "dataset_title": data.title,
            "licence": data.licence,
            "data_hash": data.hash_with("dialogues", "decisions"),
            "n_questions": len(data.questions),
            "n_chunks": len(data.chunks),
            "left_out": dict(data.left_out),
            "describes": "dataset",
            "data_language": data.language,
            "consequences": [
                {"kind": oddity.kind, "table": oddity.table, **oddity.numbers}
                for oddity in examined.oddities
                if oddity.numbers
            ],
            "sampled": request.sampled,
            "told": MOST_TOLD,
            "masked": request.mask,
            "seed": request.seed,
            "systems": [],
            "versions": versions(),
            "commit": commit(),
        },
        extra={**_frames(examined, shown), **_further(data, shown)},
    )


def _masker(data: Dataset) -> Masker:
    users = dict.fromkeys(past.user for past in data.history if past.user is not None)
    return Masker(users, names=persons.finds_names())


def _shown(masker: Masker | None) -> Callable[[str], str]:
    return lambda text: text if masker is None else masker.text(text) or ""


def _further(data: Dataset, shown: Callable[[str], str]) -> Mapping[str, pd.DataFrame]:
    """The tables of annexes."""
    tables: dict[str, pd.DataFrame] = {}
    for name in offered("examined"):
        tables |= taken("examined", name).tables(data, shown)
    return tables


def _frames(examined: Examination, shown: Callable[[str], str]) -> Mapping[str, pd.DataFrame]:
    import pandas as pd

    def texts() -> Iterable[tuple[Any, ...]]:
        for oddity in examined.oddities:
            for each in oddity.examples:
                yield oddity.kind, oddity.table, each.id, shown(each.text), each.other, shown(each.other_text)

    rows = [(oddity.kind, oddity.table, oddity.found, oddity.of) for oddity in examined.oddities]
    return {
        "oddities": pd.DataFrame(rows, columns=columns(OddityRow)).astype({"found": "Int64", "of": "Int64"}),
        "odd_texts": pd.DataFrame(list(texts()), columns=columns(OddTextRow)),
        "lengths": pd.DataFrame(list(examined.lengths), columns=columns(LengthRow)),
        "tongues": pd.DataFrame(list(examined.languages), columns=columns(TongueRow)),
    }
