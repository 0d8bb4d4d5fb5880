"""Tier 0: the shape of the space that embedders put the same texts in, measured without any labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from pydantic import Field

from ragbench.core import stand_ins
from ragbench.core.measurement import SCORE_COLUMNS, Evidence, Findings
from ragbench.core.settings import Settings
from ragbench.core.types import Chunk, Question, Status, Vectors
from ragbench.embed import wheels
from ragbench.embed.threads import one_thread
from ragbench.metrics.distances import Distance
from ragbench.metrics.embedding_space import Geometry
from ragbench.tiers.basics import requests
from ragbench.tiers.basics.choices import BenchError, Reads, parted
from ragbench.tiers.basics.design import Design
from ragbench.tiers.basics.families import Sureness
from ragbench.tiers.basics.needs import Need, Needed
from ragbench.tiers.basics.requests import Draws, tier
from ragbench.tiers.basics.session import Session
from ragbench.tiers.retrieval import projection, spread, topics

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.store import Store

Texts = Literal["chunks", "questions"]
FEWEST = 3  # texts: of two there is one distance
FEW = 4096  # texts that one thread measures: of more, the last digits depend on how many there are
PRIMARY = "effective_dimensionality"
MOST_PAIRS = 10_000  # of near-duplicates that are counted
KEYS = ["effective_dimensionality", "avg_nn_distance", "avg_spread", "avg_pairwise_distance"]


class Tier0Request(Draws):
    """What is embedded and how its space is looked at."""

    reads: ClassVar[Reads] = "embedders"
    reads_table: ClassVar[str] = "documents"

    dataset: requests.Dataset = ""
    systems: requests.OfSystems = ""
    embedders: requests.Embedders = ""
    texts: Texts = Field("chunks", description='what is embedded: "chunks" or "questions"')
    distance: Distance = Field("euclidean", description='"euclidean" or "cosine"')
    neighbors: int = Field(1, description="nearest others that count in a text's neighbour distance", ge=1)
    near: float = Field(
        0.25, description="share of the mean pairwise distance within which two texts are nearly the same", ge=0, lt=1
    )
    listed: int = Field(10, description="closest pairs and outliers that are listed for each embedder", ge=1)
    projected: int = Field(
        2000, description="texts in the picture at most, drawn at random where there are more; 0: no picture", ge=0
    )
    colour: Literal["auto", "page", "folder", "section", "kind", "cluster"] = Field(
        "auto", description='of the picture: "auto", "page", "folder", "section", "kind" or "cluster"'
    )
    seed: requests.Seed = Field(0, description="of every random draw and of the picture")
    notebook: str = "tier0_embeddings"

    @property
    def fewest(self) -> int:
        """How many texts it takes to speak of distances."""
        return max(FEWEST, self.neighbors + 1)

    def needed(self, settings: Settings) -> tuple[Needed, ...]:
        """Texts, and somebody who embeds them."""
        texts = Need.PASSAGES if self.texts == "chunks" else Need.QUESTIONS
        return (Needed.of(texts, least=self.fewest), *needed_embedders(self.embedders, self.systems, settings))


@dataclass(frozen=True)
class _Space:
    """What was found out about one embedder's vectors."""

    name: str
    facts: Mapping[str, Any]
    is_stand_in: bool
    scores: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]


def state(evidence: Evidence) -> Findings:
    """All measures of every space, from what each text adds to them and from what was read of the space as one."""
    facts = evidence.facts
    design = Design(evidence)
    distances = dict(iter(evidence.extra["distances"].groupby("system", sort=False)))
    readings = dict(iter(evidence.extra["spaces"].groupby("system", sort=False)))
    return Findings(
        tuple(
            each
            for name in design.systems
            for each in spread.estimates(name, distances[name], readings[name], facts["neighbors"], design.sureness)
        )
    )


@tier(Tier0Request, state, by_question=False)
def tier0_embeddings(request: Tier0Request) -> Evidence:
    """Embed the same texts with every embedder and measure the space they lie in.

    The numbers describe: a difference between two embedders is neither better nor worse without a retrieval task.
    Raises BenchError, DatasetError, EmbeddingError or StoreError, each with what is legal.
    """
    import pandas as pd

    session = Session.of(request, request.systems)
    names = chosen_embedders(request.embedders, request.systems, session.settings)
    items = session.dataset.chunks if request.texts == "chunks" else session.dataset.questions
    if len(items) < request.fewest:
        known = f"{session.dataset.label} has {len(items)} {request.texts}"
        raise BenchError(f"{known}: at least {request.fewest} are needed to speak of distances")
    drawn = projection.sampled(len(items), request.projected, request.seed)
    with session.store() as store, session.progress("tier0", len(names) * len(items)) as progress:
        spaces = [_space(store, name, session, items, drawn, request, progress) for name in names]
    tables = {key: pd.concat([space.tables[key] for space in spaces], ignore_index=True) for key in spaces[0].tables}
    return Evidence(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **asdict(request.take(Sureness)),
            "baseline": None,
            "describes": "space",
            "primary": PRIMARY,
            "key_metrics": KEYS,
            "tables": {"text_distances": "distances", "spectrum": "spectrum"},
            "n_texts": len(items),
            **{name: getattr(request, name) for name in ("texts", "distance", "neighbors", "near", "listed")},
            "projected": len(drawn) if request.projected else 0,
            "systems": [{"name": space.name, **space.facts} for space in spaces],
            "stand_ins": stand_ins.facts("embedder", [space.name for space in spaces if space.is_stand_in], own=True),
        },
        scores=pd.concat([space.scores for space in spaces], ignore_index=True),
        extra={**tables, "texts": _texts(items, tables)},
    )


def needed_embedders(given: requests.Names, systems: requests.Names, settings: Settings) -> tuple[Needed, ...]:
    """What is missing where all the systems that were named have no embedder, and none was named itself."""
    used = any(settings.embedders_of(name) for name in parted(systems) if name in settings.systems)
    return () if used or parted(given) or not parted(systems) else (Needed.of(Need.EMBEDDED),)


def chosen_embedders(given: requests.Names, systems: requests.Names, settings: Settings) -> list[str]:
    """Names as asked for; else the embedders of the systems that were named; else of all; else that of metrics.

    Raises BenchError for one that is not there, and for systems of which none has one.
    """
    used = [embedder for name in parted(systems) or settings.systems for embedder in settings.embedders_of(name)]
    if needed_embedders(given, systems, settings):
        raise BenchError(f"systems = {systems!r}: none of them has an embedder; name some: embedders")
    names = list(parted(given)) or list(dict.fromkeys(used)) or list(parted(settings.metric_embedder))
    for name in names:
        if name not in settings.embedders:
            raise BenchError(f"there is no embedder {name!r}; there are {', '.join(settings.embedders)}")
    return names


def _space(
    store: Store,
    name: str,
    session: Session,
    items: Sequence[Chunk | Question],
    drawn: np.ndarray,
    request: Tier0Request,
    progress: Any,
) -> _Space:
    from ragbench.embed import make
    from ragbench.embed.model import ModelEmbedder

    settings = session.settings.embedders[name]
    texts = [item.text for item in items]
    model = make(name, settings, [chunk.text for chunk in session.dataset.chunks], store.arrays)
    kind: Literal["passage", "query"] = "passage" if request.texts == "chunks" else "query"
    vectors = store.vectors(model, texts, kind=kind, batch=settings.batch, progress=progress)
    facts: dict[str, Any] = {
        **settings.model_dump(mode="json", exclude_defaults=True),
        **({"model": wheels.MODELS[settings.kind]} if settings.kind in wheels.MODELS else {}),
        "embedder_identity": model.identity,
        "width": int(vectors.shape[1]),
    }
    if isinstance(model, ModelEmbedder) and (truncated := model.truncated(texts, store.arrays)):
        facts["chunks_truncated"] = truncated
    with one_thread() if len(texts) <= FEW else nullcontext():
        return _measured(name, facts, vectors, session, items, drawn, request)


def _measured(
    name: str,
    facts: Mapping[str, Any],
    vectors: Vectors,
    session: Session,
    items: Sequence[Chunk | Question],
    drawn: np.ndarray,
    request: Tier0Request,
) -> _Space:
    geometry = Geometry(vectors, distance=request.distance, neighbors=request.neighbors)
    ids = np.array([item.id for item in items], dtype=object)
    closest, threshold, count = _closest(name, geometry, ids, request)
    known = {**facts, "near_duplicates": count, "near_distance": round(threshold, 6)}
    tables = {
        "distances": spread.distances(name, geometry, ids),
        "spaces": spread.readings(name, geometry),
        "histograms": spread.histograms(name, geometry),
        "spectrum": spread.spectrum(name, geometry),
        "closest": closest,
        "outliers": _outliers(name, geometry, ids, request.listed),
        **_pictured(name, vectors, items, drawn, request),
    }
    return _Space(name, known, session.settings.is_stand_in(name), _scores(name, geometry, ids), tables)


def _scores(name: str, geometry: Geometry, ids: np.ndarray) -> pd.DataFrame:
    """The per-text values that the means are of."""
    import pandas as pd

    columns = {
        "avg_nn_distance": geometry.nn_distances.mean(axis=1),
        "avg_spread": geometry.spread,
        "avg_pairwise_distance": geometry.pairs.per_vector,
    }
    same = {"system": name, "status": Status.OK.value, "reason": "", "judge": None}
    made = [pd.DataFrame({"metric": metric, "sample": ids, "value": values}) for metric, values in columns.items()]
    return pd.concat(made, ignore_index=True).assign(**same)[list(SCORE_COLUMNS)]


def _closest(name: str, geometry: Geometry, ids: np.ndarray, request: Tier0Request) -> tuple[pd.DataFrame, float, int]:
    """The closest pairs of texts, the threshold of near-duplicates, and how many pairs lie within it."""
    threshold = request.near * geometry.pairs.mean
    within, _ = geometry.near_duplicates(threshold, most=MOST_PAIRS)
    pairs, distances = geometry.near_duplicates(_reach(geometry, request.listed), most=request.listed)
    first, second = ids[pairs[:, 0]], ids[pairs[:, 1]]
    table = _ranked(name, first=first, second=second, distance=distances, near=distances <= threshold)
    return table, threshold, len(within)


def _ranked(name: str, **columns: Any) -> pd.DataFrame:
    """A list of one embedder, whose rows are ranked as they come."""
    import pandas as pd

    number = len(next(iter(columns.values())))
    return pd.DataFrame({"system": name, "rank": np.arange(1, number + 1), **columns})


def _reach(geometry: Geometry, listed: int) -> float:
    """A distance within which there are at least `listed` pairs, if there are so many: each has two nearest others."""
    nearest = np.sort(geometry.nn_distances[:, 0])
    if len(nearest) < 2 * listed:
        return geometry.pairs.maximum
    return float(nearest[2 * listed - 1]) * (1 + 1e-9)  # its own pair stays within it, however it was rounded


def _outliers(name: str, geometry: Geometry, ids: np.ndarray, listed: int) -> pd.DataFrame:
    rows, distances = geometry.outliers(listed)
    return _ranked(name, text=ids[rows], nearest=ids[geometry.nearest.rows[rows, 0]], distance=distances)


def _pictured(
    name: str, vectors: Vectors, items: Sequence[Chunk | Question], drawn: np.ndarray, request: Tier0Request
) -> dict[str, pd.DataFrame]:
    """The tables `projection` and `clusters`: coordinates of the drawn texts, and clusters to colour them by."""
    import pandas as pd

    seed = request.seed
    chosen = vectors[drawn]
    projected = projection.project(chosen, distance=request.distance, seed=seed) if len(drawn) else {}
    columns = ["system", "text", "cluster", "x2", "y2", "x3", "y3", "z3"]
    if not projected:
        empty = {column: pd.Series(dtype=object if column in ("system", "text") else float) for column in columns}
        return {"projection": pd.DataFrame(empty), "clusters": pd.DataFrame(columns=["system", "cluster", "words"])}
    groups = topics.clusters(chosen, seed)
    words = topics.typical_words([items[row].text for row in drawn], groups, 3)
    places = np.column_stack([projected[2], projected[3]])
    made = pd.DataFrame({"system": name, "text": [items[row].id for row in drawn], "cluster": groups + 1})
    return {
        "projection": made.assign(**{column: places[:, number] for number, column in enumerate(columns[3:])}),
        "clusters": pd.DataFrame({"system": name, "cluster": range(1, len(words) + 1), "words": words}),
    }


def _texts(items: Sequence[Chunk | Question], tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """The texts that a page can show: those of the lists and of the picture, with what they can be coloured by."""
    import pandas as pd

    named = (("closest", "first"), ("closest", "second"), ("outliers", "text"), ("outliers", "nearest"),
             ("projection", "text"))  # fmt: skip
    wanted = {text for table, column in named for text in tables[table][column]}
    columns = ["id", "text", "url", "title", "section", "kind", "cluster"]
    rows = [[getattr(item, column, None) for column in columns] for item in items if item.id in wanted]
    return pd.DataFrame(rows, columns=columns)
