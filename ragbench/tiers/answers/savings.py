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
REPLIES = ("generator", "replies", *TAKEN)
SAVINGS = ("system", "asked", "generator", "hits", "replies", *TAKEN)
MOST_REPLIES = 2000
"""Of a generator's that a mean is made of."""


def generators(session: Session) -> list[str]:
    """The models that write the answers of the session's systems, each once."""
    named = dict.fromkeys(generator_name(session, system) for system in session.systems)
    known = session.settings.generators
    return [name for name in named if name in known and known[name].kind == "openai"]


def replies(store: Store, session: Session) -> pd.DataFrame:
    """Rows of REPLIES: what a reply of each generator in the journal takes in the mean; cost: NaN without a price."""
    import pandas as pd

    return pd.DataFrame(list(_means(store, session)), columns=list(REPLIES))


def _means(store: Store, session: Session) -> Iterator[tuple[Any, ...]]:
    for name in generators(session):
        settings = session.settings.generators[name]
        replies = store.journal.sample(name, str(settings.model), MOST_REPLIES)
        written = [reply for reply in replies if reply["prompt"] == PROMPT]
        means = {key: _mean([float(reply[key]) for reply in written]) for key in TAKEN}
        if not settings.is_priced:
            means["cost"] = math.nan
        yield (name, len(written), *means.values())


def table(caches: pd.DataFrame, of_generators: pd.DataFrame) -> pd.DataFrame:
    """Rows of SAVINGS: for each row of `caches` and each of REPLIES, hits × the mean; NaN of no replies."""
    import pandas as pd

    rows = [
        (system, asked, generator, int(hits), int(number), *(int(hits) * mean for mean in means))
        for generator, number, *means in of_generators.itertuples(index=False)
        for system, asked, hits in zip(caches["system"], caches["asked"], caches["hits"], strict=True)
    ]
    return pd.DataFrame(rows, columns=list(SAVINGS))


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else math.nan
