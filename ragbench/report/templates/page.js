// Draws the figures of a page, in the colours of the reader's screen; on paper in light ones.
addEventListener("load", () => {
  if (!window.Plotly) return;
  const darkColours = JSON.parse(document.documentElement.dataset.dark);
  const screen = matchMedia("(prefers-color-scheme: dark)");
  const figures = [...document.querySelectorAll("figure:has(> .plot)")];

  const draw = (figure, isDark, paper) => {
    const source = figure.querySelector("script").textContent;
    const swap = (colour) => darkColours[colour] ?? colour;
    const { data, layout } = JSON.parse(isDark ? source.replace(/#[0-9a-f]{6}\b/g, swap) : source);
    const plot = figure.querySelector(".plot");
    const height = Math.round(layout.height * (paper ? 0.7 : 1));
    plot.style.height = `${height}px`;
    const size = paper ? { height, width: paper } : { height };
    Plotly.react(plot, data, { ...layout, ...size }, { displayModeBar: false, responsive: !paper });
  };
  const drawAll = (isDark, paper) => figures.forEach((figure) => draw(figure, isDark, paper));

  // One after the other: the page can be read and used meanwhile.
  figures.forEach((figure) => setTimeout(() => draw(figure, screen.matches)));
  screen.addEventListener("change", () => drawAll(screen.matches));
  // Paper is white, narrower than most windows, and has a foot.
  addEventListener("beforeprint", () => drawAll(false, 660));
  addEventListener("afterprint", () => drawAll(screen.matches));
  // A figure that was folded had no width when it was drawn.
  document.addEventListener("toggle", (event) => {
    if (!event.target.open) return;
    event.target.querySelectorAll(".plot").forEach((plot) => Plotly.Plots.resize(plot));
  }, true);
});
