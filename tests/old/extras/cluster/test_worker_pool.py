"""Values of whole sets by the processes of a cluster."""

from __future__ import annotations

import pytest

from ragbench.old.core import settings as configuration
from ragbench.old.core.metric import Metric
from ragbench.old.extras.cluster import address
from tests.old.tiers.test_groups import scored
from tests.old.tiers.test_groups import style as style


@pytest.mark.slow
def test_workers_give_the_scores_of_one_process(style: list[Metric], monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed", reason="the extra `cluster` is not installed")
    whole = scored(style)
    with address.started(2) as file:
        monkeypatch.setenv("RAGBENCH_CLUSTER", str(file))
        configuration.load.cache_clear()
        assert scored(style) == whole
    monkeypatch.delenv("RAGBENCH_CLUSTER")
    configuration.load.cache_clear()
