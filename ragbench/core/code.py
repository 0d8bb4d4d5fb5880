"""Objects that settings name as module:name, of the project's own folder."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

from ragbench.core.errors import BenchError, suggest


def load_object(name: str, root: Path) -> Any:
    """Import what `module:name` names; modules are looked for in the project's folder too.

    Raises BenchError for a name of another form, a module that cannot be imported, and an object
    that it does not have.
    """
    module_name, _, attribute = name.partition(":")
    if not module_name or not attribute:
        raise BenchError(f"{name!r} names no object; write module:name, such as search:retrieve")
    if str(root) not in sys.path:
        # Behind the packages that are installed: no file of the project stands in for one of them.
        sys.path.append(str(root))
    try:
        found: Any = importlib.import_module(module_name)
    except Exception as error:  # whatever the user's module raises while it is imported
        raise BenchError(f"{name}: {module_name} cannot be imported: {error}") from error
    for part in attribute.split("."):
        if not hasattr(found, part):
            hint = suggest(part, [other for other in dir(found) if not other.startswith("_")])
            raise BenchError(f"{name}: {module_name} has no {part!r}{hint}")
        found = getattr(found, part)
    return found
