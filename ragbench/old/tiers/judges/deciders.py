"""Who decides whether an answer is shown, a judge, your function or a log, from which score on, and what it takes."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from ragbench.old import stats
from ragbench.old.core import settings as configuration
from ragbench.old.core.language import translator
from ragbench.old.core.measurement import Finding, NamedComparison, NamedEstimate
from ragbench.old.core.settings.secrets import excerpt
from ragbench.old.core.types import Array, Chunk, Sample, Status
from ragbench.old.core.types import reason as reasons
from ragbench.old.data import DatasetError, places
from ragbench.old.data.rows import read_rows
from ragbench.old.llm import Price, Usage
from ragbench.old.metrics.decisions import decision_cost, decision_of, show_decision
from ragbench.old.metrics.explanation import spoken
from ragbench.old.systems.callables import SHOWN_CHARACTERS, find, told
from ragbench.old.tiers.basics import design
from ragbench.old.tiers.basics.choices import BenchError, parted
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.session import Session
from ragbench.old.tiers.scoring.judged_metrics import ANSWERED, UNASKED, Judging, described, judged

Unknown = Literal["", "offline", "function", "log", "nothing asked", "no tokens", "no price", "no price then"]


@dataclass(frozen=True)
class Expense:
    """Means of one judge over `decisions`.

    decisions: cases that were decided or failed with a reply, equal ones once; an empty answer is decided without one.
    unanswered: cases besides whose calls brought no reply, so that nobody knows what they took.
    replies, input_tokens, output_tokens, cost: of one decision, from 0; repairs count. Replies out of the journal cost
    what they cost when they were paid for. None: unmeasured, and `unknown` says why: nobody is asked (`offline`) or
    tells (`function`, `log`), no case was asked, the endpoint reported `no tokens` for `doubtful` replies, there is
    `no price`, or was none when `doubtful` replies were paid for.
    """

    decisions: int = 0
    unanswered: int = 0
    replies: float | None = None
    input_tokens: float | None = None
    output_tokens: float | None = None
    cost: float | None = None
    unknown: Unknown = ""
    doubtful: int = 0


def expense(usage: Usage, asked: Iterable[tuple[Hashable, str, bool]], price: Price | None) -> Expense:
    """What the decisions of a model took.

    asked: of each case its texts, the status, and whether a reply came. price: as set today, None where none is.
    """
    statuses = {texts: (status, replied) for texts, status, replied in asked if status not in UNASKED}
    decisions = sum(replied or status in ANSWERED for status, replied in statuses.values())
    unanswered = len(statuses) - decisions
    if not decisions:
        return Expense(0, unanswered, unknown="nothing asked")
    replies = usage.replies / decisions
    if usage.estimated:
        return Expense(decisions, unanswered, replies, unknown="no tokens", doubtful=usage.estimated)
    tokens = usage.input_tokens / decisions, usage.output_tokens / decisions
    if usage.unpriced:
        why: Unknown = "no price" if price is None else "no price then"
        return Expense(decisions, unanswered, replies, *tokens, unknown=why, doubtful=usage.unpriced)
    return Expense(decisions, unanswered, replies, *tokens, cost=usage.cost / decisions)


SHOW_ALL, HIDE_ALL = "show-all", "hide-all"
CONSTANTS = {
    SHOW_ALL: (True, "every answer is shown"),
    HIDE_ALL: (False, "no answer is shown"),
}
"""Judges that decide without looking: what they decide, and why."""
LOGS = (".jsonl", ".json", ".csv", ".tsv", ".parquet")
SCORE_FIELDS = ("score", "likelihood", "probability", "confidence")


@dataclass(frozen=True)
class Case:
    """An answer with what it was written from, and whether people would show it."""

    id: str
    question: str
    answer: str
    contexts: tuple[Chunk, ...]
    show: bool
    rationale: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Decided:
    """One judge's decision on one case.

    show: None where the call failed; `status` and `reason` say why (empty_input: the judge had nothing to decide by, so
    that nothing failed and the case is unmeasured). score: how sure the judge is that it may be shown,
    higher is surer; None where it says nothing of it.
    """

    show: bool | None
    score: float | None = None
    reason: str = ""
    status: Status = Status.OK


@dataclass(frozen=True)
class Decider:
    """All decisions of one judge, in the order of the cases.

    ms: (cases,) milliseconds of each call, NaN where nobody measured. facts: what the page says of the judge. expense:
    what a decision takes; None of the judges that decide without looking.
    """

    name: str
    decided: list[Decided]
    ms: Array
    facts: Mapping[str, Any] = field(default_factory=dict)
    expense: Expense | None = None


def asked(given: str | Sequence[str], session: Session) -> list[str]:
    """The judges asked for, in order; all configured ones, else the lexical one, where none is named.

    A name is a table [judges.NAME], "lexical", "show-all" or "hide-all", `module:function`, or a file of logged
    decisions.
    Raises BenchError for anything else.
    """
    names = list(parted(given)) or list(Judging().names(session))
    for name in names:
        if not (name in CONSTANTS or is_log(name) or ":" in name):
            Judging(judges=name).names(session)
    titles = [title(name) for name in names]
    for twice in {heading for heading in titles if titles.count(heading) > 1}:
        raise BenchError(f"judges: two of them are called {twice!r} on the page; rename a file or a function")
    return names


def title(name: str) -> str:
    """What a page calls the judge: its name, its function, or its file without the folder and the ending."""
    return Path(name.removesuffix(".gz")).stem if is_log(name) else name


def decide(name: str, cases: Sequence[Case], session: Session, language: str, *, fresh: bool = False) -> Decider:
    """Every case by one judge. fresh: read the clock again instead of keeping what was read for the same inputs.

    Raises BenchError where a function or a file cannot be used at all, or fails for every case.
    """
    if name in CONSTANTS:
        show, reason = CONSTANTS[name]
        return Decider(name, [Decided(show, reason=reason)] * len(cases), np.full(len(cases), np.nan),
                       {"kind": "reference"})  # fmt: skip
    if is_log(name):
        return _logged(name, cases)
    if ":" in name:
        return _called(name, cases, session, fresh)
    return _judged(name, cases, session, language, fresh)


def is_log(name: str) -> bool:
    """Whether the name is that of a file of logged decisions."""
    return Path(name.removesuffix(".gz")).suffix.lower() in LOGS


def _judged(name: str, cases: Sequence[Case], session: Session, language: str, fresh: bool) -> Decider:
    samples = [
        Sample(case.id, case.question, case.answer, contexts=case.contexts, language=case.language, system=name)
        for case in cases
    ]
    verdicts = judged(session, samples, [show_decision], Judging(judges=name, prompts=language))
    details = {row["sample"]: row for row in verdicts.judgements.to_dict("records")}
    rows = [details[case.id] for case in cases]
    # a call that brought no reply took 0 seconds of the model, which is no latency
    ms = np.array([1000 * row["seconds"] if row["seconds"] else math.nan for row in rows])
    speaker, decided = translator(session.language or session.settings.language), []
    for row in rows:
        detail = json.loads(row["detail"] or "{}")
        why = spoken(detail["explanation"], speaker) if "explanation" in detail else reasons.read(row["reason"])
        given = (row["value"] == 1.0, detail.get("score"), why)
        decided.append(
            Decided(*given) if row["status"] == Status.OK.value else Decided(None, None, why, Status(row["status"]))
        )
    facts = {"kind": "judge", **described(session, [name])[0]}
    if facts["stand_in"]:  # its time is no reply's, so it is not in the journal
        ms = _kept_clock(session, name, cases, ms, fresh)
        return Decider(name, decided, ms, facts, Expense(unknown="offline"))
    usage = Usage(**verdicts.facts["judges"][0].get("usage", {}))  # none while a run is only planned
    if usage.answered_by:
        facts["answered_by"] = usage.answered_by
    texts = [(case.question, case.answer, tuple(each.text for each in case.contexts), case.language) for case in cases]
    asked = [(key, row["status"], bool(row["seconds"])) for key, row in zip(texts, rows, strict=True)]
    return Decider(name, decided, ms, facts, expense(usage, asked, _price(session.settings.judge(name))))


def _price(judge: configuration.JudgeSettings) -> Price | None:
    return Price(judge.input_price, judge.output_price) if judge.is_priced else None


def _called(path: str, cases: Sequence[Case], session: Session, fresh: bool) -> Decider:
    try:
        function = find(path, "(question, answer, contexts)", session.settings.decision_seconds, "decision_seconds")
    except ValueError as error:
        raise BenchError(f"judges = {path!r}: {error}") from None
    decided, ms = [], np.full(len(cases), np.nan)
    with session.progress(f"asking {path}", len(cases)) as progress:
        for place, case in enumerate(cases):
            begun = time.perf_counter()
            try:
                reply = function(case.question, case.answer, [chunk.text for chunk in case.contexts])
                ms[place] = (time.perf_counter() - begun) * 1000
                decided.append(read(reply))
            except Exception as error:
                decided.append(Decided(None, None, told(error), Status.JUDGE_ERROR))
            progress(1)
    if cases and all(decision.status is Status.JUDGE_ERROR for decision in decided):
        raise BenchError(f"judges: {path} failed for all {len(cases)} cases: {decided[0].reason}")
    ms = _kept_clock(session, path, cases, ms, fresh)
    return Decider(path, decided, ms, {"kind": "callable", "callable": path}, Expense(unknown="function"))


def read(reply: Any) -> Decided:
    """What a function returned or a log holds: a decision, or a mapping with one and perhaps a score and a reason.

    A mapping's decision is its field show, decision or verdict, its score the first of score, likelihood, probability,
    confidence that is a number, its reason the field reason. What decides nothing is a parse error.
    """
    decision = decision_of(reply)
    known = reply if isinstance(reply, Mapping) else {}
    score = next((number for name in SCORE_FIELDS if (number := _number(known.get(name))) is not None), None)
    if decision is None:
        shown = excerpt(repr(reply), SHOWN_CHARACTERS)
        return Decided(None, score, f"neither yes nor no: {shown}", Status.PARSE_ERROR)
    reason = str(known.get("reason") or "") or (reply if isinstance(reply, str) else "")
    return Decided(decision, score, reason)


def _number(value: Any) -> float | None:
    if value is None or isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _logged(name: str, cases: Sequence[Case]) -> Decider:
    path = places.file(name)
    rows: dict[str, Mapping[str, Any]] = {}
    try:
        for place, row in read_rows(path):
            if "id" not in row:
                raise BenchError(f'{place}: expected {{"id": case, "show": "yes" or "no"}}, found {sorted(row)}')
            if str(row["id"]) in rows:
                raise BenchError(f"{place}: id = {row['id']!r} stands there twice; keep one decision a case")
            rows[str(row["id"])] = row
    except DatasetError as error:
        raise BenchError(f"judges = {path.name!r}: {error}") from None
    if cases and not {case.id for case in cases} & set(rows):
        raise BenchError(
            f"judges = {path.name!r}: none of the {len(cases)} cases is in it; it has {', '.join(sorted(rows)[:5])}; "
            f"asked were {', '.join(case.id for case in cases[:5])}"
        )
    nothing = Decided(None, None, f"not in {path.name}", Status.MISSING_FIELD)
    decided = [read(rows[case.id]) if case.id in rows else nothing for case in cases]
    ms = [_number(rows.get(case.id, {}).get("ms")) for case in cases]
    facts = {"kind": "logged", "decisions": path.name, "unknown_cases": len(set(rows) - {case.id for case in cases})}
    known = np.array([math.nan if latency is None else latency for latency in ms], float)
    return Decider(title(name), decided, known, facts, Expense(unknown="log"))


def _kept_clock(session: Session, name: str, cases: Sequence[Case], ms: Array, fresh: bool) -> Array:
    """The readings of the first run with these inputs, so that a page made again is the same page."""

    told = {"judge": name, "texts": session.dataset.hash_with("decisions")}
    about = {"what": "latency of a decision", **told, "cases": [case.id for case in cases]}
    with session.store() as store:
        return np.asarray(store.readings(about, lambda: {"ms": ms}, fresh=fresh)["ms"], dtype=float)


COST = decision_cost.label
FEWEST = 10  # cases in a half


class ThresholdRow(TypedDict):
    """A threshold chosen on one half of the cases, and what showing all or none costs on the other."""

    system: str
    threshold: float
    n_chosen: int
    n_scored: int
    cost_chosen: float
    show_all: float
    show_none: float


class CostRow(TypedDict):
    """A step of the cost by threshold, on one half."""

    system: str
    half: str
    threshold: float
    cost: float


@dataclass(frozen=True)
class Costs:
    """What an error costs, in any unit. shown: an answer that should not have been shown. hidden: one that should."""

    shown: float
    hidden: float

    def of(self, truth: NDArray[np.bool_], shown: NDArray[np.bool_]) -> Array:
        """The cost of each decision."""
        return np.where(shown & ~truth, self.shown, np.where(~shown & truth, self.hidden, 0.0))


def halves(clusters: Sequence[Hashable], seed: int) -> NDArray[np.bool_]:
    """(cases,) whether a case is in the half on which a threshold is chosen; members of a cluster are never parted.

    Clusters are drawn in random order, each into the half that has fewer cases so far.
    """
    members: dict[Hashable, list[int]] = {}
    for place, label in enumerate(clusters):
        members.setdefault(label, []).append(place)
    chosen = np.zeros(len(clusters), dtype=bool)
    sizes = [0, 0]
    labels = list(members)
    for number in np.random.default_rng(seed).permutation(len(labels)):
        places = members[labels[int(number)]]
        half = int(sizes[1] < sizes[0])
        sizes[half] += len(places)
        chosen[places] = half == 0
    return chosen


def candidates(scores: Array) -> Array:
    """Every threshold that decides differently: −∞ (show all), between neighbouring scores, ∞ (show none)."""
    known = np.unique(scores[np.isfinite(scores)])
    return np.concatenate([[-math.inf], (known[1:] + known[:-1]) / 2, [math.inf]])


def mean_costs(scores: Array, truth: NDArray[np.bool_], costs: Costs, thresholds: Array) -> Array:
    """(thresholds,) mean cost of showing what scores at or above each; a call without a score shows nothing."""
    known = np.where(np.isfinite(scores), scores, -math.inf)
    asked = np.isfinite(scores)
    return np.array([costs.of(truth, asked & (known >= each)).mean() for each in thresholds])


def cheapest(scores: Array, truth: NDArray[np.bool_], costs: Costs) -> tuple[float, float]:
    """The threshold of least mean cost and that cost; of several that cost the same, the middle one."""
    thresholds = candidates(scores)
    means = mean_costs(scores, truth, costs, thresholds)
    least = np.flatnonzero(means <= means.min() + 1e-12)
    return float(thresholds[least[(len(least) - 1) // 2]]), float(means.min())


@dataclass(frozen=True)
class Chosen:
    """A threshold chosen on one half. row: a ThresholdRow. curves: CostRows, of both halves. findings: on the other
    half the cost with the threshold ("chosen") and of the judge's own decisions ("own"), and the first against the
    second."""

    row: tuple[Any, ...]
    curves: list[tuple[Any, ...]]
    findings: tuple[Finding, ...]


def chosen_and_scored(
    name: str,
    scores: Array,
    own: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    clusters: Sequence[Hashable],
    costs: Costs,
    sureness: Sureness,
) -> Chosen | None:
    """The threshold of least cost; None where the scores do not vary, or a half is too small.

    scores: NaN for a failed call. own: what the judge itself decided, False where it failed.
    """
    first = halves(clusters, sureness.seed)
    rest = ~first
    if min(first.sum(), rest.sum()) < FEWEST or len(candidates(scores[first])) < 3:
        return None
    threshold, least = cheapest(scores[first], truth[first], costs)
    labels = [label for label, keep in zip(clusters, rest, strict=True) if keep]
    how: dict[str, Any] = {**asdict(sureness), "clusters": design.independent(labels)}
    decisions = {"own": own[rest], "chosen": np.nan_to_num(scores[rest], nan=-math.inf) >= threshold}
    decisions["chosen"] &= np.isfinite(scores[rest])
    by = {key: costs.of(truth[rest], shown) for key, shown in decisions.items()}
    bounds = (0.0, max(costs.shown, costs.hidden))
    gain = stats.compare(by["own"], by["chosen"], better="lower", names=(name, name), bounds=bounds, **how)
    constant = [float(costs.of(truth[rest], np.full(rest.sum(), shown)).mean()) for shown in (True, False)]
    grid = candidates(scores)
    parts = {"chosen": first, "scored": rest}
    return Chosen(
        (name, threshold, int(first.sum()), int(rest.sum()), least, *constant),
        [
            (name, half, *point)
            for half, part in parts.items()
            for point in zip(grid.tolist(), mean_costs(scores[part], truth[part], costs, grid).tolist(), strict=True)
        ],
        (
            *(NamedEstimate(name, COST, stats.estimate(cost, bounds=bounds, **how), {"threshold": key})
              for key, cost in by.items()),
            NamedComparison(COST, gain, {"threshold": "chosen"}),
        ),
    )  # fmt: skip
