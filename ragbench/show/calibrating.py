"""What the page about the statistics themselves shows."""

from __future__ import annotations

from ragbench.show.about import calibration
from ragbench.show.basics.frame import Frame
from ragbench.show.view import View


class CalibratingViews(Frame):
    """Views of a page; see `ragbench.show.page.Page`."""

    def promise(self) -> View:
        """Where intervals and tests kept what they promise in simulations, and every cell where they did not."""
        return self._view("promise", calibration.promise)

    def simulations(self, part: str = "interval") -> View:
        """How often each method was right, by population and size; part: what was simulated, such as "clusters"."""
        if part not in calibration.PARTS:
            raise ValueError(f"simulations({part!r}): the part is one of {', '.join(calibration.PARTS)}")
        return self._view("simulations", lambda m, p: calibration.coverage(m, p, part), part=part)
