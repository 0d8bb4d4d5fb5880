"""What the answers that a cache serves would have taken to write, by the replies that the journal keeps."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ragbench.systems.chat import PROMPT
from ragbench.tiers.answers.written_answers import generator_name

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.store import Store
    from ragbench.tiers.basics.session import Session

TAKEN = ("input_tokens", "output_tokens", "cost", "seconds")
SAVINGS = ("system", "asked", "generator", "hits", "replies", *TAKEN)
MOST_REPLIES = 2000
"""Of a generator's that a mean is made of."""


def generators(session: Session) -> list[str]:
    """The models that write the answers of the session's systems, each once."""
    named = dict.fromkeys(generator_name(session, system) for system in session.systems)
    known = session.settings.generators
    return [name for name in named if name in known and known[name].kind == "openai"]


def table(store: Store, session: Session, caches: pd.DataFrame) -> pd.DataFrame:
    """A row for each row of `caches` and each generator: hits × the mean of its replies in the journal.

    replies: how many the mean is made of; with none of them what is saved is NaN. cost: NaN without a price.
    """
    import pandas as pd

    rows = list(_rows(store, session, caches)) if len(caches) else []
    return pd.DataFrame(rows, columns=list(SAVINGS))


def _rows(store: Store, session: Session, caches: pd.DataFrame) -> Iterator[tuple[Any, ...]]:
    for name in generators(session):
        settings = session.settings.generators[name]
        replies = store.journal.sample(name, str(settings.model), MOST_REPLIES)
        written = [reply for reply in replies if reply["prompt"] == PROMPT]
        means = {key: _mean([float(reply[key]) for reply in written]) for key in TAKEN}
        if not settings.is_priced:
            means["cost"] = math.nan
        for system, asked, hits in zip(caches["system"], caches["asked"], caches["hits"], strict=True):
            yield (system, asked, name, int(hits), len(written), *(int(hits) * means[key] for key in TAKEN))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
