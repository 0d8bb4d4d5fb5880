"""What a project would run and send, and whether its user has said that it may."""

from ragbench.trust.reach import (
    Item,
    Reach,
    of_callable,
    of_metrics,
    of_module,
    of_namesakes,
    of_notebooks,
    of_project,
    of_server,
    of_settings,
    of_storage,
)
from ragbench.trust.record import Grant, grant, grants, revoke
from ragbench.trust.verdict import ALL, Doubt, UntrustedError, doubts, pin, require
