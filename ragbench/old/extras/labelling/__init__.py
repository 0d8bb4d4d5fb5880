"""Labels by people, given in a notebook: one answer at a time, without knowing who wrote it or what a judge said."""

from typing import TYPE_CHECKING

from ragbench.old.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.old.extras.labelling.annotation import Panel as Panel
    from ragbench.old.extras.labelling.annotation import label as label
    from ragbench.old.extras.labelling.annotation import widget as widget
    from ragbench.old.extras.labelling.settling import Agreement as Agreement
    from ragbench.old.extras.labelling.settling import agreement as agreement
    from ragbench.old.extras.labelling.settling import settle as settle
    from ragbench.old.extras.labelling.sheet import Given as Given
    from ragbench.old.extras.labelling.sheet import Item as Item
    from ragbench.old.extras.labelling.sheet import Sheet as Sheet
    from ragbench.old.extras.labelling.sheet import export_csv as export_csv
    from ragbench.old.extras.labelling.sheet import import_csv as import_csv
    from ragbench.old.extras.labelling.sheet import items as items
    from ragbench.old.extras.labelling.sheet import scale_of as scale_of

__all__, __getattr__, __dir__ = offers(__name__)
OFFERS = {
    "commands": {"review": "ragbench.old.extras.labelling.command:review"},
    "front": {
        "label": "ragbench.old.extras.labelling:label",
        "review": "ragbench.old.extras.labelling.annotation:review",
        "settle": "ragbench.old.extras.labelling:settle",
    },
}
