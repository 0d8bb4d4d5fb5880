"""What flows through the house: questions and chunks in, samples and scores between, estimates and comparisons out."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from ragbench.old.core.types.checked_vectors import EmbeddingError as EmbeddingError
from ragbench.old.core.types.checked_vectors import Vectors as Vectors
from ragbench.old.core.types.checked_vectors import usable_vectors as usable_vectors
from ragbench.old.core.types.dialogue_parts import Citation as Citation
from ragbench.old.core.types.dialogue_parts import Message as Message
from ragbench.old.core.types.dialogue_parts import ToolCall as ToolCall
from ragbench.old.core.types.reason import BY_CONSTRUCTION as BY_CONSTRUCTION
from ragbench.old.core.types.reason import IntervalNote as IntervalNote

if TYPE_CHECKING:
    from pydantic import BaseModel

Array = NDArray[np.float64]
Better = Literal["higher", "lower"]


class Status(StrEnum):
    """Why a value is there, or why it is not. Everything but `ok` goes with NaN."""

    OK = "ok"
    MISSING_FIELD = "missing_field"
    EMPTY_INPUT = "empty_input"
    EMPTY_DECOMPOSITION = "empty_decomposition"
    JUDGE_ERROR = "judge_error"
    PARSE_ERROR = "parse_error"
    TIMEOUT = "timeout"
    REFUSED = "refused"
    TRUNCATED = "truncated"
    VERDICT_MISMATCH = "verdict_mismatch"
    EMBEDDING_ERROR = "embedding_error"
    INVALID_INPUT = "invalid_input"
    FUNCTION_ERROR = "function_error"


class Verdict(StrEnum):
    """The word a comparison earns. `by less than matters`: the whole interval of a difference that is shown lies within
    the smallest difference of interest. `same` only ever comes from an equivalence test with its margin given;
    `cannot be shown`: with so few independent groups no difference whatever could have been shown. `cannot be told`:
    what was not measured, or not identified, leaves room for another word; `Comparison.withheld` says what."""

    BETTER = "better"
    SLIGHTLY_BETTER = "better, by less than matters"
    WORSE = "worse"
    SLIGHTLY_WORSE = "worse, by less than matters"
    SAME = "same"
    NOT_SHOWN = "not shown"
    CANNOT_BE_SHOWN = "cannot be shown"
    CANNOT_BE_TOLD = "cannot be told"

    @property
    def unshown(self) -> bool:
        """Whether it leaves open which of the two is better, and whether they are the same."""
        return self in (Verdict.NOT_SHOWN, Verdict.CANNOT_BE_SHOWN, Verdict.CANNOT_BE_TOLD)

    @property
    def is_better(self) -> bool:
        """Whether it is shown to be better, by however much."""
        return self in (Verdict.BETTER, Verdict.SLIGHTLY_BETTER)

    @property
    def is_worse(self) -> bool:
        """Whether it is shown to be worse, by however much."""
        return self in (Verdict.WORSE, Verdict.SLIGHTLY_WORSE)


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage of the knowledge base, as it is embedded and retrieved.

    `id` is unique in its data set; `url` names the page it comes from (several chunks may share one). `document` names
    what it was cut from, and `start` and `end` say where, in characters of that text; None where that is not known.
    """

    id: str
    text: str
    url: str | None = None
    title: str | None = None
    section: str | None = None
    document: str | None = None
    start: int | None = None
    end: int | None = None

    @property
    def passage(self) -> str:
        """The id of the passage that labels know: its own."""
        return self.id

    @classmethod
    def nameless(cls, text: str) -> Chunk:
        """A passage that came without an id. Its id is made of its text, so that it is the same wherever that stands,
        composed of whatever characters (NFC) and with whatever white space."""
        return cls(_named_by_text(text), text)

    @property
    def is_nameless(self) -> bool:
        """Whether it came without an id."""
        return self.id == _named_by_text(self.text)

    def is_same(self, other: Chunk) -> bool | None:
        """Whether two passages are the same: by their ids where both have one, else by their texts.

        None where that cannot be said: the one has no id, the other no text. What has neither is no other's same.
        """
        if not self.is_nameless and not other.is_nameless:
            return self.id == other.id
        if any(chunk.is_nameless and not chunk.text.strip() for chunk in (self, other)):
            return False
        if not self.text.strip() or not other.text.strip():
            return None
        return _named_by_text(self.text) == _named_by_text(other.text)

    def is_among(self, others: Iterable[Chunk]) -> bool | None:
        """Whether it is the same as any of these; None where it is none of which that can be said."""
        said = {self.is_same(other) for other in others}
        return True if True in said else None if None in said else False


@lru_cache(maxsize=256)
def _named_by_text(text: str) -> str:
    plain = unicodedata.normalize("NFC", text)
    if "  " in plain or not plain.isprintable():  # of all white space only the blank is printable
        plain = " ".join(plain.split())
    digest = hashlib.sha256(plain.strip().encode("utf-8", "surrogatepass")).hexdigest()
    return f"context-{digest[:16]}"


@dataclass(frozen=True, slots=True)
class Piece(Chunk):
    """A part of a passage, as a system cut it before it was searched.

    `document` is the id of the passage; `start` and `end` say where in its text the piece stands. Its own text may have
    other white space.
    """

    document: str = ""
    start: int = 0
    end: int = 0

    @property
    def passage(self) -> str:
        """The id of the passage that it is a part of."""
        return self.document


@dataclass(frozen=True, slots=True)
class Question:
    """A question with what people know about it.

    `relevant` maps chunk ids to graded gains (> 0); empty means that the base holds no answer, or that nobody
    labelled it (`answerable` tells: False, or None). `relevant_urls` does the same for pages where only those are
    known. `spans` says of relevant chunks where in their text the answer stands, in characters (start, end); of one
    without spans all of it is labelled. `cluster` names the group whose members are not independent (paraphrases,
    source page, dialogue). `references` are all right answers where there are several, `reference` the first. `nuggets`
    maps what a good answer says to its importance, "vital" or "okay".
    `irrelevant` names chunks that were judged and found so, `pooled` those that a sample left out; `draft` says of a
    question that a model wrote whether somebody has reviewed it, `graded_by` which models judged
    passages of it in people's place.
    """

    id: str
    text: str
    reference: str | None = None
    relevant: Mapping[str, float] = field(default_factory=dict)
    relevant_urls: Mapping[str, float] = field(default_factory=dict)
    spans: Mapping[str, Sequence[tuple[int, int]]] = field(default_factory=dict)
    answerable: bool | None = None
    kind: str | None = None
    language: str | None = None
    cluster: str | None = None
    source: str | None = None
    references: tuple[str, ...] = ()
    nuggets: Mapping[str, str] = field(default_factory=dict)
    irrelevant: tuple[str, ...] = ()
    pooled: tuple[str, ...] = ()
    draft: str | None = None
    graded_by: str | None = None

    @property
    def judged(self) -> Mapping[str, float]:
        """The gain of every chunk that was judged, 0 for the irrelevant ones; −1 for those that were left out."""
        if not (self.irrelevant or self.pooled):
            return self.relevant
        return {**dict.fromkeys(self.pooled, -1.0), **dict.fromkeys(self.irrelevant, 0.0), **self.relevant}


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved chunk; `similarity` is higher for closer chunks (cosine for vector search), None if unknown."""

    chunk: Chunk
    similarity: float | None = None


@dataclass(frozen=True, slots=True)
class Sample:
    """One question and all that one system said about it: the unit of every judged metric.

    A field that is None was never given (`missing_field`); an empty string or tuple was given and is empty
    (`empty_input`). references: all right answers where there are several, `reference` the first. shown: whether the
    production judge let its user see it. nuggets: what a good answer says, each "vital" or "okay". citations: where the
    response cites passages, in order; None: its marks tell, [1] for the first. trajectory: an agent's messages and
    calls; reference_tool_calls, reference_topics: what it should call, its subjects. labels: people's own. cost: money.
    """

    id: str
    user_input: str | None = None
    response: str | None = None
    reference: str | None = None
    contexts: tuple[Chunk, ...] | None = None
    reference_contexts: tuple[Chunk, ...] | None = None
    rubric: Mapping[int, str] | None = None
    language: str | None = None
    cluster: str | None = None
    system: str | None = None
    shown: bool | None = None
    references: tuple[str, ...] = ()
    nuggets: Mapping[str, str] | None = None
    citations: tuple[Citation, ...] | None = None
    trajectory: tuple[Message, ...] | None = None
    reference_tool_calls: tuple[ToolCall, ...] | None = None
    reference_topics: tuple[str, ...] | None = None
    cost: float | None = None
    labels: Mapping[str, float] | None = None


@dataclass(frozen=True, slots=True)
class Score:
    """One metric's value on one sample, with the reason people can read and the data it was made from.

    `value` is NaN exactly when `status` is not `ok`.
    """

    value: float
    status: Status = Status.OK
    reason: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    judge: str | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if math.isnan(self.value) == (self.status is Status.OK):
            raise ValueError(f"a score is NaN exactly when its status is not ok; got {self.value} with {self.status}")

    @classmethod
    def unmeasured(cls, status: Status, reason: str, **more: Any) -> Score:
        """A value that could not be measured, with its machine-readable status and the reason for people."""
        return cls(math.nan, status, reason, **more)


@dataclass(frozen=True, slots=True)
class Coverage:
    """What every rank of rankings of pieces adds to what was shown of the labelled text; (questions, depth) each.

    grades: gain of the passage that text is labelled in; 0 where nothing new of it is shown. shares: how much of that
    passage's labelled text is shown for the first time, 0 to 1. reached: whether as much of it has been shown by then
    as makes the passage count as found; once a passage.
    """

    grades: Array
    shares: Array
    reached: NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Ranking:
    """All questions of one system at once, as arrays: what the ranking metrics read.

    gains: (questions, depth) gain of the document at each rank, 0 for irrelevant or beyond the list's end.
    ideal: (questions, most relevant documents) judged positive gains, descending, padded with 0.
    lengths: (questions,) how many documents were returned; 0 for a question that was not answered.
    judged: (questions, depth) whether somebody judged the document at each rank; None: only the relevant ones were.
    pooled: (questions, depth) whether the document at each rank was to be judged and was left out by a sample (in
        TREC's files a grade of −1); None: none was.
    nonrelevant: (questions,) how many documents were judged and found irrelevant; None: none.
    ties: (questions,) how many documents share the score of the one before them; None where there are no scores.
    coverage: of rankings of pieces what each rank shows of the labelled text; gains are then the passages' gains times
        the shares that are newly shown, and `ideal` is that of whole passages. None: what is ranked is what is judged.

    A document counts once: the builder drops later copies, so no metric can exceed its bound.
    """

    gains: Array
    ideal: Array
    lengths: NDArray[np.int64]
    judged: NDArray[np.bool_] | None = None
    nonrelevant: NDArray[np.int64] | None = None
    ties: NDArray[np.int64] | None = None
    coverage: Coverage | None = None
    pooled: NDArray[np.bool_] | None = None

    def __post_init__(self) -> None:
        if not (self.gains.ndim == self.ideal.ndim == 2 and self.lengths.ndim == 1):
            raise ValueError("gains and ideal are matrices with one row a question, lengths is a vector")
        if not len(self.gains) == len(self.ideal) == len(self.lengths):
            sizes = f"gains {len(self.gains)}, ideal {len(self.ideal)}, lengths {len(self.lengths)}"
            raise ValueError(f"rows differ: {sizes}")
        if self.judged is not None and self.judged.shape != self.gains.shape:
            raise ValueError(f"judged has shape {self.judged.shape}, gains {self.gains.shape}: they must be equal")

    def __len__(self) -> int:
        return len(self.lengths)


@dataclass(frozen=True, slots=True)
class Estimate:
    """A number with how sure one can be of it. No bare float reaches a page.

    value: the statistic over the measured values; NaN if there were none.
    low, high: the interval at `level`, by `method`; both None for a statistic that has no valid interval.
    n, n_unmeasured: how many values were measured, and how many were not.
    clusters, n_effective, design_effect: None, n and 1 for independent values.
    intervals: every interval that was computed, by method, the printed one among them.
    floor, ceiling: the value if every unmeasured one lay at the lower or upper end of the scale; None where it is open.
    note: why the printed interval is not the bootstrap's, or "".
    lender: where all values are equal ("borrowed_spread"), the metric whose design effect was taken.
    doubt: why the interval may miss the true value more often than `level` says, as the values look, several reasons
        joined (`ragbench.old.core.types.reason`); "" where nothing tells so.
    """

    value: float
    low: float | None
    high: float | None
    level: float
    method: str
    n: int
    n_unmeasured: int = 0
    clusters: int | None = None
    n_effective: float | None = None
    design_effect: float | None = None
    seed: int | None = None
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    floor: float | None = None
    ceiling: float | None = None
    note: IntervalNote = ""
    lender: str = ""
    doubt: str = ""


@dataclass(frozen=True, slots=True)
class Comparison:
    """Challenger against baseline, paired by question, on the questions that both measured.

    difference: challenger − baseline, with its interval (low, high) at `level` by `method`.
    p: two-sided, of `test`; p_adjusted: after the correction over its family (None before `family` is known).
    effect_size: mean difference / standard deviation of the differences; NaN without spread.
    verdict: in the metric's direction (`better` says which way is good), from p_adjusted where there is one.
    n, n_dropped: pairs used, and pairs left out because one side was unmeasured.
    least, most: the difference over all n + n_dropped pairs if every unmeasured value lay at that end of its scale
        which makes it smallest, or largest; None where none is unmeasured, and where the scale is open on that side.
    p_worst: of the same test with them where they speak most against the difference, and after the same correction; 1
        where the difference would be none or the other way, None where the scale is open on that side.
        p_equivalence_worst: of the equivalence test likewise.
    withheld: why there is no verdict although there is a p (`ragbench.old.core.types.reason`); else "".
    doubt: why the test may err more often than `level` says, as the differences look, several reasons joined; "" where
        nothing tells so.
    width: of the metric's scale, which no difference exceeds; None where it is open.
    minimum_detectable: the smallest true difference that this n shows with 80 % power, at the threshold of its family;
        None if not computable, or if no difference can be shown.
    questions_needed: how many questions in all would show a true difference of `margin` with 80 % power, at the same
        threshold (with clusters, in as large ones as now); None likewise, and without a margin.
    groups_needed: how many independent groups (or questions) a difference could be shown with, where it cannot now.
    error: the standard error of the difference; NaN where it is not known.
    threshold: the largest p of this pair alone that the hardest step of its family takes as shown.
    attainable: the smallest p, after the correction where there is one, that so many groups can have.
    margin: the smallest difference of interest, in the metric's unit: a smaller one would not matter. None: not set.
    p_equivalence: of the equivalence test within ± margin (TOST), when one was asked for.
    family: how many comparisons were corrected together, and by what.
    intervals: every interval of the difference that was computed at `level`, by method; by "alone" the one that this
        comparison has by itself, where (low, high) holds together with those of its family.
    """

    baseline: str
    challenger: str
    difference: float
    low: float
    high: float
    level: float
    method: str
    p: float
    test: str
    effect_size: float
    verdict: Verdict
    n: int
    n_dropped: int = 0
    better: Better = "higher"
    least: float | None = None
    most: float | None = None
    p_worst: float | None = None
    p_equivalence_worst: float | None = None
    withheld: str = ""
    doubt: str = ""
    width: float | None = None
    p_adjusted: float | None = None
    clusters: int | None = None
    minimum_detectable: float | None = None
    questions_needed: int | None = None
    groups_needed: int | None = None
    error: float = math.nan
    threshold: float | None = None
    attainable: float = 0.0
    margin: float | None = None
    p_equivalence: float | None = None
    family: str = ""
    seed: int | None = None
    note: IntervalNote = ""
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def alone(self) -> tuple[float, float]:
        """The interval of this comparison by itself: the printed one where it has no family."""
        return self.intervals.get("alone", (self.low, self.high))

    @property
    def beyond_scale(self) -> bool:
        """Whether nothing is shown, and no difference that the scale has room for would have been."""
        known = self.width is not None and self.threshold is not None and self.error > 0
        return self.verdict is Verdict.NOT_SHOWN and known and self.minimum_detectable is None and self.groups > 1

    @property
    def groups(self) -> int:
        """How many independent groups were compared: clusters, or questions where each stands alone."""
        return self.n if self.clusters is None else self.clusters

    @property
    def joint(self) -> bool:
        """Whether one test of several comparisons together (max-T) set the threshold."""
        number, _comma, method = self.family.rpartition(": ")[2].partition(", ")
        return method.startswith("max-T") and number != "1"


@dataclass(frozen=True)
class JournalSize:
    """What one judge's share of the journal holds: replies, tokens, money, and the seconds that the models took."""

    judge: str
    model: str
    replies: int
    input_tokens: int
    output_tokens: int
    cost: float
    seconds: float


TextKind = Literal["passage", "query"]
"""What a text is to an embedder: what is searched, or what is searched for."""


@runtime_checkable
class Embedder(Protocol):
    """Texts to vectors. `identity` names everything that changes a vector: model, revision, options, fitted corpus.

    One by which a text has the same vector, to the bit, whatever it is embedded with says so by `is_by_text = True`:
    its texts may be embedded in any parts. One that is quicker with more texts in a call than `batch` of the settings
    says how many by `together`.
    """

    name: str
    identity: str

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Vectors:
        """(texts, width) float32, finite, no zero rows. Raises EmbeddingError for a text that cannot be embedded."""


@runtime_checkable
class PatientEmbedder(Embedder, Protocol):
    """An embedder that only waits: so many calls of `begin` may go on at the same time as `concurrency` says."""

    @property
    def concurrency(self) -> int:
        """From 1."""

    def begin(self, texts: Sequence[str], *, kind: TextKind = "passage") -> Future[Vectors]:
        """What `embed` gives or raises, once it is there."""


class LexicalReader(Protocol):
    """What the offline judge can tell of texts in one language by their words and letters alone: a baseline."""

    def sentences(self, text: str) -> list[str]:
        """The text's sentences; the offline stand-in for claims."""

    def support(self, claim: str, texts: Sequence[str]) -> float:
        """How well the texts carry the claim, 0 to 1; a number or a negation that they lack lowers it."""

    def supported(self, claim: str, texts: Sequence[str]) -> bool:
        """Whether `support` reaches the reader's threshold."""

    def denies(self, claim: str, text: str) -> bool:
        """Whether a text that is like the claim has other numbers, or denies what the claim affirms, or the reverse."""

    def similarity(self, first: str, second: str) -> float:
        """How much two texts share, symmetric, 0 to 1."""

    def nearest(self, text: str, others: Sequence[str], least: float) -> int | None:
        """The place of the text with the most `similarity`, the last of several; None where none reaches `least`."""

    def entities(self, text: str) -> list[str]:
        """Numbers, and words written with a capital inside a sentence, neighbours joined; in order, once each."""


Shape = TypeVar("Shape", bound="BaseModel")
SLOT = re.compile(r"\{([a-z][a-z0-9_]*)\}")


@dataclass(frozen=True, eq=False)
class Prompt(Generic[Shape]):
    """What a metric asks a judge: written once for each language, with the shape that the reply must have.

    name, version: part of the journal's key; raise the version whenever a text or the meaning of the shape changes.
    shape: a pydantic model; the judge's only legal reply. Its fields' descriptions are shown to the model.
    texts: language → template. `{slot}` marks a place for a text (lower-case word in braces; all other braces are
        plain). Every language has the same slots.
    offline: how the lexical judge answers, from the reader and the slots' texts; None if it cannot. It returns None
        where these texts give it nothing to decide by.
    temperature, max_tokens: what this prompt wants instead of the judge's own setting.
    """

    name: str
    version: int
    shape: type[Shape]
    texts: Mapping[str, str]
    offline: Callable[[LexicalReader, Mapping[str, Any]], Shape | None] | None = None
    temperature: float | None = None
    max_tokens: int | None = None

    def __post_init__(self) -> None:
        if not self.texts or self.version < 1:
            raise ValueError(f"prompt {self.name}: it has at least one language, and a version from 1")
        slots = {language: frozenset(SLOT.findall(text)) for language, text in self.texts.items()}
        if len(set(slots.values())) > 1:
            raise ValueError(f"prompt {self.name}: the slots differ by language: {slots}")

    @cached_property
    def slots(self) -> frozenset[str]:
        """Names of the places that must be filled."""
        return frozenset(SLOT.findall(next(iter(self.texts.values()))))


@dataclass(frozen=True, slots=True)
class Answer(Generic[Shape]):
    """A judge's reply: the checked value, or why there is none (`value` is None exactly when `status` is not `ok`).

    suspected_injection: "slot: pattern" for every text with a flag of `judge.injections`, which most attacks lack; the
    value stands all the same.
    seconds: what the model took (also for a reply out of the journal); None if nothing was asked.
    """

    value: Shape | None
    status: Status = Status.OK
    reason: str = ""
    seconds: float | None = None
    suspected_injection: tuple[str, ...] = ()


@runtime_checkable
class Judge(Protocol):
    """Who answers a metric's prompts. Equal questions are asked once and shared, whoever asks.

    `identity` names everything that changes an answer: name, endpoint, model, decoding, mode.
    """

    @property
    def name(self) -> str: ...

    @property
    def identity(self) -> str: ...

    async def ask(
        self,
        prompt: Prompt[Shape],
        texts: Mapping[str, str | Sequence[str]],
        *,
        language: str | None = None,
        repeat: int = 0,
    ) -> Answer[Shape]:
        """The answer to the prompt with these texts in its slots; a sequence (contexts) is numbered from 1.

        language: of prompt and texts; the judge's own where None or unknown. repeat: 0, 1, … ask anew, independently.
        Raises ValueError for slots missing or unknown; what the model does wrong is in the answer's status.
        """
