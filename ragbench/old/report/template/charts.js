// Charts: figures in Plotly's own words, of which it knows those that our views use, drawn as SVG. Colours are names in
// the style sheet, so that a drawing follows the reader's scheme; no text in a figure is ever read as HTML.
const ragbenchChart = (() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const DASHES = { dot: "2 3", dash: "7 4", dashdot: "7 3 2 3", longdash: "12 4", longdashdot: "12 3 2 3" };
  const LINE = 15; // pixels from one line of text to the next
  const GAP = 8; // between tick labels and what they name
  const NEAR = 22; // a pointer so near to a mark is at it

  const colour = (name) => (typeof name === "string" && name.startsWith("@") ? `var(--rb-${name.slice(1)})` : name);
  const node = (tag, attributes = {}, looks = {}, ...children) => {
    const made = document.createElementNS(SVG, tag);
    for (const [key, value] of Object.entries(attributes)) if (value !== undefined) made.setAttribute(key, value);
    for (const [key, value] of Object.entries(looks)) if (value !== undefined) made.style.setProperty(key, colour(value));
    made.append(...children);
    return made;
  };
  const SIGNS = { lt: "<", gt: ">", amp: "&", quot: '"' };
  const decode = (text) => text.replace(/&(?:(lt|gt|amp|quot)|#(\d+));/g, (_, name, code) => SIGNS[name] ?? String.fromCodePoint(code));
  const rich = (text) => String(text).split("<br>").map((line) => // lines of [text, whether it is bold]
    line.split(/<b>|<\/b>/).map((part, place) => [decode(part), place % 2 === 1]).filter(([part]) => part));
  const bare = (text) => rich(text).map((line) => line.map(([part]) => part).join("").trim());
  const pen = document.createElement("canvas").getContext("2d");
  const wide = (text, size) => {
    pen.font = `${size}px ${getComputedStyle(document.body).fontFamily}`;
    return pen.measureText(text).width;
  };
  const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
  const write = (text, x, y, { size = 12, fill = "@muted", anchor = "middle", halo, angle, kind } = {}) => {
    const way = FROM_RIGHT.test(text) ? "plaintext" : undefined; // as dir="auto", which no SVG has
    const made = node("text", { x, y, class: kind, "text-anchor": anchor, "unicode-bidi": way, transform: angle && `rotate(${angle} ${x} ${y})` },
      { "font-size": `${size}px`, fill, stroke: halo, "stroke-width": halo && "4px", "paint-order": halo && "stroke" });
    rich(text).forEach((line, place) => {
      const row = node("tspan", { x, dy: place ? LINE : 0 });
      for (const [part, bold] of line) row.append(bold ? node("tspan", {}, { "font-weight": "600" }, part) : part);
      made.append(row);
    });
    return made;
  };

  // Axes
  const finite = (value) => typeof value === "number" && Number.isFinite(value);
  const suffixOf = (reference = "x") => reference.slice(1);
  const PERCENT = /^\.(\d)%$/, FIXED = /^\.(\d)f$/;
  const numeral = (value, digits, [point, thousands]) => {
    const [whole, rest] = Math.abs(value).toFixed(digits).split(".");
    const grouped = whole.length > 4 ? whole.replace(/\B(?=(\d{3})+$)/g, thousands ?? "") : whole;
    return (value < 0 && Number(value.toFixed(digits)) ? "\u2212" : "") + grouped + (rest ? point + rest : "");
  };
  const digitsOf = (step) => [0, 1, 2, 3, 4, 5].find((one) => Math.abs(step * 10 ** one - Math.round(step * 10 ** one)) < 1e-6) ?? 6;
  const formatted = (value, format, separators, step = 0) => {
    if (typeof value !== "number") return String(value);
    const percent = PERCENT.exec(format), fixed = FIXED.exec(format);
    if (percent) return numeral(100 * value, Number(percent[1]), separators) + "%";
    return numeral(value, fixed ? Number(fixed[1]) : step ? digitsOf(step) : 3, separators);
  };
  const niceStep = (span, count) => {
    const rough = span / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
    return [1, 2, 5, 10].map((one) => one * power).find((one) => one >= rough * 0.999) ?? rough;
  };

  class Axis {
    constructor(own, letter, traces) {
      Object.assign(this, { own, letter, log: own.type === "log" });
      const values = traces.flatMap((one) => (Array.isArray(one[letter]) ? one[letter] : []));
      this.names = own.type === "category" ? [...new Set(values)] : null;
      this.range = own.range ? [...own.range] : this.reach(traces);
    }
    number(value) {
      if (this.names) return this.names.indexOf(value);
      return this.log ? Math.log10(value) : value;
    }
    reach(traces) { // from the least to the greatest that is drawn, with room for marks
      const { own, letter } = this, found = [];
      let room = 0;
      for (const one of traces) {
        const across = one.type === "bar" && (one.orientation === "h") === (letter === "x");
        const whole = one.type === "heatmap" || (one.type === "bar" && !across);
        if (one.mode?.includes("markers") || across || (letter === "y" && one.type === "scatter")) room = 0.05;
        (one[letter] || []).forEach((value, place) => {
          const at = this.number(value), base = across ? one.base?.[place] ?? 0 : 0;
          if (value === null || !Number.isFinite(at)) return;
          found.push(...(whole ? [at - 0.5, at + 0.5] : across ? [base, base + at] : [at]));
          const reach = one[`error_${letter}`];
          if (reach?.array && reach.visible !== false) {
            found.push(base + at + (reach.array[place] || 0), base + at - (reach.arrayminus[place] || 0));
          }
        });
      }
      let low = found.reduce((a, b) => Math.min(a, b), Infinity), high = found.reduce((a, b) => Math.max(a, b), -Infinity);
      if (low > high) [low, high] = [0, 1];
      if (this.names) [low, high] = [Math.min(low, 0) - (low >= 0 ? 0.5 : 0), Math.max(high, this.names.length - 0.5)];
      const zero = own.rangemode === "tozero" || traces.some((one) => one.type === "bar" && !this.names);
      if (zero && !this.log) [low, high] = [Math.min(0, low), Math.max(0, high)];
      if (low === high) [low, high] = [low - 0.5, high + 0.5];
      if (!this.names) {
        const pad = (high - low) * room;
        [low, high] = [zero && low === 0 ? 0 : low - pad, zero && high === 0 ? 0 : high + pad];
      }
      return own.autorange === "reversed" ? [high, low] : [low, high];
    }
    place(value) { return this.at(this.number(value)); }
    at(number) { return this.from + ((number - this.range[0]) / (this.range[1] - this.range[0])) * (this.to - this.from); }
    ticks(separators, length) { // each a value in the axis's own measure, and what is said of it
      const { own, range } = this, [low, high] = [Math.min(...range), Math.max(...range)];
      const inside = ([at]) => at >= low - 1e-9 && at <= high + 1e-9;
      if (this.names && !own.tickvals) return this.names.map((name, place) => [place, name]);
      if (own.tickvals) {
        return own.tickvals.map((value, place) => [this.number(value), own.ticktext?.[place]
          ?? formatted(value, own.tickformat, separators, own.tickvals.length > 1 ? Math.abs(own.tickvals[1] - own.tickvals[0]) : 0)]).filter(inside);
      }
      if (this.log) {
        const powers = [...Array(Math.floor(high) - Math.ceil(low) + 1).keys()].map((one) => Math.ceil(low) + one);
        return powers.map((one) => [one, formatted(10 ** one, own.tickformat, separators, 10 ** one)]);
      }
      const step = own.dtick ?? niceStep(high - low, Math.min(own.nticks ?? 8, Math.max(2, length / 45)));
      const made = [];
      for (let count = Math.ceil(low / step - 1e-9); count * step <= high + 1e-9 * step; count += 1) {
        made.push([count * step, formatted(count * step, own.tickformat, separators, step)]);
      }
      return made;
    }
  }

  const axesOf = (figure, letter) => {
    const known = new Map();
    const flat = figure.data.filter((one) => one.type !== "scatter3d");
    for (const [key, own] of Object.entries(figure.layout)) {
      if (!key.startsWith(`${letter}axis`)) continue;
      const suffix = key.slice(5);
      const like = own.matches ? suffixOf(own.matches) : suffix;
      const same = (one) => [suffix, like].includes(suffixOf(one[`${letter}axis`] ?? letter));
      const twins = Object.entries(figure.layout).filter(([, one]) => one?.matches === letter + suffix).map(([name]) => name.slice(5));
      const traces = flat.filter((one) => same(one) || twins.includes(suffixOf(one[`${letter}axis`] ?? letter)));
      known.set(suffix, new Axis(own, letter, traces));
    }
    return known;
  };

  // Marks
  const symbol = (kind, x, y, size) => {
    const half = size / 2, far = half * 1.25;
    if (kind.startsWith("diamond")) return node("path", { d: `M${x} ${y - far}L${x + far} ${y}L${x} ${y + far}L${x - far} ${y}Z` });
    if (kind.startsWith("square")) return node("rect", { x: x - half * 0.9, y: y - half * 0.9, width: size * 0.9, height: size * 0.9 });
    if (kind.startsWith("triangle")) return node("path", { d: `M${x} ${y - far}L${x + far} ${y + half}L${x - far} ${y + half}Z` });
    if (kind.startsWith("x")) return node("path", { d: `M${x - half} ${y - half}L${x + half} ${y + half}M${x - half} ${y + half}L${x + half} ${y - half}` });
    return node("circle", { cx: x, cy: y, r: half });
  };
  const mark = (marker, x, y, place) => {
    const size = (Array.isArray(marker.size) ? marker.size[place] : marker.size) ?? 6;
    const kind = marker.symbol ?? "circle", open = kind.endsWith("-open"), made = symbol(kind, x, y, open ? size - 1 : size);
    made.setAttribute("class", "point");
    made.style.fill = open ? colour("@paper") : colour(marker.color);
    made.style.fillOpacity = open ? "0.6" : made.style.fillOpacity;
    if (open) Object.assign(made.style, { stroke: colour(marker.color), strokeWidth: "1.8px" });
    if (marker.opacity !== undefined) made.style.opacity = marker.opacity;
    return made;
  };
  const said = (trace, place, values, separators) => {
    if (trace.hoverinfo === "skip") return null;
    if (trace.hoverinfo === "text") return String(trace.hovertext?.[place] ?? "");
    if (!trace.hovertemplate) return null;
    const [body, extra = ""] = trace.hovertemplate.split(/<extra>|<\/extra>/);
    const full = body.replace(/%\{(\w+)(?::([^}]*))?\}/g, (_, name, format) => formatted(values[name] ?? "", format, separators));
    return extra ? `${full}<br>${extra}` : full;
  };

  class Drawing {
    constructor(plot, figure, width) {
      const { layout } = figure;
      Object.assign(this, { plot, figure, width, layout, height: layout.height, targets: [] });
      this.separators = layout.separators ?? ".,";
      this.svg = node("svg", { class: "rb-chart", width, height: this.height, "aria-hidden": "true", focusable: "false" });
      this.x = axesOf(figure, "x");
      this.y = axesOf(figure, "y");
      this.measure();
      if (figure.data.some((one) => one.type === "scatter3d")) this.space();
      else this.plane();
      this.tip = document.createElement("div");
      this.tip.className = "rb-tip";
      this.tip.hidden = true;
      plot.replaceChildren(this.svg, this.tip);
      this.svg.addEventListener("pointermove", (event) => this.hover(event));
      this.svg.addEventListener("pointerdown", (event) => this.hover(event));
      this.svg.addEventListener("pointerleave", () => { this.tip.hidden = true; });
      plot.onblur = () => { this.tip.hidden = true; };
      if (this.targets.length) plot.tabIndex = 0;
      plot.onkeydown = (event) => this.press(event);
    }
    shown(axis) { return axis.own.visible !== false && axis.own.showticklabels !== false; }
    measure() { // margins with room for what stands beside the axes, then where each axis begins and ends
      const margin = this.margin = { l: 8, r: 8, t: 8, b: 8, ...this.layout.margin };
      const lines = (text) => bare(text);
      for (const axis of this.y.values()) {
        if (!this.shown(axis) || axis.own.automargin === false) continue;
        const size = axis.own.tickfont?.size ?? 13;
        const widths = axis.ticks(this.separators, this.height / 2).flatMap(([, text]) => lines(text).map((one) => wide(one, size)));
        margin.l = Math.max(margin.l, Math.min(this.width * 0.5, Math.max(0, ...widths) + GAP + 2));
      }
      for (const [suffix, axis] of this.x) {
        const [left, right] = axis.own.domain ?? [0, 1], length = (right - left) * (this.width - margin.l - margin.r);
        const ticks = this.shown(axis) ? axis.ticks(this.separators, length) : [], size = axis.own.tickfont?.size ?? 12;
        const widths = ticks.map(([, text]) => Math.max(0, ...lines(text).map((one) => wide(one, size))));
        const widest = Math.max(0, ...widths);
        axis.angle = axis.own.tickangle ?? (axis.names && widest + 3 > length / ticks.length ? -35 : 0);
        if (axis.angle) for (const tick of ticks) tick[1] = lines(tick[1])[0];
        axis.labelled = ticks;
        const tall = axis.angle
          ? widest * Math.sin(Math.abs(axis.angle) * Math.PI / 180) + 12
          : Math.max(0, ...ticks.map(([, text]) => lines(text).length)) * LINE;
        axis.below = (ticks.length ? tall + GAP : 4) + (axis.own.title?.text ? LINE + (axis.own.title.standoff ?? 4) : 0);
        const lowest = (this.y.get(suffixOf(axis.own.anchor ?? "y"))?.own.domain ?? [0])[0] === 0;
        if (lowest && axis.own.automargin !== false) margin.b = Math.max(margin.b, axis.below);
        if (axis.angle) margin.l = Math.max(margin.l, Math.min(this.width * 0.4, (widths[0] ?? 0) * Math.cos(axis.angle * Math.PI / 180)));
        else if (right === 1 && this.shown(axis)) margin.r = Math.max(margin.r, (widths.at(-1) ?? 0) / 2 + 1);
        axis.widest = widest;
        axis.suffix = suffix;
      }
      this.inner = { x: margin.l, y: margin.t, width: Math.max(1, this.width - margin.l - margin.r), height: Math.max(1, this.height - margin.t - margin.b) };
      const { x, y, width, height } = this.inner;
      for (const axis of this.x.values()) [axis.from, axis.to] = (axis.own.domain ?? [0, 1]).map((share) => x + share * width);
      for (const axis of this.y.values()) [axis.from, axis.to] = (axis.own.domain ?? [0, 1]).map((share) => y + (1 - share) * height);
      for (const axis of this.y.values()) { // one unit up is as long as one across
        const other = axis.own.scaleanchor && this.x.get(suffixOf(axis.own.scaleanchor));
        if (!other) continue;
        const unit = (one) => Math.abs(one.range[1] - one.range[0]) / Math.abs(one.to - one.from);
        const wished = Math.max(unit(axis), unit(other));
        for (const one of [axis, other]) {
          const middle = (one.range[0] + one.range[1]) / 2, half = (wished * Math.abs(one.to - one.from)) / 2;
          one.range = [middle - half, middle + half];
        }
      }
    }
    paper(letter, share) {
      const { x, y, width, height } = this.inner;
      return letter === "x" ? x + share * width : y + (1 - share) * height;
    }
    reference(letter, name, value) {
      if (name === "paper") return this.paper(letter, value);
      return this[letter].get(suffixOf(name ?? letter)).place(value);
    }

    plane() {
      for (const axis of this.y.values()) this.up(axis);
      for (const axis of this.x.values()) this.across(axis);
      for (const one of this.layout.shapes ?? []) {
        const [x1, x2, y1, y2] = [["x", one.xref, one.x0], ["x", one.xref, one.x1], ["y", one.yref, one.y0], ["y", one.yref, one.y1]]
          .map((where) => this.reference(...where));
        this.svg.append(node("line", { x1, x2, y1, y2, "stroke-dasharray": DASHES[one.line.dash] }, { stroke: one.line.color, "stroke-width": one.line.width }));
      }
      for (const trace of this.figure.data) {
        const x = this.x.get(suffixOf(trace.xaxis ?? "x")), y = this.y.get(suffixOf(trace.yaxis ?? "y"));
        if (!x || !y) continue;
        const box = { x: Math.min(x.from, x.to), y: Math.min(y.from, y.to), width: Math.abs(x.to - x.from), height: Math.abs(y.to - y.from) };
        const layer = node("g", trace.cliponaxis === false ? {} : { transform: `translate(${-box.x} ${-box.y})` }, { opacity: trace.opacity });
        this[trace.type](trace, x, y, layer);
        this.svg.append(trace.cliponaxis === false ? layer : node("svg", box, {}, layer));
      }
      for (const one of this.layout.annotations ?? []) {
        if (one.visible === false) continue;
        const anchor = { left: "start", right: "end" }[one.xanchor] ?? "middle";
        this.svg.append(write(one.text, this.reference("x", one.xref, one.x), this.reference("y", one.yref, one.y) + (one.yanchor === "bottom" ? -4 : 4),
          { size: one.font?.size ?? 12, fill: one.font?.color ?? "@ink", anchor, halo: one.bgcolor, kind: "annotation" }));
      }
    }
    up(axis) { // a y axis
      if (axis.own.visible === false) return;
      const across = this.x.get(suffixOf(axis.own.anchor ?? "x"));
      const { size = 12, color = "@muted" } = axis.own.tickfont ?? { color: "@ink", size: 13 };
      for (const [at, text] of axis.ticks(this.separators, Math.abs(axis.to - axis.from))) {
        const y = axis.at(at);
        if (axis.own.showgrid) this.svg.append(node("line", { x1: across.from, x2: across.to, y1: y, y2: y, class: "grid" }, { stroke: "@line" }));
        if (axis.own.showticklabels === false) continue;
        const lines = rich(text).length;
        this.svg.append(node("g", { class: "ytick" }, {},
          write(String(text).trimEnd(), across.from - GAP, y + 4 - ((lines - 1) * LINE) / 2, { size, fill: color, anchor: "end" })));
      }
    }
    across(axis) { // an x axis
      if (axis.own.visible === false) return;
      const up = this.y.get(suffixOf(axis.own.anchor ?? "y")), floor = Math.max(up.from, up.to), ceiling = Math.min(up.from, up.to);
      const { size = 12, color = "@muted" } = axis.own.tickfont ?? {};
      let free = -Infinity; // labels that would touch the one before them are left out
      for (const [at, text] of axis.labelled.length ? axis.labelled : axis.ticks(this.separators, axis.to - axis.from)) {
        const x = axis.at(at);
        if (axis.own.showgrid !== false && axis.own.showgrid !== undefined) {
          this.svg.append(node("line", { x1: x, x2: x, y1: ceiling, y2: floor, class: "grid" }, { stroke: "@line" }));
        }
        if (!this.shown(axis)) continue;
        const half = axis.angle ? 6 : Math.max(...bare(text).map((one) => wide(one, size))) / 2;
        if (x - half < free) continue;
        free = x + half + (axis.angle ? 0 : 4);
        this.svg.append(node("g", { class: "xtick" }, {}, write(text, x, floor + GAP + 9, { size, fill: color,
          anchor: axis.angle ? "end" : "middle", angle: axis.angle || undefined })));
      }
      if (axis.own.showline) {
        this.svg.append(node("line", { x1: axis.from, x2: axis.to, y1: floor, y2: floor }, { stroke: axis.own.linecolor ?? "@muted" }));
      }
      const title = axis.own.title?.text;
      if (title) this.svg.append(write(title, (axis.from + axis.to) / 2, floor + axis.below - 3, { size: axis.own.title.font?.size ?? 12 }));
    }

    scatter(trace, x, y, layer) {
      const points = (trace.x ?? []).map((value, place) => [x.place(value), trace.y[place] === null ? NaN : y.place(trace.y[place])]);
      const drawn = points.map((one) => one.every(Number.isFinite));
      const mode = trace.mode ?? "lines", line = trace.line ?? {};
      if (trace.fill === "toself") {
        const ring = points.filter((_, place) => drawn[place]).map((one) => one.join(" ")).join("L");
        if (ring) layer.append(node("path", { d: `M${ring}Z`, class: "band" }, { fill: trace.fillcolor }));
        return;
      }
      if (mode.includes("lines")) {
        let d = "", pen_ = false;
        points.forEach(([px, py], place) => {
          if (!drawn[place]) { pen_ = false; return; }
          d += !pen_ ? `M${px} ${py}` : line.shape === "hv" ? `H${px}V${py}` : `L${px} ${py}`;
          pen_ = true;
        });
        layer.append(node("path", { d, class: "line", "stroke-dasharray": DASHES[line.dash] },
          { fill: "none", stroke: line.color, "stroke-width": line.width ?? 2, "stroke-linejoin": "round" }));
      }
      for (const [letter, axis, across] of [["x", x, true], ["y", y, false]]) {
        this.reaches(trace[`error_${letter}`], axis, (place) => trace[letter][place], (place) => points[place][across ? 1 : 0], drawn, across, layer);
      }
      points.forEach(([px, py], place) => {
        if (!drawn[place]) return;
        if (mode.includes("markers")) layer.append(mark(trace.marker ?? {}, px, py, place));
        if (mode.includes("text")) layer.append(write(trace.text[place], px, py + 4, { size: trace.textfont?.size, fill: trace.textfont?.color }));
        const text = said(trace, place, { x: trace.x[place], y: trace.y[place], text: trace.text?.[place] }, this.separators);
        if (text) this.targets.push({ x: px, y: py, text });
      });
    }
    reaches(reach, axis, value, aside, drawn, across, layer) { // what an interval covers, from end to end
      if (!reach?.array || reach.visible === false) return;
      drawn.forEach((there, place) => {
        const up = reach.array[place], down = reach.arrayminus[place], at = axis.number(value(place));
        if (!there || !(finite(up) || finite(down)) || !(up || down)) return;
        const [from, to] = [axis.at(at - (down || 0)), axis.at(at + (up || 0))], other = aside(place);
        const ends = across ? { x1: from, x2: to, y1: other, y2: other } : { x1: other, x2: other, y1: from, y2: to };
        layer.append(node("line", { ...ends, class: across ? "xerror" : "yerror" }, { stroke: reach.color, "stroke-width": reach.thickness }));
      });
    }
    bar(trace, x, y, layer) {
      const lying = trace.orientation === "h", [length, aside] = lying ? [x, y] : [y, x], [long, short] = lying ? ["x", "y"] : ["y", "x"];
      const half = (1 - (this.layout.bargap ?? 0.2)) / 2, look = trace.marker ?? {};
      const ends = trace[long].map((value, place) => (trace.base?.[place] ?? 0) + value), drawn = ends.map(Number.isFinite);
      const middles = trace[short].map((value) => aside.place(value));
      ends.forEach((end, place) => {
        if (!drawn[place]) return;
        const at = aside.number(trace[short][place]);
        const [a, b] = [length.at(trace.base?.[place] ?? 0), length.at(end)], [c, d] = [aside.at(at - half), aside.at(at + half)];
        const [left, right, top, bottom] = lying ? [a, b, c, d] : [c, d, a, b];
        const box = { x: Math.min(left, right), y: Math.min(top, bottom), width: Math.abs(right - left), height: Math.abs(bottom - top) };
        const edge = look.line?.width ? { stroke: look.line.color, "stroke-width": look.line.width } : {};
        layer.append(node("rect", { ...box, class: "bar point" }, { fill: look.color, opacity: look.opacity, ...edge }));
        const text = said(trace, place, { x: trace.x[place], y: trace.y[place], text: trace.text?.[place] }, this.separators);
        if (text) this.targets.push({ ...box, text });
      });
      this.reaches(trace[`error_${long}`], length, (place) => ends[place], (place) => middles[place], drawn, lying, layer);
    }
    heatmap(trace, x, y, layer) {
      const scale = trace.colorscale, [low, high] = [trace.zmin, trace.zmax];
      trace.z.forEach((cells, row) => cells.forEach((value, column) => {
        if (!finite(value)) return;
        const [left, right] = [x.at(trace.x[column] - 0.5), x.at(trace.x[column] + 0.5)].sort((a, b) => a - b);
        const [top, bottom] = [y.at(trace.y[row] - 0.5), y.at(trace.y[row] + 0.5)].sort((a, b) => a - b);
        const box = { x: left, y: top, width: right - left - (trace.xgap ?? 0), height: bottom - top - (trace.ygap ?? 0) };
        const share = Math.min(1, Math.max(0, (value - low) / (high - low)));
        const next = Math.max(1, scale.findIndex(([place]) => share <= place)), [[from, one], [to, other]] = [scale[next - 1], scale[next]];
        const fill = `color-mix(in srgb, ${colour(other)} ${((100 * (share - from)) / (to - from)).toFixed(1)}%, ${colour(one)})`;
        layer.append(node("rect", { ...box, class: "cell point" }, { fill }));
        if (trace.texttemplate) {
          const strong = Math.abs(2 * share - 1) > 0.55;
          layer.append(write(trace.text[row][column], box.x + box.width / 2, box.y + box.height / 2 + 4, { fill: strong ? "@paper" : "@ink" }));
        }
        const text = said(trace, null, { customdata: trace.customdata?.[row]?.[column] }, this.separators);
        if (text) this.targets.push({ ...box, text });
      }));
    }

    // Three dimensions: a box of points, seen from a side that a pointer or arrow keys turn
    space() {
      const traces = this.figure.data, ends = ["x", "y", "z"].map((letter) => {
        const values = traces.flatMap((one) => one[letter]).filter(finite);
        return values.reduce(([a, b], one) => [Math.min(a, one), Math.max(b, one)], [Infinity, -Infinity]);
      });
      const middle = ends.map(([a, b]) => (a + b) / 2), size = Math.hypot(...ends.map(([a, b]) => b - a)) || 1;
      const scale = (Math.min(this.width, this.height) / size) * 1.15;
      const corners = [...Array(8).keys()].map((one) => ends.map((end, axis) => end[(one >> axis) & 1]));
      const edges = corners.flatMap((one, place) => [1, 2, 4].filter((bit) => !(place & bit)).map((bit) => [one, corners[place | bit],
        node("line", { class: "grid" }, { stroke: "@line" })]));
      const points = traces.flatMap((trace) => trace.x.map((_, place) => ({ at: [trace.x[place], trace.y[place], trace.z[place]],
        made: mark({ ...trace.marker, size: 2 * trace.marker.size }, 0, 0, place), target: { text: said(trace, place, { text: trace.text?.[place] }, this.separators) } })))
        .filter(({ at }) => at.every(finite));
      this.svg.append(...edges.map(([, , line]) => line), ...points.map(({ made }) => made));
      this.targets = points.map(({ target }) => target).filter(({ text }) => text);
      const turned = { yaw: -0.8, pitch: 0.38 };
      const seen = (at) => {
        const [a, b, c] = at.map((one, axis) => (one - middle[axis]) * scale), { yaw, pitch } = turned;
        const right = a * Math.cos(yaw) - b * Math.sin(yaw), back = a * Math.sin(yaw) + b * Math.cos(yaw);
        return [this.width / 2 + right, this.height / 2 - (c * Math.cos(pitch) + back * Math.sin(pitch))];
      };
      const place = () => {
        for (const [one, other, line] of edges) {
          const [[x1, y1], [x2, y2]] = [seen(one), seen(other)];
          for (const [key, value] of Object.entries({ x1, y1, x2, y2 })) line.setAttribute(key, value);
        }
        for (const { at, made, target } of points) {
          [target.x, target.y] = seen(at);
          made.setAttribute("transform", `translate(${target.x} ${target.y})`);
        }
      };
      const turn = (across, up) => {
        turned.yaw += across;
        turned.pitch = Math.max(-1.5, Math.min(1.5, turned.pitch + up));
        place();
      };
      this.svg.classList.add("rb-turned");
      this.svg.addEventListener("pointerdown", (event) => this.svg.setPointerCapture(event.pointerId));
      this.svg.addEventListener("pointermove", (event) => { if (event.buttons) turn(event.movementX / 150, event.movementY / 150); });
      this.turn = (key) => {
        const [across, up] = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] }[key] ?? [];
        if (across !== undefined) turn(across, up);
        return across !== undefined;
      };
      place();
    }

    // By keys: Enter, and where nothing is to be turned the arrows too, go from mark to mark; Escape ends it.
    press(event) {
      const { key, shiftKey, altKey, ctrlKey, metaKey } = event, count = this.targets.length;
      if (altKey || ctrlKey || metaKey) return;
      if (key === "Escape") this.tip.hidden = true;
      else if (!this.turn?.(key)) {
        const step = { Enter: shiftKey ? -1 : 1, ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[key];
        if (!step || !count) return;
        this.at = this.at === undefined ? (step > 0 ? 0 : count - 1) : (this.at + step + count) % count;
        const one = this.targets[this.at];
        this.tell(one, one.width === undefined ? one.x : one.x + one.width / 2, one.y);
      }
      event.preventDefault();
    }

    hover(event) {
      const box = this.svg.getBoundingClientRect(), x = event.clientX - box.left, y = event.clientY - box.top;
      let best = null, least = NEAR;
      for (const one of this.targets) {
        const inside = one.width !== undefined;
        if (inside && x >= one.x && x <= one.x + one.width && y >= one.y && y <= one.y + one.height) best = one;
        const far = inside ? Infinity : Math.hypot(one.x - x, one.y - y);
        if (far < least) [best, least] = [one, far];
      }
      if (best) this.tell(best, ...(best.width === undefined ? [best.x, best.y] : [x, y]));
      else this.tip.hidden = true;
    }

    tell(best, at, top) {
      this.tip.hidden = false;
      this.tip.replaceChildren(...rich(best.text).map((line) => {
        const row = document.createElement("div");
        row.dir = "auto";
        for (const [part, bold] of line) {
          const piece = document.createElement(bold ? "b" : "span");
          piece.textContent = part;
          row.append(piece);
        }
        return row;
      }));
      const { offsetWidth, offsetHeight } = this.tip;
      this.tip.style.left = `${Math.max(0, Math.min(this.width - offsetWidth, at + 12))}px`;
      this.tip.style.top = `${top - offsetHeight - 10 < 0 ? top + 14 : top - offsetHeight - 10}px`;
    }
  }

  return { draw: (plot, figure, width) => new Drawing(plot, figure, width) };
})();
