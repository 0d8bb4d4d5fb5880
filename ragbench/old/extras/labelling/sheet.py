"""What people label, and one annotator's labels of it: kept one by one in a file, brought in and out as CSV."""

from __future__ import annotations

import csv
import hashlib
import io
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ragbench.old.core.folders import write
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.metric import grades, parse
from ragbench.old.core.settings import secrets
from ragbench.old.data import DatasetError
from ragbench.old.data.cells import guarded, plain
from ragbench.old.data.rows import read_rows
from ragbench.old.metrics import catalogue, declaration
from ragbench.old.tiers.answers.rag_metrics import AT_RANDOM
from ragbench.old.tiers.scoring.corrections import COLUMNS, NOTE, of_shared_answers

if TYPE_CHECKING:
    import pandas as pd


EXPORTED = ("item", "question", "answer", "passages", "reference", "value", NOTE)


class Given(NamedTuple):
    """What an annotator said of an item: a value of the scale, None without one, and a note."""

    value: float | None = None
    note: str = ""


NOTHING = Given()
Key = tuple[str, str, str]


class Sheet:
    """The items of one annotator with the values and notes given so far; see `ragbench.old.extras.labelling.label`.

    items: in the order in which they are shown. scale: the values that can be given. path: a CSV file that
    `ragbench.old.tiers.corrected` reads; what it holds already of this annotator is gone on with, and after each act it is
    written anew as a whole, so that it is never half a file. An act that cannot be written has not happened.
    Raises ValueError for a file of another annotator, or one that holds a value outside the scale.
    """

    def __init__(self, items: Sequence[Item], scale: Sequence[float], annotator: str, path: Path | str) -> None:
        if not annotator.strip():
            raise ValueError("annotator is empty: whose labels are these? Two people's are never mixed")
        if len(set(scale)) < 2 or not all(math.isfinite(value) for value in scale):
            raise ValueError(f"scale = {tuple(scale)}: at least two different numbers are to choose from")
        self.items = tuple(items)
        self.scale = tuple(float(value) for value in scale)
        self.annotator = annotator.strip()
        self.path = Path(path)
        self._given: dict[Key, Given] = {}
        self._acts: list[tuple[int, dict[Key, Given]]] = []
        if self.path.is_file():
            self._read()
        self.place = self.next_empty(-1)

    def given(self, item: Item) -> Given:
        """What was said of the item."""
        return self._given.get(key_of(item), NOTHING)

    def value(self, item: Item) -> float | None:
        """What was given for the item; None until it is answered."""
        return self.given(item).value

    @property
    def answered(self) -> int:
        """How many of the items have a value."""
        return sum(self.value(item) is not None for item in self.items)

    @property
    def current(self) -> Item | None:
        """The item that is shown; None behind the last one."""
        return self.items[self.place] if 0 <= self.place < len(self.items) else None

    @property
    def can_undo(self) -> bool:
        """Whether there is an act to take back; those of an earlier sheet are not remembered."""
        return bool(self._acts)

    def next_empty(self, place: int) -> int:
        """The place of the next item without a value after `place`; the number of items where there is none."""
        later = range(place + 1, len(self.items))
        return next((number for number in later if self.value(self.items[number]) is None), len(self.items))

    def give(self, value: float, note: str | None = None) -> None:
        """Label the current item, keep it, and go on to the next one without a label. note: None leaves it as it is.

        Raises ValueError for a value that the scale does not have, or where there is no item.
        """
        item = self.current
        if item is None:
            raise ValueError("there is no item to label: all have been shown")
        words = self.given(item).note if note is None else note.strip()
        self._act({key_of(item): Given(self._legal(float(value), "the button"), words)})
        self.place = self.next_empty(self.place)

    def note(self, text: str) -> None:
        """Write the current item's note, an empty one to have none; its value stays."""
        if (item := self.current) is not None:
            self._act({key_of(item): self.given(item)._replace(note=text.strip())})

    def clear(self) -> None:
        """Take the current item's label back; its note stays."""
        if (item := self.current) is not None:
            self._act({key_of(item): self.given(item)._replace(value=None)})

    def undo(self) -> bool:
        """Take the last act that changed something back, and go where it was made; False without one."""
        if not self._acts:
            return False
        place, before = self._acts[-1]
        self._keep({**self._given, **before})
        self._acts.pop()
        self.place = place
        return True

    def skip(self) -> None:
        """Leave the current item without a label, and go on."""
        self.place = min(self.place + 1, len(self.items))

    def back(self) -> None:
        """The item before, answered or not."""
        self.place = max(self.place - 1, 0)

    def first(self) -> None:
        """The first item without a label; where it is if there is none."""
        place = self.next_empty(-1)
        self.place = place if place < len(self.items) else self.place

    def take(self, labels: Mapping[str, Given]) -> int:
        """Labels by the items' codes, as `import_csv` reads them; how many were new or changed. A note that is empty
        there leaves the one that is here.

        Raises ValueError for a code that is not among the items and for a value outside the scale.
        """
        known = {item.code: item for item in self.items}
        changes: dict[Key, Given] = {}
        for code, label in labels.items():
            if code not in known:
                raise ValueError(f"item {code!r} is not among these {len(known)}: the file is of another sample")
            before = self.given(known[code])
            value = before.value if label.value is None else self._legal(label.value, f"item {code}")
            if (taken := Given(value, label.note or before.note)) != before:
                changes[key_of(known[code])] = taken
        self._act(changes)
        self.place = self.next_empty(-1)
        return len(changes)

    def _act(self, changes: Mapping[Key, Given]) -> None:
        before = {key: self._given.get(key, NOTHING) for key in changes}
        if before != changes:
            self._keep({**self._given, **changes})
            self._acts.append((self.place, before))

    def _keep(self, given: Mapping[Key, Given]) -> None:
        """Write all that is given, and only then hold it."""
        kept = {key: label for key, label in given.items() if label != NOTHING}
        lines = [
            (
                *map(guarded, (*key, self.annotator)),
                "" if label.value is None else f"{label.value:.12g}",
                guarded(label.note),
            )
            for key, label in kept.items()
        ]
        _write(self.path, (*COLUMNS, NOTE), lines)
        self._given = kept

    def _legal(self, value: float, place: str) -> float:
        """The value of the scale that is meant."""
        for each in self.scale:
            if math.isclose(value, each, rel_tol=1e-9, abs_tol=1e-12):
                return each
        raise ValueError(f"{place}: value = {value:g}; the scale has {', '.join(f'{each:g}' for each in self.scale)}")

    def _read(self) -> None:
        for place, key, annotator, label in read_given(self.path):
            if annotator != self.annotator:
                raise ValueError(
                    f"{place}: labels of {annotator!r}, not of {self.annotator!r}: give every annotator a file"
                )
            value = None if label.value is None else self._legal(label.value, place)
            self._given[key] = label._replace(value=value)


def read_given(path: Path) -> Iterator[tuple[str, Key, str, Given]]:
    """(place, key, annotator, what was given) of each row of a sheet's file; files without notes are as good.

    Raises ValueError naming file, line and value for what cannot be read.
    """
    try:
        for place, row in read_rows(path):
            identifier, system, metric, annotator, note = (
                plain(str(row.get(name, ""))) for name in ("id", "system", "metric", "annotator", NOTE)
            )
            value = _number(row["value"], place) if "value" in row else None
            yield place, (identifier, system, metric), annotator, Given(value, note)
    except DatasetError as error:
        raise ValueError(str(error)) from None


def export_csv(sheet: Sheet, path: Path | str) -> Path:
    """The sheet for a spreadsheet: codes and texts, and columns `value` and `note`, empty where nothing was given.

    Neither system nor metric nor any score is in it. Texts that a spreadsheet would take for formulas have an
    apostrophe before them.
    """
    lines = []
    for item in sheet.items:
        value, note = sheet.given(item)
        texts = (item.question, item.answer, "\n\n".join(item.contexts), item.reference or "")
        lines.append((item.code, *map(guarded, texts), "" if value is None else f"{value:.12g}", guarded(note)))
    _write(Path(path), EXPORTED, lines, mark=True)
    return Path(path)


def import_csv(path: Path | str) -> dict[str, Given]:
    """Labels by code out of a file that `export_csv` wrote and a person filled in; empty ones are left out.

    Raises ValueError naming file, line and value for what is no number.
    """
    labels: dict[str, Given] = {}
    try:
        for place, row in read_rows(Path(path)):
            if "item" not in row:
                raise ValueError(f"{place}: there is no column item; expected are {', '.join(EXPORTED)}")
            text = plain(str(row.get("value", ""))).strip().replace(",", ".")
            label = Given(_number(text, place) if text else None, plain(str(row.get(NOTE, ""))).strip())
            if label != NOTHING:
                labels[str(row["item"]).strip()] = label
    except DatasetError as error:
        raise ValueError(str(error)) from None
    return labels


def _number(value: object, place: str) -> float:
    try:
        return float(str(value))
    except ValueError:
        raise ValueError(f"{place}: value = {value!r}: a number is expected, or nothing") from None


def key_of(item: Item) -> Key:
    """What stands for the item in a sheet's file."""
    return item.id, item.system, item.metric


def _write(path: Path, columns: Sequence[str], lines: Sequence[Sequence[str]], *, mark: bool = False) -> None:
    """A CSV file as a whole or not at all. mark: a byte-order mark, without which spreadsheets misread Cyrillic."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(secrets.masked(lines, secrets.exact_masker()))
    path.parent.mkdir(parents=True, exist_ok=True)
    write(path, text.getvalue().encode("utf-8-sig" if mark else "utf-8"))


TIERS = ("tier2_generation", "tier3_end_to_end", "rag_metrics", "tier_judge", "tier_judge_pipeline")
STEPS = 5  # buttons of a scale that is no short row of whole numbers


@dataclass(frozen=True)
class Item:
    """An answer to be labelled on a metric.

    id, system, metric: what it is, which the annotator never sees; no system where several judges judged it. code: what
    stands for these three outside.
    """

    id: str
    system: str
    metric: str
    question: str
    answer: str
    contexts: tuple[str, ...] = ()
    reference: str | None = None

    @property
    def code(self) -> str:
        """A short name that tells nothing of sample, system and metric."""
        return hashlib.sha256("\0".join((self.id, self.system, self.metric)).encode()).hexdigest()[:12]


def items(measurement: Measurement, metric: str, *, count: int | None = 100, seed: int = 0) -> list[Item]:
    """Answers of a measurement in random order, at most `count`: the first ones are a random sample of all.

    Of a page that lists some of very many questions only those are drawn from that it drew at random itself.
    Questions are drawn, and all systems' answers to a drawn question are labelled, so that systems can be compared on
    the same questions; the order of answers is mixed. An answer that several judges judged is one item, and its label
    stands beside each of their scores. Only answers whose metric was measured are drawn: a label beside which no score
    stands corrects nothing. The same seed gives every annotator the same order.
    Raises ValueError for a metric that was not measured or is of many answers at once, and for a measurement that keeps
    no answers.
    """
    answers = _answers(measurement, metric)
    if not answers:
        raise ValueError(
            f"{measurement.notebook} keeps no answers: label those of one that judges answers ({', '.join(TIERS)})"
        )
    scores = measurement.scores
    own = scores[(scores["metric"] == metric) & scores["value"].notna()]
    if own.empty:
        known = ", ".join(dict.fromkeys(scores["metric"])) or "nothing"
        raise ValueError(f"metric = {metric!r}: no score of it was measured; measured: {known}")
    if (declared := declaration(metric)) is not None and declared.grain != "sample":
        raise ValueError(f"metric = {metric!r} is no measure of single answers: people cannot label one on it")
    shared = of_shared_answers(measurement)
    systems = [""] * len(own) if shared else own["system"].astype(str)
    judged = set(zip(systems, own["sample"].astype(str), strict=True))
    answers = [answer for answer in answers if (answer.system, answer.id) in judged]
    rng = np.random.default_rng(seed)
    samples = sorted({answer.id for answer in answers})
    place = {samples[number]: rank for rank, number in enumerate(rng.permutation(len(samples)))}
    answers.sort(key=lambda answer: (place[answer.id], answer.system))
    chosen = answers if count is None else answers[:count]
    return [chosen[number] for number in _mixed(chosen, place, rng)]


def _mixed(chosen: Sequence[Item], place: Mapping[str, int], rng: np.random.Generator) -> list[int]:
    """Positions in random order within stretches of whole questions, so that a beginning is still a random sample."""
    stretch = 20
    groups: dict[int, list[int]] = {}
    for number, answer in enumerate(chosen):
        groups.setdefault(place[answer.id] // stretch, []).append(number)
    return [int(number) for _, group in sorted(groups.items()) for number in rng.permutation(group)]


def _answers(measurement: Measurement, metric: str) -> list[Item]:
    """What a measurement keeps of answers, each once."""
    if of_shared_answers(measurement):
        table = measurement.extra.get("decisions", measurement.extra.get("answers"))
        return [] if table is None else _judged(table, metric)
    if "answers" not in measurement.extra:
        return []
    table = measurement.questions
    if drawn := "listed" in table:
        table = table[table["listed"] == AT_RANDOM]
    questions = {str(row["sample"]): row for row in table.to_dict("records")}
    passages: dict[tuple[str, str], list[str]] = {}
    for row in measurement.retrieved.sort_values(["system", "sample", "rank"], kind="stable").to_dict("records"):
        passages.setdefault((str(row["system"]), str(row["sample"])), []).append(str(row["text"]))
    answers = []
    for row in measurement.extra["answers"].drop_duplicates(["system", "sample"]).to_dict("records"):
        sample, system, answer = str(row["sample"]), str(row["system"]), row["response"]
        question: Mapping[Any, Any] = questions.get(sample, {})
        if isinstance(answer, str) and (sample in questions or not drawn):
            text, reference = str(question.get("text") or ""), _text(question.get("reference"))
            answers.append(
                Item(sample, system, metric, text, answer, tuple(passages.get((system, sample), ())), reference)
            )
    return answers


def _judged(table: pd.DataFrame, metric: str) -> list[Item]:
    """Answers that were given to several judges, each once, and of no system: what a judge said is not shown."""
    answers = []
    for row in table.drop_duplicates("sample").to_dict("records"):
        if isinstance(row["answer"], str):
            passages = tuple(map(str, row["contexts"])) if "contexts" in row else ()
            question, reference = _text(row["question"]) or "", _text(row.get("reference"))
            answers.append(Item(str(row["sample"]), "", metric, question, row["answer"], passages, reference))
    return answers


def _text(given: object) -> str | None:
    return given if isinstance(given, str) else None


def scale_of(metric: str, measurement: Measurement | None = None) -> tuple[float, ...]:
    """The values that an annotator can give: those that the metric declares, whole numbers of its scale, or equal
    steps of a short or signed one.

    measurement: of a metric that was read out of a file of judgements, and is not in the catalogue, its judges' scale.
    Raises ValueError for a metric without ends: name the values yourself.
    """
    catalogue()
    ends = None if measurement is None else measurement.facts.get("judge_scale")
    try:
        declared = parse(metric)
    except ValueError:
        if ends is None:
            raise
        return _steps(float(ends[0]), float(ends[1]))
    low, high = declared.bounds
    if declared.levels:
        return declared.levels
    if low is None or high is None:
        raise ValueError(f"{metric}: its scale has no ends; name the values that can be given: scale=(1, 2, 3)")
    return _steps(low, high)


def _steps(low: float, high: float) -> tuple[float, ...]:
    return grades(low, high) or tuple(float(value) for value in np.linspace(low, high, STEPS))
