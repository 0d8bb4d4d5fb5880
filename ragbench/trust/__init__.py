"""What a project would run, open and send, and whether its user has answered for its folder."""

from ragbench.trust.planned import planned
from ragbench.trust.reach import (
    Item,
    Reach,
    of_callable,
    of_data,
    of_metrics,
    of_notebooks,
    of_project,
    of_server,
    of_settings,
)
from ragbench.trust.record import grant, grants, revoke
from ragbench.trust.verdict import (
    EXIT,
    UntrustedError,
    doubts,
    folder_of,
    is_trusted,
    join_path,
    only_planned,
    passed_on,
    require,
)
