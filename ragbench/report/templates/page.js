// Draws the figures of a page, in the colours of the reader's screen; on paper in light ones.
addEventListener("DOMContentLoaded", () => {
  if (!window.Plotly) return;
  const darkColours = JSON.parse(document.documentElement.dataset.dark);
  const screen = matchMedia("(prefers-color-scheme: dark)");
  const figures = [...document.querySelectorAll("figure:has(> .plot)")];

  const draw = (figure, isDark, width) => {
    const source = figure.querySelector("script").textContent;
    const swap = (colour) => darkColours[colour] ?? colour;
    const { data, layout } = JSON.parse(isDark ? source.replace(/#[0-9a-f]{6}\b/g, swap) : source);
    Plotly.react(figure.querySelector(".plot"), data, { ...layout, width }, { displayModeBar: false, responsive: !width });
  };
  const drawAll = (isDark, width) => figures.forEach((figure) => draw(figure, isDark, width));

  drawAll(screen.matches);
  screen.addEventListener("change", () => drawAll(screen.matches));
  // Paper is narrower than most windows, and white.
  addEventListener("beforeprint", () => drawAll(false, 660));
  addEventListener("afterprint", () => drawAll(screen.matches));
  // A figure that was folded had no width when it was drawn.
  document.addEventListener("toggle", (event) => {
    if (!event.target.open) return;
    event.target.querySelectorAll(".plot").forEach((plot) => Plotly.Plots.resize(plot));
  }, true);
});
