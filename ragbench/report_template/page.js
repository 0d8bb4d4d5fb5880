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
  // Charts: each place holds its figure as JSON, and its label in words until, or in place of, a drawing.
  const plots = [...document.querySelectorAll(".rb-plot")];
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
  const tell = (plot) => {
    plot.textContent = plot.getAttribute("aria-label");
    plot.style.height = "auto";
  };
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
    if (!plot.classList.contains("js-plotly-plot")) plot.replaceChildren();
    const figure = paint(JSON.parse(figures.get(plot)), getComputedStyle(plot));
    if (printing()) figure.layout.width = PAPER;
    else if (narrow()) fold(figure.layout);
    plot.style.height = figure.layout.height + "px";
    return window.Plotly.react(plot, figure.data, figure.layout, { displayModeBar: false, scrollZoom: false, responsive: !printing() });
  };
  const seen = (plot) => printing() || plot.checkVisibility(); // what is folded has no width to be drawn in
  const drawAll = () => plots.filter(window.Plotly ? seen : () => true).forEach(window.Plotly ? draw : tell);
  addEventListener("toggle", ({ target }) => {
    if (target.open && window.Plotly) plots.filter((plot) => target.contains(plot) && seen(plot)).forEach(draw);
  }, true);
  const redraw = () => window.Plotly && drawAll();
  let wasNarrow = narrow();
  window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
  window.addEventListener("resize", () => {
    if (narrow() !== wasNarrow) { wasNarrow = narrow(); redraw(); }
  });
  window.addEventListener("beforeprint", () => { document.documentElement.dataset.print = ""; drawAll(); });
  window.addEventListener("afterprint", () => { delete document.documentElement.dataset.print; redraw(); });

  // What draws them is large. It comes after the page, and after a table that the address asks for; what is in view is
  // drawn first, and each of the others in a turn of its own, so that the page answers meanwhile.
  const near = (plot) => { const { top, bottom } = plot.getBoundingClientRect(); return bottom > 0 && top < innerHeight; };
  const begin = () => {
    const left = plots.filter((plot) => seen(plot) && !near(plot));
    plots.filter((plot) => seen(plot) && near(plot)).forEach(draw);
    const next = () => {
      const plot = left.shift();
      if (!plot) return;
      if (!plot.classList.contains("js-plotly-plot")) draw(plot);
      setTimeout(next);
    };
    setTimeout(next);
  };
  const load = () => {
    const kept = document.querySelector("script[data-later], script[data-inside]");
    const script = document.createElement("script");
    script.onload = begin;
    script.onerror = () => plots.forEach(tell);
    if (kept.dataset.later) script.src = kept.dataset.later;
    else script.textContent = kept.textContent;
    document.body.append(script);
    if (!kept.dataset.later) (window.Plotly ? begin : script.onerror)();
  };
  const QUIET = 700; // milliseconds without a key or a touch: who has come for the table is not made to wait
  const quiet = () => new Promise((resolve) => {
    const watch = new AbortController();
    let timer;
    const end = () => { clearTimeout(timer); watch.abort(); watched.disconnect(); resolve(); };
    const again = () => { clearTimeout(timer); timer = setTimeout(end, QUIET); };
    const watched = new IntersectionObserver((changes) => { if (changes.some((one) => one.isIntersecting)) end(); });
    for (const kind of ["keydown", "input", "pointerdown"]) {
      addEventListener(kind, again, { capture: true, passive: true, signal: watch.signal });
    }
    plots.forEach((plot) => watched.observe(plot));
    again();
  });
  if (!plots.length) return;
  if (window.ragbenchAsked) window.ragbenchAsked.then(quiet).then(load);
  else load();
})();
