"""Tier 0: the shape of the space that embedders put the same texts in, measured without any labels."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import asdict, dataclass, replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, TypedDict

import numpy as np
from pydantic import Field

from ragbench.old import stats
from ragbench.old.core import stand_ins
from ragbench.old.core.folders import write
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Findings, NamedEstimate
from ragbench.old.core.settings import Settings
from ragbench.old.core.types import Array, Chunk, Estimate, IntervalNote, Question, Status, Vectors
from ragbench.old.embed import wheels
from ragbench.old.embed.threads import one_thread
from ragbench.old.metrics import embedding_space as space
from ragbench.old.metrics.distances import Distance
from ragbench.old.metrics.embedding_space import EPSILON, Geometry
from ragbench.old.tiers.basics import requests
from ragbench.old.tiers.basics.choices import BenchError, Reads, parted
from ragbench.old.tiers.basics.design import Design
from ragbench.old.tiers.basics.findings import Sureness, bounds
from ragbench.old.tiers.basics.requests import Draws, tier
from ragbench.old.tiers.basics.session import Need, Needed, Session
from ragbench.old.tiers.retrieval import sources

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.store import Store


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
            for each in estimates(name, distances[name], readings[name], facts["neighbors"], design.sureness)
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
    drawn = sampled(len(items), request.projected, request.seed)
    with session.store() as store, session.progress("tier0", len(names) * len(items)) as progress:
        spaces = [_space(store, name, session, items, drawn, request, progress) for name in names]
    tables = {key: pd.concat([space.tables[key] for space in spaces], ignore_index=True) for key in spaces[0].tables}
    return Evidence(
        notebook=session.notebook,
        facts={
            **session.facts(),
            **request.take(Sureness).facts,
            "baseline": None,
            "describes": "space",
            "primary": PRIMARY,
            "key_metrics": KEYS,
            "tables": {"text_distances": "distances", "spectrum": "spectrum"},
            "n_texts": len(items),
            "texts": request.texts,
            "distance": request.distance,
            "neighbors": request.neighbors,
            "near": request.near,
            "listed": request.listed,
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
    from ragbench.old.embed import make
    from ragbench.old.embed.model import ModelEmbedder

    settings = session.settings.embedders[name]
    texts = [item.text for item in items]
    model = make(name, settings, [chunk.text for chunk in session.dataset.chunks] or texts, store.arrays)
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
        "distances": distances(name, geometry, ids),
        "spaces": readings(name, geometry),
        "histograms": histograms(name, geometry),
        "spectrum": spectrum(name, geometry),
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


class ClosestRow(TypedDict):
    """Two texts by how near they lie. near: nearly the same."""

    system: str
    rank: int
    first: str
    second: str
    distance: float
    near: bool


class OutlierRow(TypedDict):
    """A text by how far its nearest neighbour lies."""

    system: str
    rank: int
    text: str
    nearest: str
    distance: float


class ClusterRow(TypedDict):
    """A cluster of the picture, and its typical words."""

    system: str
    cluster: int
    words: Sequence[str]


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
    projected = project(chosen, distance=request.distance, seed=seed) if len(drawn) else {}
    columns = ["system", "text", "cluster", "x2", "y2", "x3", "y3", "z3"]
    if not projected:
        empty = {column: pd.Series(dtype=object if column in ("system", "text") else float) for column in columns}
        return {"projection": pd.DataFrame(empty), "clusters": pd.DataFrame(columns=list(ClusterRow.__annotations__))}
    groups = sources.clusters(chosen, seed)
    words = sources.typical_words([items[row].text for row in drawn], groups, 3)
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


MOST_COMPONENTS = 400  # points of the drawn spectrum
BINS = 240  # of all pairs, from 0 to the greatest distance possible: the set itself fills a part of them
FEWEST_BINS, MOST_BINS = 6, 60  # of neighbour distances
WITHOUT_INTERVAL: Mapping[str, IntervalNote] = {
    "total_samples": "count",
    "max_spread": "extreme",
    "effective_dimensionality": "dimensions",
    "min_pairwise_distance": "extreme",
    "max_pairwise_distance": "extreme",
}
"""Measures that no interval is valid of, with the word that says why."""


def readings(name: str, geometry: Geometry) -> pd.DataFrame:
    """All twelve measures as they were computed: a row each (system, metric, value)."""
    import pandas as pd

    rows = [(name, each.name, each(geometry)) for each in space.MEASURES]
    return pd.DataFrame(rows, columns=["system", "metric", "value"])


def estimates(
    name: str, distances: pd.DataFrame, readings: pd.DataFrame, neighbors: int, sureness: Sureness
) -> list[NamedEstimate]:
    """All twelve measures. Means of per-text values are resampled, means over pairs are U-statistics, densities are
    the inverse of their mean; a count, an extreme and the number of dimensions have no interval, and say why.

    distances, readings: one embedder's rows of the tables. neighbors: of how many each text's mean distance is.
    """
    columns = ("nearest", "nearest_squares", "centroid", "others", "others_squares")
    near, near_squares, centroid, others, squares = (distances[column].to_numpy(dtype=float) for column in columns)
    means = stats.estimate_many({"near": near, "spread": centroid}, **asdict(sureness))
    deviations = {
        "std_nn_distance": _deviation(near, near_squares, neighbors, sureness),
        "spread_std": _deviation(centroid, centroid**2, 1, sureness),
    }
    by_metric = {
        "avg_nn_distance": means["near"],
        "density_score": inverse(means["near"]),
        "avg_spread": means["spread"],
        **deviations,
        "avg_pairwise_distance": stats.pairwise_mean(others, level=sureness.level),
        "std_pairwise_distance": stats.pairwise_std(others, squares, level=sureness.level),
    }
    scales = {each.name: bounds(each) for each in space.MEASURES}
    values = dict(zip(readings["metric"], readings["value"].tolist(), strict=True))
    for metric, note in WITHOUT_INTERVAL.items():
        by_metric[metric] = Estimate(values[metric], None, None, sureness.level, "none", len(distances), note=note)
    return [
        NamedEstimate(name, metric, stats.kept_within(replace(by_metric[metric], value=value), scales[metric]))
        for metric, value in values.items()
    ]


def mean_squares(geometry: Geometry) -> Array:
    """(N,) mean squared distance of each vector to all others, in closed form.

    Euclidean, with radii r from the centre: Σ over j of |x_i − x_j|² = N r_i² + Σ r². Cosine, with unit vectors u,
    U = Σ u and M = Σ u uᵀ: Σ over j of (1 − u_i·u_j)² = N − 2 u_i·U + u_iᵀ M u_i.
    """
    vectors, n = geometry.vectors, len(geometry)
    if geometry.distance == "euclidean":
        squares: Array = vectors.radii**2
        return (n * squares + squares.sum()) / (n - 1)
    moments = np.zeros((vectors.width, vectors.width))
    blocks = [slice(start, start + 4096) for start in range(0, n, 4096)]
    for block in blocks:
        rows = vectors.rows(block)
        moments += rows.T @ rows
    sums = []
    for block in blocks:
        rows = vectors.rows(block)
        sums.append(n - 2 * n * rows @ vectors.centre + ((rows @ moments) * rows).sum(axis=1))
    return np.concatenate(sums) / (n - 1)


def inverse(mean: Estimate) -> Estimate:
    """1 / (mean + ε) with the ends of the mean's interval turned over: a monotone function keeps its coverage."""

    def turned(value: float) -> float:
        return 1 / (value + EPSILON)

    if mean.low is None or mean.high is None or mean.low <= 0:
        return replace(mean, value=turned(mean.value), low=None, high=None, method="none", intervals={})
    intervals = {name: (turned(high), turned(low)) for name, (low, high) in mean.intervals.items() if low > 0}
    return replace(mean, value=turned(mean.value), low=turned(mean.high), high=turned(mean.low), intervals=intervals)


def _deviation(means: Array, squares: Array, number: int, sureness: Sureness) -> Estimate:
    """Standard deviation of the population of (N, number) values, from the mean of each row and of its squares; rows
    are resampled."""
    centre = float(means.mean())
    moved = means - centre  # keeps the difference of two large squares from losing its digits
    # Σ (x − c)² of a row = its Σ (x − mean)² + number · (mean − c)²
    within = np.maximum(squares - means**2, 0.0) if number > 1 else np.zeros(len(means))
    sums = number * np.column_stack([moved, within + moved**2, np.ones(len(means))])

    def deviation(totals: Array) -> Array:
        mean, square = totals[..., 0] / totals[..., 2], totals[..., 1] / totals[..., 2]
        return np.sqrt(np.maximum(square - mean**2, 0.0))

    return stats.resample(deviation, sums, level=sureness.level, resamples=sureness.resamples, seed=sureness.seed)


def distances(name: str, geometry: Geometry, ids: Array) -> pd.DataFrame:
    """What each text adds to the measures that have an interval: its mean distance to its nearest others, to the
    centroid and to all others, and the mean squares of the first and the last."""
    import pandas as pd

    return pd.DataFrame({
        "system": name, "sample": ids,
        "nearest": geometry.nn_distances.mean(axis=1), "nearest_squares": (geometry.nn_distances**2).mean(axis=1),
        "centroid": geometry.spread,
        "others": geometry.pairs.per_vector, "others_squares": mean_squares(geometry),
    })  # fmt: skip


def histograms(name: str, geometry: Geometry) -> pd.DataFrame:
    """Counts of neighbour distances and of pairwise distances by class."""
    import pandas as pd

    counts, edges = geometry.histogram(BINS)
    automatic = len(np.histogram_bin_edges(geometry.nn_distances.ravel(), bins="auto")) - 1
    near, near_edges = np.histogram(geometry.nn_distances, bins=min(max(automatic, FEWEST_BINS), MOST_BINS))
    parts = [("nearest", near, near_edges), ("pairs", counts, edges)]
    return pd.concat(
        [
            pd.DataFrame({"system": name, "kind": kind, "low": cut[:-1], "high": cut[1:], "count": number})
            for kind, number, cut in parts
        ],
        ignore_index=True,
    )


def spectrum(name: str, geometry: Geometry) -> pd.DataFrame:
    """Share of the variance that the first components hold, at no more than 400 numbers of components."""
    import pandas as pd

    total = float(geometry.spectrum.sum())
    shares = np.cumsum(geometry.spectrum) / total if total > 0 else np.ones(len(geometry.spectrum))
    width = len(shares)
    steps = np.unique(np.round(np.geomspace(1, width, MOST_COMPONENTS)).astype(int))
    kept = np.unique(np.append(steps, int(space.effective_dimensionality(geometry)) or 1))
    return pd.DataFrame({"system": name, "components": kept, "share": np.minimum(shares[kept - 1], 1.0)})


FEWEST_DRAWN = 12  # vectors: fewer have no neighbourhood to keep
NEIGHBOURS = 15  # of UMAP: the balance of local and global structure that its authors advise to begin with
DIGITS = 4  # of coordinates: what a picture can show


def sampled(count: int, limit: int, seed: int) -> np.ndarray:
    """Rows of `count` that are drawn, ascending: all of them, or `limit` chosen at random with the seed."""
    if count <= limit:
        return np.arange(count)
    return np.sort(np.random.default_rng(seed).choice(count, limit, replace=False))


def project(vectors: Vectors, *, distance: Distance = "euclidean", seed: int = 0) -> Mapping[int, Array]:
    """Coordinates (N, 2) and (N, 3) by their number of dimensions (McInnes, Healy and Melville 2018).

    The same vectors, seed and version give the same coordinates. They are kept in the user's cache, because the first
    layout of a process takes far longer than all that follow. Empty for fewer than 12 vectors.
    """
    if len(vectors) < FEWEST_DRAWN:
        return {}
    return {dimensions: _kept(vectors, dimensions, distance, seed) for dimensions in (2, 3)}


def _kept(vectors: Vectors, dimensions: int, distance: Distance, seed: int) -> Array:
    place = _place(vectors, dimensions, distance, seed)
    if place.is_file():
        try:
            known = np.load(place, allow_pickle=False)
        except (OSError, ValueError):
            known = np.empty(0)
        if known.shape == (len(vectors), dimensions):
            return np.asarray(known, dtype=float)
    coordinates = _umap(vectors, dimensions, distance, seed)
    with suppress(OSError):  # a cache that cannot be written costs time, nothing else
        _write(place, coordinates)
    return coordinates


def _umap(vectors: Vectors, dimensions: int, distance: Distance, seed: int) -> Array:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # on the number of threads, which a fixed seed limits to one
        from umap import UMAP

        made = UMAP(
            n_components=dimensions,
            n_neighbors=min(NEIGHBOURS, len(vectors) - 1),
            metric=distance,
            random_state=seed,
            n_jobs=1,
            init="spectral" if len(vectors) > 10 * dimensions else "random",
        )
        coordinates = np.asarray(made.fit_transform(vectors), dtype=float)
    return np.round(coordinates - coordinates.mean(axis=0), DIGITS) + 0.0


def _place(vectors: Vectors, dimensions: int, distance: Distance, seed: int) -> Path:
    from platformdirs import user_cache_path

    key = hashlib.sha256(np.ascontiguousarray(vectors, dtype=np.float32).data)
    key.update(f"{vectors.shape} {dimensions} {distance} {seed} {NEIGHBOURS} {DIGITS}".encode())
    key.update(f"{version('umap-learn')} {version('numpy')} {version('numba')}".encode())
    return user_cache_path("ragbench") / "projections" / f"{key.hexdigest()[:40]}.npy"


def _write(place: Path, coordinates: Array) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    content = io.BytesIO()
    np.save(content, coordinates, allow_pickle=False)
    write(place, content.getvalue())
