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

  // Charts: each place holds its figure as JSON, and its label in words in place of a drawing.
  const PAPER = 660; // the width of A4 between its margins, in CSS pixels
  const printing = () => "print" in document.documentElement.dataset;
  const narrow = () => document.documentElement.clientWidth < 560;
  const plots = [...document.querySelectorAll(".rb-plot")];
  const figures = new Map(plots.map((plot) => [plot, plot.querySelector("script").textContent]));
  const drawn = new Map(); // at which width, and whether for a phone
  // On a phone: what the figure itself asks for there, and names above their marks in place of an axis.
  const fold = (layout) => {
    for (const [key, value] of Object.entries(layout.meta?.narrow || {})) {
      layout[key] = typeof value === "object" ? { ...layout[key], ...value } : value;
    }
    if (!layout.annotations?.length) return;
    for (const key of Object.keys(layout)) {
      if (!key.startsWith("yaxis")) continue;
      layout[key].showticklabels = false;
      layout[key].range[1] -= 0.2;
    }
    layout.height *= layout.meta?.stretch ?? 1.25;
    for (const label of layout.annotations) label.visible = true;
  };
  const draw = (plot) => {
    const width = printing() ? PAPER : plot.clientWidth; // what is folded has none
    const told = `${width}${!printing() && narrow()}`;
    if (!width || drawn.get(plot) === told) return;
    drawn.set(plot, told);
    const figure = JSON.parse(figures.get(plot));
    if (!printing() && narrow()) fold(figure.layout);
    ragbenchChart.draw(plot, figure, width);
  };
  plots.forEach(draw);
  const watched = new ResizeObserver((changes) => { if (!printing()) changes.forEach(({ target }) => draw(target)); });
  plots.forEach((plot) => watched.observe(plot));

  // Figures of a notebook's own, which Plotly draws
  const own = [...document.querySelectorAll(".rb-own-plot")].map((plot) => [plot, plot.querySelector("script").textContent]);
  for (const [plot, text] of window.Plotly ? own : []) {
    const figure = JSON.parse(text);
    plot.replaceChildren();
    window.Plotly.react(plot, figure.data, { height: 420, ...figure.layout }, { displayModeBar: false, responsive: true });
  }

  // On paper everything is open
  const opened = [];
  addEventListener("beforeprint", () => {
    document.documentElement.dataset.print = "";
    for (const fold of document.querySelectorAll("main details:not([open], .code)")) {
      fold.open = true;
      opened.push(fold);
    }
    plots.forEach(draw);
  });
  addEventListener("afterprint", () => {
    delete document.documentElement.dataset.print;
    for (const fold of opened.splice(0)) fold.open = false;
    plots.forEach(draw);
  });
  reveal();
})();
