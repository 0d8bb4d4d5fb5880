"""What annotators see and do, with answers and with drafts: in JupyterLab by keys, mouse and touch, or on a page."""

from __future__ import annotations

import base64
import hashlib
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, cast

from ragbench.old import stats
from ragbench.old.core import folders, parts, trust
from ragbench.old.core import settings as configuration
from ragbench.old.core.language import Translator, translator
from ragbench.old.core.measurement import Measurement
from ragbench.old.core.settings import secrets
from ragbench.old.core.types import Estimate
from ragbench.old.data import Dialogue, QuestionRecord, Records, records_named
from ragbench.old.data.files import DatasetError
from ragbench.old.data.writing import change
from ragbench.old.extras.labelling.sheet import Given, Item, Sheet, export_csv, import_csv, items, read_given, scale_of
from ragbench.old.tiers.scoring.corrections import SETTLED
from ragbench.old.views.basics.text import clean
from ragbench.old.views.basics.web import payload

EXPORT = "sheet"
OF_ONE = ("give", "note", "clear", "skip")
"""Acts on the item that was seen."""
MOST_NOTE = 4000
"""Characters of a note."""


class Other(NamedTuple):
    """What somebody else said of an item, shown where labels are settled."""

    annotator: str
    value: float
    note: str = ""


class Panel:
    """A sheet in words, in one language.

    metric: its label, shown with the first line of its declaration. words: of single values. others: what is shown
    beside an item, of other annotators; nobody's where None. about: sentences above the items.
    """

    def __init__(
        self,
        sheet: Sheet,
        metric: str,
        words: Mapping[float, str] | None = None,
        language: str = "en",
        *,
        others: Callable[[Item], Sequence[Other]] | None = None,
        about: Sequence[str] = (),
    ) -> None:
        self.sheet, self.metric, self.language = sheet, metric, language
        self.words = {} if words is None else words
        self.others, self.about = others, tuple(about)
        self.said = ""
        self._places: dict[Any, int] = {item.code: place for place, item in enumerate(sheet.items)}

    def receive(self, message: Mapping[str, Any], content: bytes = b"") -> None:
        """Do what was asked for: `act`, with the `code` of the item that was seen, and `choice` (a place on the scale)
        or `note`. What was pressed before the next item was drawn is of the one that was seen, and labels no other.

        content: of a file that is taken in. What went wrong is `said`, and nothing has changed then.
        """
        sheet, act, before = self.sheet, message.get("act"), self.sheet.place
        self.said = ""
        seen = self._places.get(message.get("code"))
        note = str(message.get("note") or "")[:MOST_NOTE]
        acts: dict[Any, Callable[[], object]] = {
            "undo": sheet.undo, "back": sheet.back, "first": sheet.first, "write": self._write,
            "take": lambda: self._take(content),
        }  # fmt: skip
        if seen is not None:
            acts |= {"give": lambda: self._give(message.get("choice"), note), "note": lambda: sheet.note(note),
                     "clear": sheet.clear, "skip": sheet.skip}  # fmt: skip
        if seen is not None and act in OF_ONE:
            sheet.place = seen
        try:
            acts.get(act, lambda: None)()
        except (OSError, ValueError) as error:
            self.said = clean(str(error))
        if sheet.place == seen != before and act in OF_ONE:
            sheet.place = before

    def _give(self, choice: object, note: str) -> None:
        if isinstance(choice, int) and 0 <= choice < len(self.sheet.scale):
            self.sheet.give(self.sheet.scale[choice], note)

    def _write(self) -> None:
        path = export_csv(self.sheet, self.sheet.path.with_name(f"{self.sheet.path.stem}.{EXPORT}.csv"))
        self.said = translator(self.language)("written: {name}", name=path.name)

    def _take(self, content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"{EXPORT}.csv"
            path.write_bytes(content)
            number = self.sheet.take(import_csv(path))
        self.said = translator(self.language).plural("{n} label was taken in", "{n} labels were taken in", number)

    @property
    def fixed(self) -> dict[str, Any]:
        """What does not change: heading, choices with their keys, and words."""
        _ = translator(self.language)
        scale = self.sheet.scale
        choices = [
            {"text": clean(self.words.get(value) or _.exact(value)), "key": key}
            for value, key in zip(scale, keys_of(scale), strict=True)
        ]
        return {
            "title": clean(self.metric),
            "meaning": meaning(self.metric, self.language),
            "about": [clean(text) for text in self.about],
            "choices": choices,
            "skip_key": "" if "0" in keys_of(scale) else "0",
            "words": _words(_, skips="0" not in keys_of(scale)),
        }

    @property
    def state(self) -> dict[str, Any]:
        """What changes: the item without who wrote it, what was given, progress, and what was said last."""
        sheet, _ = self.sheet, translator(self.language)
        item, done, number = sheet.current, sheet.answered, len(sheet.items)
        left = number - done
        end = _("That was the last one. Every label is kept; go back to change one.")
        if item is None and left:
            end = _.plural("{n} item has no label yet.", "{n} items have no label yet.", left)
        if not number:
            end = _("There is nothing to label.")
        return {
            "done": done,
            "all": number,
            "progress": _("{done} of {all} labelled", done=_.integer(done), all=_.integer(number)),
            "item": None if item is None else self._item(item, _),
            "end": end,
            "left": left,
            "can_undo": sheet.can_undo,
            "can_back": sheet.place > 0,
            "said": self.said,
        }

    @property
    def items(self) -> list[dict[str, Any]]:
        """All items as `state` has the one that is shown."""
        _ = translator(self.language)
        return [self._item(item, _) for item in self.sheet.items]

    def _item(self, item: Item, _: Translator) -> dict[str, Any]:
        given = self.sheet.given(item)
        others = [] if self.others is None else self.others(item)
        return {
            "code": item.code,
            "question": clean(item.question),
            "answer": clean(item.answer) or _("(empty)"),
            "reference": clean(item.reference),
            "passages": [clean(text) for text in item.contexts],
            "chosen": None if given.value is None else self.sheet.scale.index(given.value),
            "note": clean(given.note),
            "others": [
                {"who": clean(other.annotator), "value": clean(self.words.get(other.value) or _.exact(other.value)),
                 "note": clean(other.note)}
                for other in others
            ],
        }  # fmt: skip


def keys_of(scale: Sequence[float]) -> tuple[str, ...]:
    """The key of each value: its own digit where all values are digits, else 1 to 9 by its place, then 0; "" for none.

    So 1 to 5 are the keys of a rating, 0 and 1 those of no and yes, and 1 to 5 of five shares.
    """
    if all(value in range(10) for value in scale):
        return tuple(f"{value:.0f}" for value in scale)
    return tuple("1234567890"[place] if place < 10 else "" for place in range(len(scale)))


def meaning(metric: str, language: str) -> str:
    """The first line of a metric's declaration; empty for one that is not in the catalogue."""
    from ragbench.old.core.metric import parse
    from ragbench.old.metrics import catalogue

    catalogue()
    try:
        return parse(metric).meaning(translator(language), language)
    except ValueError:
        return ""


def _words(_: Translator, *, skips: bool) -> dict[str, str]:
    """skips: whether 0 does, where it is no value."""
    return {
        "question": _("Question"), "answer": _("Answer"), "reference": _("Reference"), "passages": _("Passages"),
        "others": _("What was said"), "note": _("Note"), "choices": _("Label"), "labelling": _("labelling"),
        "back": _("back"), "skip": _("skip"), "undo": _("undo"), "clear": _("take back"), "write": _("to CSV"),
        "take": _("from CSV"), "first": _("to the first without a label"),
        "keys": _("Keys: digits label, 0 or S skips, U takes the last act back, ← and → move, N writes a note, Esc "
                  "leaves it.") if skips else
                _("Keys: digits label, S skips, U takes the last act back, ← and → move, N writes a note, Esc leaves "
                  "it."),
    }  # fmt: skip


FOLDER = "labels"
HERE = Path(__file__).parent


def label(
    measurement: Measurement,
    metric: str,
    annotator: str,
    *,
    count: int | None = 100,
    scale: Sequence[float] | Mapping[float, str] = (),
    path: Path | str = "",
    seed: int = 0,
    language: str = "",
) -> Any:
    """A widget in which one person labels answers of a measurement on the scale of a metric.

    Answers come in random order, the same for every annotator, without the system that wrote them, without any score
    and without what another annotator said. Nothing is chosen beforehand; every act is kept at once in `path`, and the
    next call goes on where the last one stopped. Keys work while the panel has the focus: digits label, 0 or S skips,
    U undoes, N writes a note.

    measurement: of any tier that judges answers (see `items`). scale: the values that can be given, with their words in
        a mapping; the metric's own where empty. count: how many answers at most; 50 to 200 are enough for a correction.
    path: a CSV file of this annotator alone; by default labels/NOTEBOOK-METRIC-ANNOTATOR.csv beside ragbench.toml.
    seed: of the order. language: of the panel; empty: as in ragbench.toml.
    Raises ValueError as `items` and `Sheet` do.
    """
    if annotator.strip() == SETTLED:
        raise ValueError(f"annotator = {annotator!r}: that is what people have settled; rb.settle writes it")
    spoken = language or configuration.load().language
    values, words = chosen_scale(measurement, metric, scale, spoken)
    place = Path(path) if path else default_path(measurement, metric, annotator)
    sheet = Sheet(items(measurement, metric, count=count, seed=seed), values, annotator, place)
    return widget(Panel(sheet, metric, words, spoken))


def chosen_scale(
    measurement: Measurement, metric: str, scale: Sequence[float] | Mapping[float, str], language: str
) -> tuple[tuple[float, ...], dict[float, str]]:
    """The values that can be given, and the words of those that have some."""
    values = tuple(scale) or scale_of(metric, measurement)
    if isinstance(scale, Mapping):
        return values, {float(value): str(word) for value, word in scale.items()}
    _ = translator(language)
    return values, {0.0: _("no"), 1.0: _("yes")} if tuple(values) == (0.0, 1.0) else {}


def default_path(measurement: Measurement, metric: str, annotator: str) -> Path:
    """Where an annotator's labels are kept if nothing else is said."""
    name = "-".join(plain_name(part) for part in (measurement.notebook, metric, annotator))
    return configuration.project_folder() / FOLDER / f"{name}.csv"


def plain_name(text: str) -> str:
    """A text as part of a file's name."""
    return "".join(sign if sign.isalnum() or sign in "._" else "_" for sign in text.strip()) or "_"


def widget(panel: Panel) -> Any:
    """The panel for a notebook's cell. Its `panel` is the one that was given."""
    return _class()(panel)


@lru_cache(maxsize=1)
def _class() -> Any:
    import anywidget
    import traitlets

    class LabelWidget(anywidget.AnyWidget):
        _esm = folders.text(HERE / "panel.js")
        _css = folders.text(HERE / "panel.css")
        fixed = traitlets.Dict().tag(sync=True)
        state = traitlets.Dict().tag(sync=True)

        def __init__(self, panel: Panel) -> None:
            super().__init__(fixed=panel.fixed, state=panel.state)
            self.panel = panel
            self.on_msg(self._receive)

        def _receive(self, _widget: Any, message: Any, buffers: Sequence[Any]) -> None:
            self.panel.receive(message, bytes(buffers[0]) if buffers else b"")
            self.state = self.panel.state

    return LabelWidget


METRIC = "review"
REJECT, ACCEPT, EDIT = 0.0, 1.0, 2.0  # numbers, for agreement is computed from a table of numbers
SCALE = (REJECT, ACCEPT, EDIT)


def drafts(records: Records) -> list[QuestionRecord | Dialogue]:
    """What nobody has reviewed, in the order in which everybody reads it."""
    every: Sequence[QuestionRecord | Dialogue] = [*records.questions, *records.dialogues]
    return [record for record in every if record.draft == "unreviewed"]


def drafts_to_review(records: Records) -> list[Item]:
    """The drafts as they are read: question, answer, and the passages that it is labelled with."""
    texts = {chunk.id: chunk.text for chunk in records.chunks}
    return [
        Item(record.id, "", METRIC, question_of(record), answer_of(record) or "", _passages(record, texts))
        for record in drafts(records)
    ]


def question_of(record: QuestionRecord | Dialogue) -> str:
    """The question; of a dialogue all its turns up to the last question."""
    if isinstance(record, QuestionRecord):
        return record.text
    lines = [line for turn in record.turns for line in (turn.question, turn.answer or "")]
    return "\n".join(lines[:-1])


def answer_of(record: QuestionRecord | Dialogue) -> str | None:
    """What is said to answer it."""
    return record.reference if isinstance(record, QuestionRecord) else record.turns[-1].answer


def _passages(record: QuestionRecord | Dialogue, texts: Mapping[str, str]) -> tuple[str, ...]:
    relevant = record.relevant if isinstance(record, QuestionRecord) else record.turns[-1].relevant
    return tuple(texts[name] for name in relevant if name in texts)


def path_of(label: str, annotator: str) -> Path:
    """Where a person's reviews of a data set are kept."""
    return configuration.project_folder() / FOLDER / f"{METRIC}-{plain_name(label)}-{plain_name(annotator)}.csv"


def sheet_of(name: str, annotator: str) -> tuple[str, Records, Sheet]:
    """The label of a data set, its records, and a person's sheet of its drafts. Raises DatasetError where there are no
    drafts that nobody has reviewed."""
    place, language, records = records_named(name, trust.folder_of("data_folder"))
    label, read = f"{place.name}:{language}", drafts_to_review(records)
    if not read:
        raise DatasetError(
            f"{label} has no draft that nobody has reviewed: `ragbench draft {name} --judge NAME` makes some"
        )
    return label, records, Sheet(read, SCALE, annotator, path_of(label, annotator))


def review(name: str, annotator: str, *, language: str = "") -> Any:
    """A widget in which one person reviews the drafts of a data set: 1 accepts, 0 rejects, 2 accepts the question that
    the note has instead; U undoes, N writes the note.

    Every act is kept at once, and the next call goes on where the last one stopped; `ragbench review NAME --apply` puts
    the reviews into the data set. A second person reads the same drafts in the same order, without seeing the first
    one's word. Raises DatasetError as `sheet_of` does.
    """
    _label, _records, sheet = sheet_of(name, annotator)
    return widget(panel_of(sheet, language or configuration.load().language))


def panel_of(sheet: Sheet, language: str) -> Panel:
    """A sheet of drafts in the words of a language."""
    _ = translator(language)
    words = {REJECT: _("reject"), ACCEPT: _("accept"), EDIT: _("accept as the note has it")}
    return Panel(sheet, METRIC, words, language)


@dataclass(frozen=True)
class Reviewed:
    """What people said of drafts. accepted: the records as they are from now on. rejected: ids. disputed: those that
    people do not agree on, or that were to be put right without a word how; they stay as they are. open: nobody read
    them. shared: how many two people or more read; alpha: their Krippendorff's α, NaN where none or all were alike."""

    accepted: tuple[QuestionRecord | Dialogue, ...]
    rejected: tuple[str, ...]
    disputed: tuple[str, ...]
    open: tuple[str, ...]
    annotators: tuple[str, ...]
    shared: int
    alpha: Estimate | None


def reviewed(records: Records, said: Mapping[str, Mapping[str, Given]]) -> Reviewed:
    """The drafts by what people said of them. said: draft → person → review."""
    accepted: list[QuestionRecord | Dialogue] = []
    rejected, disputed, unread = [], [], []
    for record in drafts(records):
        given = [one for one in said.get(record.id, {}).values() if one.value is not None]
        words = {one.value: one.note for one in given}
        if not given:
            unread.append(record.id)
        elif len(words) > 1 or (EDIT in words and (not words[EDIT] or len({one.note for one in given}) > 1)):
            disputed.append(record.id)
        elif REJECT in words:
            rejected.append(record.id)
        else:
            accepted.append(_accepted(record, words.get(EDIT, "")))
    people = tuple(sorted({person for own in said.values() for person in own}))
    ratings = [[own[person].value if person in own else None for person in people] for own in said.values()]
    shared = [row for row in ratings if sum(value is not None for value in row) > 1]
    alpha = stats.krippendorff_alpha(shared, scale="nominal", categories=SCALE) if shared else None
    return Reviewed(
        tuple(accepted), tuple(rejected), tuple(disputed), tuple(unread), people, len(shared), alpha
    )  # fmt: skip


def _accepted(record: QuestionRecord | Dialogue, text: str) -> QuestionRecord | Dialogue:
    if isinstance(record, QuestionRecord):
        return record.model_copy(update={"draft": "reviewed", **({"text": text} if text else {})})
    turns = record.turns
    if text:
        turns = (*turns[:-1], turns[-1].model_copy(update={"question": text}))
    return record.model_copy(update={"draft": "reviewed", "turns": turns})


def read(label: str) -> dict[str, dict[str, Given]]:
    """Draft → person → review, of all files of a data set."""
    said: dict[str, dict[str, Given]] = defaultdict(dict)
    folder = configuration.project_folder() / FOLDER
    start = f"{METRIC}-{plain_name(label)}-"
    for path in sorted(folder.glob("*.csv")) if folder.is_dir() else ():
        if path.name.startswith(start) and not path.name.endswith(".sheet.csv"):
            for _place, key, annotator, given in read_given(path):
                said[key[0]][annotator] = given
    return dict(said)


def apply(label: str, folder: Path, found: Reviewed) -> None:
    """Put what was accepted into the data set, and take out what was rejected."""
    tables = Records(
        questions=[record for record in found.accepted if isinstance(record, QuestionRecord)],
        dialogues=cast(Any, [record for record in found.accepted if isinstance(record, Dialogue)]),
    )
    change(label, folder, tables, set(found.rejected))


def review_page(label: str, sheet: Sheet, language: str) -> str:
    """HTML that needs nothing beside it: the panel of JupyterLab, with the same keys, and everything that it shows.

    What is given is kept by the browser at once, under the data set, the person and the drafts, and leaves it as a CSV
    file (item, value, note). Texts are data in the page, never markup, and its policy lets it load and send nothing.
    """
    _, panel = translator(language), panel_of(sheet, language)
    choices = [
        {**choice, "value": f"{value:g}", "needs_note": value == EDIT}
        for choice, value in zip(panel.fixed["choices"], sheet.scale, strict=True)
    ]
    title = _("Drafts of {name}, reviewed by {annotator}", name=label, annotator=sheet.annotator)
    drafts_to_review = [{**item, "given": {"choice": item["chosen"], "note": item["note"]}} for item in panel.items]
    drafts = hashlib.sha256("".join(item["code"] for item in drafts_to_review).encode()).hexdigest()[:16]
    words = {
        "unkept": _("This browser keeps nothing: save the file before you close the page."),
        "written": _("The file is saved. Give it to whoever asked you: ragbench review --take"),
        "needs_note": _("Write the question into the note first (N): it is accepted as the note has it."),
        "end": _("That was the last one. Save the file, or go back to change one."),
        "left": _("Some drafts are not reviewed yet."),
    }
    given = {
        "key": f"{METRIC} {label} {sheet.annotator} {drafts}",
        "file": f"{METRIC}-{plain_name(label)}-{plain_name(sheet.annotator)}.csv",
        "fixed": {**panel.fixed, "choices": choices, "title": title, "words": {**panel.fixed["words"],
                  "write": _("save the file")}},
        "items": drafts_to_review, "words": words,
    }  # fmt: skip
    panel_code = folders.text(HERE / "panel.js").replace("export default", "return", 1)
    script = f"const panel = (() => {{\n{panel_code}}})();\n{folders.text(HERE / 'review_page.js')}"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(
        parts.template("review.html.j2").render(
            language=language, title=title, css=folders.text(HERE / "panel.css"), script=script,
            digest=f"'sha256-{digest}'", material=payload(secrets.masked(given, secrets.exact_masker())),
        )
    )  # fmt: skip
