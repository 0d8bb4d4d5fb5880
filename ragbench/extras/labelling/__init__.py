"""Labels by people, given in a notebook: one answer at a time, without knowing who wrote it or what a judge said."""

from typing import TYPE_CHECKING

from ragbench.core.annexes import offers

if TYPE_CHECKING:  # what the room offers: each name is imported when it is first asked for
    from ragbench.extras.labelling.annotation import Panel as Panel
    from ragbench.extras.labelling.annotation import label as label
    from ragbench.extras.labelling.annotation import widget as widget
    from ragbench.extras.labelling.settling import Agreement as Agreement
    from ragbench.extras.labelling.settling import agreement as agreement
    from ragbench.extras.labelling.settling import settle as settle
    from ragbench.extras.labelling.sheet import Given as Given
    from ragbench.extras.labelling.sheet import Item as Item
    from ragbench.extras.labelling.sheet import Sheet as Sheet
    from ragbench.extras.labelling.sheet import export_csv as export_csv
    from ragbench.extras.labelling.sheet import import_csv as import_csv
    from ragbench.extras.labelling.sheet import items as items
    from ragbench.extras.labelling.sheet import scale_of as scale_of

__all__, __getattr__, __dir__ = offers(__name__)
OFFERS = {
    "commands": {"review": "ragbench.extras.labelling.command:review"},
    "front": {
        "label": "ragbench.extras.labelling:label",
        "review": "ragbench.extras.labelling.annotation:review",
        "settle": "ragbench.extras.labelling:settle",
    },
}
