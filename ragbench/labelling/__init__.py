"""Labels by people, given in a notebook: one answer at a time, without knowing who wrote it or what a judge said."""

from typing import TYPE_CHECKING

from ragbench.rooms import offers

if TYPE_CHECKING:  # what _PLACES says, for whoever reads types
    from ragbench.labelling.items import Item as Item
    from ragbench.labelling.items import items as items
    from ragbench.labelling.items import scale_of as scale_of
    from ragbench.labelling.panel import Panel as Panel
    from ragbench.labelling.settling import Agreement as Agreement
    from ragbench.labelling.settling import agreement as agreement
    from ragbench.labelling.settling import settle as settle
    from ragbench.labelling.sheet import Given as Given
    from ragbench.labelling.sheet import Sheet as Sheet
    from ragbench.labelling.sheet import export_csv as export_csv
    from ragbench.labelling.sheet import import_csv as import_csv
    from ragbench.labelling.widget import label as label
    from ragbench.labelling.widget import widget as widget

_PLACES = {
    "Agreement": "settling",
    "Given": "sheet",
    "Item": "items",
    "Panel": "panel",
    "Sheet": "sheet",
    "agreement": "settling",
    "export_csv": "sheet",
    "import_csv": "sheet",
    "items": "items",
    "label": "widget",
    "scale_of": "items",
    "settle": "settling",
    "widget": "widget",
}
__all__, __getattr__, __dir__ = offers(__name__, _PLACES)
