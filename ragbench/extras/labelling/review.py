"""People read what a model drafted, in JupyterLab or on a page of its own: accept it, put it right, or reject it."""

from __future__ import annotations

import base64
import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from ragbench import stats
from ragbench.core import folders, parts, trust
from ragbench.core import settings as configuration
from ragbench.core.language import translator
from ragbench.core.settings import secrets
from ragbench.core.types import Estimate
from ragbench.data import Dialogue, QuestionRecord, Records, records_named
from ragbench.data.files import DatasetError
from ragbench.data.writing import change
from ragbench.extras.labelling.annotation import FOLDER, HERE, Panel, plain_name, widget
from ragbench.extras.labelling.sheet import Given, Item, Sheet, read_given
from ragbench.views.basics.web import payload

METRIC = "review"
REJECT, ACCEPT, EDIT = 0.0, 1.0, 2.0
SCALE = (REJECT, ACCEPT, EDIT)


def drafts(records: Records) -> list[QuestionRecord | Dialogue]:
    """What nobody has reviewed, in the order in which everybody reads it."""
    every: Sequence[QuestionRecord | Dialogue] = [*records.questions, *records.dialogues]
    return [record for record in every if record.draft == "unreviewed"]


def items(records: Records) -> list[Item]:
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
    label, read = f"{place.name}:{language}", items(records)
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
    items = [{**item, "given": {"choice": item["chosen"], "note": item["note"]}} for item in panel.items]
    drafts = hashlib.sha256("".join(item["code"] for item in items).encode()).hexdigest()[:16]
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
        "items": items, "words": words,
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
