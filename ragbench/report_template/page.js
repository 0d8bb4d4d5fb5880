(() => {
  "use strict";
  const reveal = () => {
    const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.querySelector("details")?.setAttribute("open", "");
    target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  reveal();
  const plots = [...document.querySelectorAll(".rb-plot")];
  if (!window.Plotly) {
    for (const plot of plots) {
      plot.textContent = plot.getAttribute("aria-label");
      plot.style.height = "auto";
    }
    return;
  }
  const narrow = () => document.documentElement.clientWidth < 560;
  const figures = new Map(plots.map((plot) => [plot, plot.querySelector("script").textContent]));
  const paint = (value, style) => {
    if (typeof value === "string" && value.startsWith("@")) return style.getPropertyValue("--rb-" + value.slice(1)).trim();
    if (Array.isArray(value)) return value.map((item) => paint(item, style));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, paint(item, style)]));
    }
    return value;
  };
  const PAPER = 660; // the width of A4 between its margins, in CSS pixels
  const printing = () => "print" in document.documentElement.dataset;
  const draw = (plot) => {
    const figure = paint(JSON.parse(figures.get(plot)), getComputedStyle(plot));
    if (printing()) figure.layout.width = PAPER;
    else if (narrow() && figure.layout.annotations?.length) {
      for (const key of Object.keys(figure.layout)) {
        if (!key.startsWith("yaxis")) continue;
        figure.layout[key].showticklabels = false;
        figure.layout[key].range[1] -= 0.2;
      }
      figure.layout.height *= 1.25;
      for (const label of figure.layout.annotations) label.visible = true;
    }
    plot.style.height = figure.layout.height + "px";
    return window.Plotly.react(plot, figure.data, figure.layout, { displayModeBar: false, scrollZoom: false, responsive: !printing() });
  };
  const drawAll = () => plots.forEach(draw);
  let wasNarrow = narrow();
  drawAll();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
  window.addEventListener("resize", () => {
    if (narrow() !== wasNarrow) { wasNarrow = narrow(); drawAll(); }
  });
  window.addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; drawAll(); });
  window.addEventListener("afterprint", () => { delete document.documentElement.dataset.print; drawAll(); });
})();
