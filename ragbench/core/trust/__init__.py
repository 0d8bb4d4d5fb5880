"""What a project would run, open and send, and whether its user has answered for its folder."""

from ragbench.core.trust.answers import (
    NOTHING_DONE,
    UntrustedError,
    doubts,
    folder_of,
    grant,
    grants,
    is_trusted,
    join_path,
    only_planned,
    passed_on,
    planned,
    require,
    revoke,
)
from ragbench.core.trust.items import Item, named, notebooks
