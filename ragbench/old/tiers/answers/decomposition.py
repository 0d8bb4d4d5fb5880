"""The failures of a measurement end to end, decomposed, and what the whole would be worth with one part perfect.

Retrieval: every question is answered anew from all passages that hold its answer. Ranking: anew from what was
retrieved, with those passages first. Generator: the reference stands in for the answer wherever such a passage was
read. Production judge: what is good is shown. Answers are judged again, by the same judges.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ragbench.old import stats
from ragbench.old.core.measurement import SCORE_COLUMNS, Evidence, Finding, NamedComparison, NamedEstimate
from ragbench.old.core.types import Array, Chunk, Hit, Question, Status
from ragbench.old.tiers.answers import answer_scores, blame
from ragbench.old.tiers.answers.blame import UNANSWERABLE, Part, Seen, Standard, Workings
from ragbench.old.tiers.answers.written_answers import Answered, answered, ideal_contexts, sample
from ragbench.old.tiers.basics.choices import BenchError
from ragbench.old.tiers.basics.design import Design, clusters, retrieved
from ragbench.old.tiers.basics.findings import Sureness
from ragbench.old.tiers.basics.session import Session
from ragbench.old.tiers.judges import deciders
from ragbench.old.tiers.judges.deciders import Case
from ragbench.old.tiers.scoring.judged_metrics import Judging, judged

if TYPE_CHECKING:
    import pandas as pd

    from ragbench.old.tiers.answers.answer_scores import Worth


BLAME, PERFECT = "blame", "blame_worlds"


@dataclass(frozen=True)
class Blaming:
    """How blame is found.

    standard: what counts as right and faithful. production_judge: who decides which answers are shown: a judge of
    ragbench.toml, "lexical", `module:function`, a file of logged decisions; empty: what systems logged of it with their
    answers, else all are shown. perfect_parts: whether answers are written and judged anew with one part perfect, which
    takes about two more rounds of calls.
    """

    standard: Standard = field(default_factory=Standard)
    production_judge: str = ""
    perfect_parts: bool = True


@dataclass(frozen=True)
class Decomposition:
    """extra: the tables `blame` and `blame_worlds`. facts: `blame`."""

    extra: dict[str, pd.DataFrame]
    facts: dict[str, Any]


def check(blaming: Blaming, session: Session) -> None:
    """Refuse a standard or a production judge that cannot be, before anything is paid for."""
    _ = blaming.standard.limits
    if blaming.production_judge:
        deciders.asked(blaming.production_judge, session)


def decomposed(
    session: Session,
    asked: Sequence[Question],
    answered: Answered,
    seen: Seen,
    worth: Worth,
    blaming: Blaming,
    judging: Judging,
    length_limit: int | None,
    refusals: Mapping[str, Any],
) -> Decomposition:
    """Blame of all answers. What the standard needs and was not measured is judged here.

    asked: all questions, those that cannot be answered too. seen: what was retrieved, as deep as one looked.
    refusals: who says which answers are refusals, the facts of `ragbench.old.tiers.answers.answer_scores.decided`.
    """
    import pandas as pd

    answerable = [question for question in asked if question.answerable is not False]
    standard = blaming.standard
    scores = _scores(session, answerable, answered, worth, standard, judging)
    decide = _decider(session, asked, answered, blaming, judging)
    chunks = session.dataset.chunks
    evidence = Workings(
        asked,
        {chunk.id for chunk in chunks} | {chunk.url for chunk in chunks if chunk.url},
        seen,
        answered.table,
        scores,
        decide(answered) if decide is not None else _logged(answered),
    )
    table = blame.blame(evidence, standard)
    perfect = pd.DataFrame(columns=list(WORLDS))
    if blaming.perfect_parts:
        own = table[table["group"] != UNANSWERABLE]
        perfect = worlds(
            Whole(session, answerable, answered, evidence, own, standard, judging, length_limit, decide, refusals["by"])
        )
    return Decomposition(
        {BLAME: table, PERFECT: perfect},
        {
            **standard.facts(),
            "production_judge": _title(blaming),
            "perfect_parts": blaming.perfect_parts,
            "refusals": dict(refusals),
            **({"shown_logged": names} if decide is None and (names := logging_systems(answered)) else {}),
        },
    )


def stated(evidence: Evidence) -> tuple[tuple[Finding, ...], dict[str, pd.DataFrame]]:
    """Shares of blame, their comparisons, and what perfect parts would gain; and the table `blame_counterfactuals`."""
    design, facts = Design(evidence), evidence.facts
    groups, table = clusters(design.questions), evidence.extra[BLAME]
    own = table[table["group"] != UNANSWERABLE]
    perfect, gains = counterfactuals(
        own, evidence.extra[PERFECT], facts["blame"], facts["generators"], design.asked, groups, design.sureness
    )
    return (
        *blame.shares(table, groups, design.sureness),
        *blame.compared(table, list(facts["generators"]), groups, design.sureness),
        *gains,
    ), {"blame_counterfactuals": perfect}


def _title(blaming: Blaming) -> str | None:
    return deciders.title(blaming.production_judge) if blaming.production_judge else None


def _scores(
    session: Session,
    asked: Sequence[Question],
    answered: Answered,
    worth: Worth,
    standard: Standard,
    judging: Judging,
) -> pd.DataFrame:
    """The scores of the first answers, with those that the standard needs besides."""
    import pandas as pd

    there = set(worth.scores["metric"])
    missing = [metric for metric in standard.metrics if metric.label not in there]
    if not missing:
        return worth.firsts
    more = answer_scores.measured(session, asked, answered.first, missing, judging)
    return pd.concat([worth.firsts, more.scores], ignore_index=True)


def logging_systems(answered: Answered) -> list[str]:
    """The systems whose logs say which of their answers were shown."""
    if "shown" not in answered.table:
        return []
    known = set(answered.table.loc[answered.table["shown"].notna(), "system"])
    return [name for name in answered.generators if name in known]


def _logged(answered: Answered) -> Mapping[tuple[str, str], bool | None]:
    """What was logged of which answers were shown; empty where nothing was.

    Where a log is silent of single answers nobody knows of them; a system without such a log shows all of its own.
    """
    logging = logging_systems(answered)
    if not logging:
        return {}
    firsts = answered.table[answered.table["repeat"] == 0]
    marks = firsts["shown"].astype(object).where(firsts["shown"].notna(), None)
    return {
        (system, identifier): mark if system in logging else True
        for system, identifier, mark in zip(firsts["system"], firsts["sample"], marks, strict=True)
    }


def _decider(
    session: Session, asked: Sequence[Question], answered: Answered, blaming: Blaming, judging: Judging
) -> Decide | None:
    """Who decides which answers are shown; one that logged its decisions knows only the answers that it saw."""
    name = blaming.production_judge
    if not name:
        return None
    is_log = deciders.is_log(name)
    if is_log and len(answered.generators) > 1:
        raise BenchError(
            f"production_judge = {deciders.title(name)!r}: logged decisions are of the answers of one system; "
            f"measure one of {', '.join(answered.generators)} alone"
        )
    questions = {question.id: question for question in asked}
    language = judging.prompts or session.settings.language
    texts = {(row["system"], row["sample"]): row["response"] for row in _firsts(answered)}

    def decide(given: Answered) -> Mapping[tuple[str, str], bool | None]:
        decided: dict[tuple[str, str], bool | None] = {}
        for system in given.generators:
            rows = [row for row in _firsts(given) if row["system"] == system]
            if is_log:
                unseen = [row for row in rows if texts.get((system, row["sample"])) != row["response"]]
                decided |= {(system, row["sample"]): True for row in unseen}
                rows = [row for row in rows if (system, row["sample"]) not in decided]
            cases = [case(questions[row["sample"]], row["response"], given, system) for row in rows]
            decisions = deciders.decide(name, cases, session, language).decided if cases else []
            decided |= {(system, case.id): decision.show for case, decision in zip(cases, decisions, strict=True)}
        return decided

    def case(question: Question, answer: str, given: Answered, system: str) -> Case:
        contexts = given.shown[system, question.id].contexts
        return Case(question.id, question.text, answer, contexts, True, language=question.language)

    return decide


def _firsts(answered: Answered) -> list[Mapping[Any, Any]]:
    """The first answer to every question that was answered."""
    table = answered.table
    rows: list[Mapping[Any, Any]] = list(
        table[(table["repeat"] == 0) & (table["status"] == Status.OK.value)].to_dict("records")
    )
    return rows


RETRIEVAL, RANKING, GENERATOR, JUDGE = "retrieval", "ranking", "generator", "judge"
GOOD = "good"  # the measure "share of good answers"; the other one is the standard's correctness
COLUMNS = ("system", "part", "measure", "actual", "changed", "reason")
WORLDS = ("system", "part", "sample", "good", "correctness", "changed")

Decide = Callable[[Answered], Mapping[tuple[str, str], bool | None]]
Contexts = Mapping[str, Mapping[str, tuple[Chunk, ...]]]
Changed = Mapping[str, set[str]]
"""System → the questions that a part was put right for."""


@dataclass(frozen=True)
class Whole:
    """What was measured end to end, and how it is measured again.

    asked: the questions that can be answered. found: the answers. table: their blame. decide: which answers the
    production judge shows; None: all are shown. refusals: who says which answers are refusals.
    """

    session: Session
    asked: Sequence[Question]
    found: Answered
    evidence: Workings
    table: pd.DataFrame
    standard: Standard
    judging: Judging
    length_limit: int | None
    decide: Decide | None
    refusals: str


def worlds(whole: Whole) -> pd.DataFrame:
    """Every answer as it would be at each part that is perfect, a row a system, part and question (WORLDS).

    good, correctness: NaN where unmeasured. changed: whether the part was put right for it. A system that answers by
    itself and takes no contexts cannot be given other passages: it has no rows at these parts.
    """
    import pandas as pd

    systems = list(whole.found.generators)
    written = [name for name in systems if _can_write(whole.found.generators[name])]
    made: dict[str, tuple[pd.DataFrame, Changed]] = {}
    if written:
        made[RETRIEVAL] = _answered_again(whole, written, _ideal(whole, written))
        made[RANKING] = _answered_again(whole, written, _raised(whole, written))
    made[GENERATOR] = _answered_rightly(whole, systems)
    if whole.evidence.shown:
        made[JUDGE] = _shown_rightly(whole, systems)
    rows = []
    for part, (table, changed) in made.items():
        for system in written if part in (RETRIEVAL, RANKING) else systems:
            own = _values(table, system, whole.asked)
            rows += [
                (system, part, question.id, good, correctness, question.id in changed.get(system, ()))
                for question, good, correctness in zip(whole.asked, own[GOOD], own["correctness"], strict=True)
            ]
    return pd.DataFrame(rows, columns=list(WORLDS)).astype({"good": float, "correctness": float, "changed": bool})


def counterfactuals(
    blame: pd.DataFrame,
    perfect: pd.DataFrame,
    told: Mapping[str, Any],
    generators: Mapping[str, Mapping[str, Any]],
    asked: Sequence[Question],
    clusters: Mapping[str, str] | None,
    sureness: Sureness,
) -> tuple[pd.DataFrame, list[Finding]]:
    """Means as they would be, and paired differences to those as they are, at each part that is `perfect`.

    The table has one row a system, part and measure (COLUMNS): the mean as it is, and the questions that the part was
    put right for. Both means are over the questions measured both ways. A system that answers by itself and takes no
    contexts cannot be given other passages: its rows have the reason, and there is no finding.

    blame: of the answers as they are. perfect: WORLDS. told: the facts of the standard. asked: the questions that can
    be answered.
    """
    import pandas as pd

    labels = None if clusters is None else [clusters[question.id] for question in asked]
    written = [name for name, how in generators.items() if _can_write(how)]
    rows: list[tuple[Any, ...]] = []
    made: list[Finding] = []
    for system in generators if len(perfect) else ():
        unwritten = [] if system in written else [RETRIEVAL, RANKING]
        nothing = [
            (system, part, measure, np.nan, 0, "answers by itself")
            for part in unwritten
            for measure in (GOOD, told["correctness"])
        ]
        rows += nothing if written else []
        before = _values(blame, system, asked)
        for part, world in perfect[perfect["system"] == system].groupby("part", sort=False):
            own = world.set_index("sample").reindex([question.id for question in asked])
            after = {name: own[name].to_numpy(dtype=float) for name in (GOOD, "correctness")}
            for actual, mean, gain in _compared(system, str(part), before, after, told, labels, sureness):
                rows.append((system, part, mean.metric, actual, int(world["changed"].sum()), ""))
                made += [mean, gain]
        rows += [] if written else nothing
    return pd.DataFrame(rows, columns=list(COLUMNS)).astype({"actual": float, "changed": int}), made


def _can_write(generator: Mapping[str, Any]) -> bool:
    """Whether a system can answer from other passages than those that it retrieved."""
    return not generator.get("own") or bool(generator.get("takes_contexts"))


def _ideal(whole: Whole, systems: Sequence[str]) -> Contexts:
    """All passages that hold the answer, for questions that have some; for others what was read."""
    ideal = ideal_contexts(whole.session, whole.asked)
    return {
        name: {q.id: ideal[q.id] or whole.found.shown[name, q.id].contexts for q in whole.asked} for name in systems
    }


def _raised(whole: Whole, systems: Sequence[str]) -> Contexts:
    """As many passages as were read, of all that were retrieved those that hold the answer first."""
    seen = whole.evidence.seen
    known = {chunk.id: chunk for chunk in whole.session.dataset.chunks} | dict(seen.pieces)
    ranked = blame.by_question(seen.table)
    raised: dict[str, dict[str, tuple[Chunk, ...]]] = {}
    for name in systems:
        raised[name] = {}
        for question in whole.asked:
            shown = whole.found.shown[name, question.id].contexts
            hits = ranked.get((name, question.id), [])
            adding = [addition.share > 0 for addition in seen.added(question, hits)]
            ordered = sorted(zip(adding, hits, strict=True), key=lambda each: not each[0])
            first = tuple(known[hit["chunk"]] for _adds, hit in ordered[: len(shown)] if hit["chunk"] in known)
            has = seen.holding(question, ({"chunk": chunk.id, "url": chunk.url} for chunk in shown))
            raised[name][question.id] = first if len(first) == len(shown) and not has else shown
    return raised


def _answered_again(whole: Whole, systems: Sequence[str], contexts: Contexts) -> tuple[pd.DataFrame, Changed]:
    """Blame where the answers are written and judged anew from other passages; as it is where they are the same."""
    before = whole.found.shown
    differs = {
        name: {q.id for q in whole.asked if contexts[name][q.id] != before[name, q.id].contexts} for name in systems
    }
    chosen = [q for q in whole.asked if any(q.id in ids for ids in differs.values())]
    if not chosen:
        return whole.table, {}
    given = {name: {q.id: contexts[name][q.id] for q in chosen} for name in systems}
    themselves = [name for name in systems if whole.found.generators[name].get("takes_contexts")]
    answers = answered(whole.session, chosen, given, length_limit=whole.length_limit, themselves=themselves)
    answers, _decider = answer_scores.decided(whole.session, chosen, answers, whole.refusals, whole.judging)
    worth = answer_scores.measured(whole.session, chosen, answers, whole.standard.metrics, whole.judging)
    evidence = replace(
        whole.evidence,
        asked=chosen,
        seen=replace(
            whole.evidence.seen,
            table=retrieved(
                (name, identifier, map(Hit, chunks), {})
                for name, by_question in given.items()
                for identifier, chunks in by_question.items()
            ),
        ),
        answers=answers.table,
        scores=worth.scores,
        shown=whole.decide(answers) if whole.decide is not None else {},
    )
    table = blame.blame(evidence, whole.standard)
    return _mixed(whole.table, table, differs), differs


def _mixed(before: pd.DataFrame, after: pd.DataFrame, differs: Mapping[str, set[str]]) -> pd.DataFrame:
    """The later table for the questions that differ, the earlier one for all others."""
    import pandas as pd

    def is_new(table: pd.DataFrame) -> Any:
        return [name in differs.get(system, ()) for system, name in zip(table["system"], table["sample"], strict=True)]

    old = np.array(is_new(before), dtype=bool)
    new = np.array(is_new(after), dtype=bool)
    return pd.concat([before[~old], after[new]], ignore_index=True)


def _answered_rightly(whole: Whole, systems: Sequence[str]) -> tuple[pd.DataFrame, Changed]:
    """Blame where the reference is the answer wherever a passage that holds it was read; judged again for correctness.

    Such an answer claims nothing beyond the passages, by what is meant by perfect.
    """
    import pandas as pd

    seen = whole.evidence.seen
    ranked = blame.by_question(seen.table)
    questions = {q.id: q for q in whole.asked}
    answers = whole.found.table[whole.found.table["repeat"] == 0]
    samples, rows = [], []
    for row in answers.to_dict("records"):
        question = questions.get(row["sample"])
        if question is None or not question.reference:
            continue
        given = set(row["contexts"])
        hits = ranked.get((row["system"], row["sample"]), ())
        if seen.holding(question, (hit for hit in hits if hit["chunk"] in given)):
            contexts = whole.found.shown[row["system"], question.id].contexts
            samples.append(sample(question, row["system"], question.reference, contexts))
            rows.append({**row, "response": question.reference, "status": Status.OK.value, "refused": False})
    if not samples:
        return whole.table, {}
    correctness, faithfulness = whole.standard.metrics
    judged_scores = judged(whole.session, samples, [correctness], whole.judging).scores
    highest = [
        (each.system, faithfulness.label, each.id, faithfulness.bounds[1], Status.OK.value, "", None)
        for each in samples
    ]
    scores = pd.concat([judged_scores, pd.DataFrame(highest, columns=list(SCORE_COLUMNS))], ignore_index=True)
    table = pd.DataFrame(rows, columns=list(answers.columns))
    shown: Mapping[tuple[str, str], bool | None] = {}
    if whole.decide is not None:
        shown = whole.decide(Answered(table, whole.found.shown, whole.found.generators))
    differs = {name: {each.id for each in samples if each.system == name} for name in systems}
    evidence = replace(whole.evidence, asked=whole.asked, answers=table, scores=scores, shown=shown)
    after = blame.blame(evidence, whole.standard)
    return _mixed(whole.table, after, differs), differs


def _shown_rightly(whole: Whole, systems: Sequence[str]) -> tuple[pd.DataFrame, Changed]:
    """Blame where whatever is good is shown."""
    withheld = whole.table["part"] == Part.WITHHELD.value
    table = whole.table.copy()
    table.loc[withheld, "part"] = Part.GOOD.value
    own = whole.table[withheld]
    return table, {name: set(own.loc[own["system"] == name, "sample"]) for name in systems}


def _values(table: pd.DataFrame, system: str, asked: Sequence[Question]) -> dict[str, Array]:
    """One number a question: whether its answer is good, and how correct it is; NaN where unmeasured."""
    own = table[table["system"] == system].set_index("sample").reindex([q.id for q in asked])
    part = own["part"].fillna(Part.UNMEASURED.value)
    good = np.where(part == Part.UNMEASURED.value, np.nan, (part == Part.GOOD.value).astype(float))
    return {GOOD: good, "correctness": own["correctness"].to_numpy(dtype=float)}


def _compared(
    system: str,
    part: str,
    before: Mapping[str, Array],
    after: Mapping[str, Array],
    told: Mapping[str, Any],
    labels: Sequence[str] | None,
    sureness: Sureness,
) -> list[tuple[float, NamedEstimate, NamedComparison]]:
    """By measure the mean as it is, the mean as it would be, and the paired difference."""
    low, high = told["correctness_scale"]
    bounds = {GOOD: (0.0, 1.0), "correctness": (float(low or 0.0), float(high or 1.0))}
    how: dict[str, Any] = {"clusters": labels, "names": (system, system), "bounds": bounds, **asdict(sureness)}
    against = stats.compare_metrics(before, after, **how)
    if part == JUDGE:
        against.pop("correctness")  # what is shown changes nothing of what it is worth
    made = []
    for measure, comparison in against.items():
        both = ~np.isnan(before[measure]) & ~np.isnan(after[measure])
        own = [label for label, kept in zip(labels, both, strict=True) if kept] if labels is not None else None
        mean = stats.estimate(after[measure][both], clusters=own, bounds=bounds[measure], **asdict(sureness))
        label = GOOD if measure == GOOD else told["correctness"]
        actual = float(before[measure][both].mean()) if both.any() else np.nan
        where = {"perfect": part}
        made.append((actual, NamedEstimate(system, label, mean, where), NamedComparison(label, comparison, where)))
    return made
