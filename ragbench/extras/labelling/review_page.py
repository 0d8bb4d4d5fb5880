"""A page of its own in which a person reviews drafts in any browser, and saves a file for `ragbench review --take`."""

from __future__ import annotations

import base64
import hashlib

from ragbench.core import folders, parts
from ragbench.core.language import translator
from ragbench.core.settings import secrets
from ragbench.extras.labelling.panel import HERE, plain_name
from ragbench.extras.labelling.review import EDIT, METRIC, panel_of
from ragbench.extras.labelling.sheet import Sheet
from ragbench.views.basics.web import payload


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
