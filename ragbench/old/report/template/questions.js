// The table of questions: searched, filtered, sorted, read one by one. A page and JupyterLab show it; each is its host,
// which gives it the parts of its data (`part`), leads it to a row (`go`), and may let people choose rows (`changed`).
const ragbenchTable = (() => {
  "use strict";
  const inflate = async (bytes) =>
    new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).json();

  const { make, sections } = ragbenchQuestion;
  const FREE = ["slice", "outcome", "search", "inside", "least", "most"]; // empty until somebody narrows the table
  const JUDGED = ["apart", "unjudged"]; // outcomes that come with words of their own
  const PRINTED = 500; // rows that go to paper
  const ACROSS = 4; // systems that stand beside each other there
  const EVERY = -2; // beside the first system: all others
  const fill = (text, values) => text.replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);

  class Table {
    constructor(root, host) {
      this.root = root;
      this.host = host;
      this.name = root.dataset.parts;
      this.setting = JSON.parse(root.querySelector("script").textContent);
      this.words = this.setting.words;
      this.state = { metric: 0, system: 0, against: -1, sort: this.setting.sort || "order" };
      for (const name of FREE) this.state[name] = "";
      this.rows = [];
      this.active = 0;
      this.open = -1;
      this.kept = new Map(); // what judges say, once it was looked for
      this.chosen = new Set(); // rows, where the host lets people choose
      this.last = 0;
    }
    start() {
      if (!this.started) {
        this.root.querySelector(".rb-wait").textContent = this.words.loading;
        this.started = this.load();
      }
      return this.started;
    }
    async load() {
      if (!window.DecompressionStream) return this.fail(this.words.old);
      try {
        this.data = await this.host.part(`${this.name}/table`);
      } catch (error) {
        return this.fail(fill(this.words.missing_part, { name: error.message }));
      }
      const { data, setting, state } = this;
      state.metric = Math.max(0, data.metrics.findIndex((one) => one.name === setting.metric));
      const base = data.systems.indexOf(setting.baseline);
      state.system = base >= 0 && data.systems.length > 1 ? (base === 0 ? 1 : 0) : 0;
      state.against = base;
      this.first = { ...state };
      this.build();
      this.update();
    }
    fail(text) { this.root.querySelector(".rb-wait").textContent = text; }

    // What is shown
    number(value, signed = false) {
      return this.said(this.data.metrics[this.state.metric], value, signed);
    }
    said(measure, value, signed = false) { // a measure with words is a kind: its values are places among its words
      if (value === null || value === undefined) return "\u2014";
      if (!measure.words) return this.written(value, measure.digits, signed);
      if (!signed) return measure.words[value] ?? "\u2014";
      return value === 0 ? this.words.equal : value * this.sign() > 0 ? this.words.better : this.words.worse;
    }
    paired() { // whether a second system stands beside the first, and whether the two can be compared
      const { state, data } = this, paired = state.against >= 0 && state.against !== state.system;
      return [paired, paired && !data.metrics[state.metric].single];
    }
    beside() { // the systems that have a column
      const { state, data } = this;
      if (state.against !== EVERY) return this.paired()[0] ? [state.system, state.against] : [state.system];
      return [state.system, ...data.systems.keys()].filter((one, place, all) => all.indexOf(one) === place);
    }
    written(value, digits, signed = false) {
      const text = new Intl.NumberFormat(this.setting.language, {
        minimumFractionDigits: digits, maximumFractionDigits: digits,
      }).format(Math.abs(value));
      const sign = value < 0 ? "\u2212" : signed && value > 0 ? "+" : "";
      return sign + text;
    }
    value(row, system) { return system < 0 ? null : this.data.values[this.state.metric][system][row]; }
    difference(row) {
      const a = this.value(row, this.state.system), b = this.value(row, this.state.against);
      return a === null || b === null ? null : a - b;
    }
    sign() { return this.data.metrics[this.state.metric].lower ? -1 : 1; }
    missing(row, system) {
      const found = this.data.missing[`${this.state.metric}/${system}`] || {};
      for (const [status, rows] of Object.entries(found)) if (rows.includes(row)) return status;
      return "";
    }
    judged(what) { // by row what a panel's judges say who disagree, or why a judged metric has no value, whichever it is
      const { data, words, state } = this, key = `${what}/${state.system}`;
      if (this.kept.has(key)) return this.kept.get(key);
      const found = new Map(), tell = (row, text) => found.set(row, found.has(row) ? `${found.get(row)} \u00b7 ${text}` : text);
      data.metrics.forEach((one, metric) => {
        if (!one.judged) return;
        const told = what === "apart" ? data.apart?.[`${metric}/${state.system}`] || {} : {}, values = data.values[metric][state.system];
        for (const [row, text] of Object.entries(told)) tell(Number(row), `${one.name}: ${text}`);
        if (what !== "unjudged") return;
        const why = new Map(Object.entries(data.missing[`${metric}/${state.system}`] || {}).flatMap(([status, rows]) => rows.map((row) => [row, status])));
        values.forEach((value, row) => {
          if (value === null) tell(row, `${one.name}: ${words.statuses[why.get(row)] || why.get(row) || words.unmeasured}`);
        });
      });
      this.kept.set(key, found);
      return found;
    }
    fits() {
      const { data, state } = this;
      const tests = [];
      const wanted = state.search.trim().toLocaleLowerCase().split(/\s+/).filter(Boolean);
      if (wanted.length && !this.folded) {
        this.folded = data.texts.map((text, place) => `${text}\n${data.ids[place]}`.toLocaleLowerCase());
      }
      if (wanted.length) {
        const read = state.inside && this.read_all, held = wanted.map((word) => new Set(
          (read?.texts || []).flatMap((text, place) => (text.includes(word) ? [place] : []))));
        tests.push((row) => wanted.every((word, place) => this.folded[row].includes(word)
          || (read && (read.own[row].includes(word) || read.shared[row].some((one) => held[place].has(one))))));
      }
      for (const [name, way] of [["least", 1], ["most", -1]]) {
        const end = state[name] === "" ? NaN : Number(state[name]), value = (row) => this.value(row, state.system);
        if (!Number.isNaN(end)) tests.push((row) => value(row) !== null && way * (value(row) - end) >= 0);
      }
      if (state.slice) {
        const at = state.slice.indexOf(":"), slice = data.slices.find((one) => one.key === state.slice.slice(0, at));
        const code = slice ? slice.keys.indexOf(state.slice.slice(at + 1)) : -1;
        if (slice) tests.push((row) => slice.codes[row] === code);
      }
      const sign = this.sign(), outcome = state.outcome;
      if (outcome === "better") tests.push((row) => sign * this.difference(row) > 0);
      if (outcome === "worse") tests.push((row) => sign * this.difference(row) < 0);
      if (outcome === "equal") tests.push((row) => this.difference(row) === 0);
      if (outcome.startsWith("=")) tests.push((row) => this.value(row, state.system) === Number(outcome.slice(1)));
      if (outcome === "measured") tests.push((row) => this.value(row, state.system) !== null);
      if (JUDGED.includes(outcome)) tests.push((row) => this.judged(outcome).has(row));
      if (outcome.startsWith("!")) {
        const lists = data.missing[`${state.metric}/${state.system}`] || {};
        const status = outcome.slice(1), rows = new Set(status ? lists[status] || [] : Object.values(lists).flat());
        tests.push((row) => rows.has(row));
      }
      return (row) => tests.every((test) => test(row));
    }
    update() {
      const { data, state } = this, sign = this.sign(), fits = this.fits();
      this.rows = data.ids.map((_, row) => row).filter(fits);
      const keys = {
        worst: (row) => this.value(row, state.system), best: (row) => this.value(row, state.system),
        lost: (row) => this.difference(row), won: (row) => this.difference(row),
      };
      if (keys[state.sort]) {
        const way = (state.sort === "worst" || state.sort === "lost" ? 1 : -1) * sign;
        const value = new Map(this.rows.map((row) => [row, keys[state.sort](row)]));
        this.rows.sort((a, b) => {
          const x = value.get(a), y = value.get(b);
          if (x === y) return a - b;
          if (x === null) return 1;
          if (y === null) return -1;
          return way * (x - y);
        });
      }
      this.active = Math.min(this.active, Math.max(0, this.rows.length - 1));
      this.say();
      this.head();
      this.grid.setAttribute("aria-rowcount", this.rows.length + 1);
      this.space.style.height = `${this.rows.length * this.height()}px`;
      this.paint();
      this.host.changed?.(this);
      this.host.keep?.(this);
    }
    async search() { // also in answers, passages and reasons, which are loaded when somebody looks for something
      if (this.read_all !== undefined || !this.state.inside || !this.state.search.trim()) return;
      this.read_all = null;
      const fold = (text) => text.toLocaleLowerCase();
      const { own, shared } = await this.host.part(`${this.name}/search`);
      const blocks = Math.ceil((Math.max(-1, ...shared.map((one) => Math.max(-1, ...one))) + 1) / this.data.block);
      const texts = await Promise.all([...Array(blocks).keys()].map((one) => this.host.part(`${this.name}/texts-${one}`)));
      this.read_all = { own: own.map(fold), shared, texts: texts.flat().map(fold) };
      this.update();
    }
    say() {
      const count = (n) => this.written(n, 0);
      const shown = this.rows.length
        ? fill(this.words.count, { shown: count(this.rows.length), all: count(this.data.ids.length) })
        : this.words.nothing;
      const chosen = this.chosen.size ? " \u00b7 " + fill(this.words.chosen, { n: count(this.chosen.size) }) : "";
      const reading = this.read_all === null ? " \u00b7 " + this.words.loading : "";
      this.status.textContent = shown + chosen + reading;
    }
    room() { return this.view.clientHeight - this.top.offsetHeight; }
    height() { return parseFloat(getComputedStyle(this.root).getPropertyValue("--rb-row")) || 52; }

    // How it is built
    build() {
      const { words, data } = this;
      const choices = (pairs) => pairs.map(([value, text]) => make("option", { value }, text));
      const field = (name, label, control) => {
        control.name = name;
        control.addEventListener(control.tagName === "INPUT" ? "input" : "change", () => this.change(name, control.value));
        this.controls[name] = control;
        return make("label", {}, make("span", {}, label), control);
      };
      this.controls = {};
      const systems = data.systems.map((name, place) => [place, name]);
      const slices = [make("option", { value: "" }, words.all)];
      for (const one of data.slices) {
        const inside = one.values.map((name, place) => [`${one.key}:${one.keys[place]}`, name]);
        if (one.codes.includes(-1)) inside.push([`${one.key}:`, words.not_given]);
        slices.push(make("optgroup", { label: one.name }, ...choices(inside)));
      }
      const form = make("div", { class: "rb-controls", role: "search" },
        field("search", words.search, make("input", { type: "search", autocomplete: "off" })),
        field("inside", words.inside, make("select", {}, ...choices([["", words.question], ["all", words.all_texts]]))),
        field("metric", words.metric, make("select", {}, ...choices(data.metrics.map((one, place) => [place, one.name])))),
        field("system", words.system, make("select", {}, ...choices(systems))),
        data.systems.length > 1
          ? field("against", words.against, make("select", {}, ...choices([[-1, words.none],
            ...(data.systems.length > 2 ? [[EVERY, words.every]] : []), ...systems]))) : null,
        data.slices.length ? field("slice", words.slice, make("select", {}, ...slices)) : null,
        field("outcome", words.outcome, make("select", {})),
        field("least", words.least, make("input", { type: "number", step: "any" })),
        field("most", words.most, make("input", { type: "number", step: "any" })),
        field("sort", words.sort, make("select", {})));
      this.presets = make("p", { class: "rb-presets" });
      this.status = make("p", { class: "rb-meta", role: "status" });
      this.top = make("div", { class: "rb-row-head", role: "row", "aria-rowindex": 1 });
      this.space = make("div", { class: "rb-space", role: "presentation" });
      this.window = make("div", { class: "rb-window", role: "rowgroup" });
      this.space.append(this.window);
      this.grid = make("div", { class: "rb-grid-of-questions", role: "grid", tabindex: 0, "aria-label": words.grid },
        make("div", { role: "rowgroup", class: "rb-sticky" }, this.top), this.space);
      this.view = this.grid; // what scrolls is what has the focus
      this.view.addEventListener("scroll", () => this.paint(), { passive: true });
      this.grid.addEventListener("keydown", (event) => this.key(event));
      this.window.addEventListener("click", (event) => {
        const line = event.target.closest(".rb-line");
        if (!line) return;
        this.active = Number(line.dataset.place);
        if (event.target.closest(".rb-choose")) this.choose(this.active, event.shiftKey);
        else this.go(this.rows[this.active]);
      });
      this.detail = make("section", { class: "rb-detail", tabindex: -1, hidden: true });
      this.detail.addEventListener("keydown", (event) => { if (event.key === "Escape") this.close(); });
      this.printed = make("div", { class: "rb-printed" });
      addEventListener("beforeprint", () => this.print());
      this.root.replaceChildren(this.presets, form, this.status, this.grid, this.printed, this.detail);
      this.root.classList.add("rb-ready");
      addEventListener("resize", () => { this.space.style.height = `${this.rows.length * this.height()}px`; this.paint(); });
    }
    change(name, value) {
      this.state[name] = ["metric", "system", "against"].includes(name) ? Number(value) : value;
      this.view.scrollTop = 0;
      this.active = 0;
      this.update();
      if (name === "search" || name === "inside") this.search();
      if (this.open >= 0) this.read(this.open, false);
    }
    narrow(wish = {}) { // nothing but what is wished for
      for (const name of FREE) this.state[name] = "";
      Object.assign(this.state, { sort: this.setting.sort || "order" }, wish);
      this.view.scrollTop = 0;
      this.active = 0;
      this.update();
    }
    reset() { this.narrow(); }
    offer() { // what people look for first, each a press away
      const { words, data, state } = this, [, compared] = this.paired();
      const lists = data.missing[`${state.metric}/${state.system}`] || {};
      const offered = [[words.reset, {}]];
      if (this.setting.sort !== "worst") offered.push([words.worst, { sort: "worst" }]); // else that is how all are shown
      if (compared) offered.push([words.lost, { sort: "lost" }], [words.won, { sort: "won" }]);
      if (Object.keys(lists).length) offered.push([words.unmeasured, { outcome: "!" }]);
      for (const name of JUDGED) if (this.judged(name).size) offered.push([words[name], { outcome: name }]);
      const buttons = offered.map(([text, wish]) => {
        const full = { sort: this.setting.sort || "order", ...Object.fromEntries(FREE.map((name) => [name, ""])), ...wish };
        const on = Object.entries(full).every(([name, value]) => state[name] === value);
        const title = wish.outcome && words[`${wish.outcome}_means`];
        return make("button", { type: "button", title, "aria-pressed": String(on), onclick: () => this.narrow(wish) }, text);
      });
      this.presets.replaceChildren(...buttons, make("button", { type: "button", class: "rb-export", onclick: () => this.export() }, "CSV"));
    }

    // What leaves the page
    listed_rows() {
      const { data } = this;
      const columns = data.metrics.flatMap((one, metric) => data.systems.map((name, system) => [metric, system, `${name} ${one.name}`]));
      const value = (row, metric, system) => {
        const number = data.values[metric][system][row], words = data.metrics[metric].words;
        return number === null ? "" : words ? words[number] : String(number);
      };
      const slice = (one, row) => (one.codes[row] >= 0 ? one.values[one.codes[row]] : "");
      const head = ["id", this.words.question, ...data.slices.map((one) => one.name), ...columns.map(([, , name]) => name)];
      return [head, ...this.rows.map((row) => [data.ids[row], data.texts[row], ...data.slices.map((one) => slice(one, row)),
        ...columns.map(([metric, system]) => value(row, metric, system))])];
    }
    csv() { // what is filtered, in its order; a text that a spreadsheet would take for a formula begins with an apostrophe
      const safe = (text) => (/^[=+\-@\t\r]/.test(text) && Number.isNaN(Number(text)) ? `'${text}` : text);
      const cell = (text) => (/[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
      return this.listed_rows().map((row) => row.map((text) => cell(safe(text))).join(",")).join("\r\n") + "\r\n";
    }
    export() {
      const address = URL.createObjectURL(new Blob(["\ufeff", this.csv()], { type: "text/csv" }));
      const link = make("a", { href: address, download: `${this.name}.csv` });
      link.click();
      URL.revokeObjectURL(address);
    }
    print() { // the rows that are shown, whole, for paper
      const { data } = this, systems = this.beside(), [, compared] = this.paired(), measure = data.metrics[this.state.metric].name;
      const numbers = (row) => systems.map((one) => this.number(this.value(row, one)));
      const wide = systems.length > ACROSS; // a sheet has no room for so many columns: each number is named
      const named = (row) => numbers(row).map((number, place) => `${data.systems[systems[place]]} ${number}`).join(" \u00b7 ");
      const head = make("tr", {}, ...[this.words.question, ...(wide ? [measure] : systems.map((one) => data.systems[one])),
        ...(compared ? [this.words.difference] : [])].map((text) => make("th", { scope: "col" }, text)));
      const lines = this.rows.slice(0, PRINTED).map((row) => make("tr", {}, make("th", { scope: "row", dir: "auto" }, data.texts[row] || data.ids[row]),
        ...(wide ? [make("td", { class: "rb-word" }, named(row))] : numbers(row).map((number) => make("td", {}, number))),
        ...(compared ? [make("td", {}, this.number(this.difference(row), true))] : [])));
      const all = this.status.textContent + (this.rows.length > PRINTED ? ` (${this.written(PRINTED, 0)})` : "");
      this.printed.replaceChildren(make("p", {}, `${measure} \u00b7 ${all}`),
        make("table", {}, make("thead", {}, head), make("tbody", {}, ...lines)));
    }
    head() {
      const { words, data, state, controls } = this, [, compared] = this.paired(), measure = data.metrics[state.metric];
      const choose = (control, pairs, value) => {
        control.replaceChildren(...pairs.map(([key, text]) => make("option", { value: key }, text)));
        control.value = value;
        if (control.value !== value) { control.value = pairs[0][0]; state[control.name] = pairs[0][0]; }
      };
      const lists = data.missing[`${state.metric}/${state.system}`] || {};
      const statuses = Object.keys(lists).map((status) => ["!" + status, words.statuses[status] || status]);
      choose(controls.outcome, [["", words.all],
        ...(measure.words || []).map((word, place) => ["=" + place, word]),
        ...(compared ? [["better", words.better], ["worse", words.worse], ["equal", words.equal]] : []),
        ["measured", words.measured], ...(statuses.length ? [["!", words.unmeasured], ...statuses] : []),
        ...JUDGED.filter((name) => this.judged(name).size).map((name) => [name, words[name]])], state.outcome);
      choose(controls.sort, [["order", words.order], ["worst", words.worst], ["best", words.best],
        ...(compared ? [["lost", words.lost], ["won", words.won]] : [])], state.sort);
      for (const name of ["metric", "system", "against", "slice", "search", "inside", "least", "most"]) {
        if (controls[name] && controls[name].value !== String(state[name])) controls[name].value = String(state[name]);
      }
      const sorts = { worst: ["best", "worst"], lost: ["won", "lost"] };
      const column = (label, key) => {
        const [down, up] = sorts[key] || [];
        const way = state.sort === up ? "ascending" : state.sort === down ? "descending" : undefined;
        const content = key ? make("button", {
          type: "button", tabindex: -1, onclick: () => this.change("sort", state.sort === up ? down : up),
        }, label) : label;
        return make("span", { role: "columnheader", "aria-sort": way }, content);
      };
      const systems = this.beside();
      this.offer();
      this.top.replaceChildren(column(this.host.changed ? this.choice(words.question) : words.question),
        ...systems.map((place, number) => column(this.signed(place), number === 0 ? "worst" : "")),
        ...(compared ? [column(words.difference, "lost")] : []));
      this.root.dataset.columns = String(systems.length + (compared ? 1 : 0));
      this.root.style.setProperty("--rb-columns", systems.length + (compared ? 1 : 0));
    }
    choice(label) { // in the head: all rows that are shown, or none of them
      const shown = this.rows.filter((row) => this.chosen.has(row)).length, all = shown === this.rows.length && shown > 0;
      const box = make("input", { type: "checkbox", class: "rb-choose", checked: all, indeterminate: shown > 0 && !all,
        "aria-label": this.words.choose_all, onchange: () => {
          for (const row of this.rows) this.chosen[all ? "delete" : "add"](row);
          this.chose();
        } });
      return make("span", {}, box, label);
    }
    choose(place, range = false) { // the row at a place, or all from the one that was last chosen; as it becomes, so do they
      const [from, to] = range ? [Math.min(place, this.last), Math.max(place, this.last)] : [place, place];
      const way = this.chosen.has(this.rows[place]) ? "delete" : "add";
      for (const row of this.rows.slice(from, to + 1)) this.chosen[way](row);
      this.last = place;
      this.chose();
      this.grid.focus({ preventScroll: true });
    }
    chose() {
      this.say();
      this.head();
      this.paint();
      this.host.changed?.(this);
    }
    signed(place) {
      const [series, glyph] = this.setting.signs[place];
      return make("span", {}, make("span", { class: `rb-s${series}`, "aria-hidden": "true" }, glyph), this.data.systems[place]);
    }
    paint() {
      const height = this.height(), { state, data } = this, shown = Math.ceil(this.room() / height) + 2;
      const first = Math.max(0, Math.floor(this.view.scrollTop / height) - 1);
      const last = Math.min(this.rows.length, first + shown + 1);
      const [, compared] = this.paired(), worded = data.metrics[state.metric].words ? "rb-worded" : "";
      this.window.style.transform = `translateY(${first * height}px)`;
      const made = [];
      for (let place = first; place < last; place += 1) {
        const row = this.rows[place], difference = compared ? this.difference(row) : null;
        const cell = (text, kind = "", label = "") => make("span", { role: "gridcell", class: kind, "data-label": label }, text);
        const value = (system) => {
          const number = this.value(row, system), status = number === null ? this.missing(row, system) : "";
          return cell(number === null && status ? (this.words.statuses[status] || status) : this.number(number),
            number === null ? "rb-quiet" : worded, data.systems[system]);
        };
        const told = JUDGED.includes(state.outcome) ? this.judged(state.outcome).get(row) : "";
        const good = difference === null ? 0 : Math.sign(difference) * this.sign();
        const line = make("div", {
          role: "row", id: `${this.name}-row-${row}`, "aria-rowindex": place + 2,
          class: "rb-line" + (row === this.open ? " rb-open" : ""), "aria-selected": String(row === this.open),
        }, make("span", { role: "rowheader" }, this.host.changed ? make("input", { type: "checkbox", class: "rb-choose",
          tabIndex: -1, checked: this.chosen.has(row), "aria-label": this.words.choose }) : null,
        make("span", { class: told ? "rb-clamp rb-one" : "rb-clamp", dir: "auto" }, data.texts[row] || data.ids[row]),
        told ? make("span", { class: "rb-clamp rb-one rb-quiet", title: told }, told) : null),
        ...this.beside().map(value), ...(compared ? [
          cell(difference === null ? "\u2014" : this.number(difference, true),
            good > 0 ? "rb-better" : good < 0 ? "rb-worse" : "rb-quiet", this.words.difference)] : []));
        line.dataset.place = String(place);
        if (place === this.active) line.dataset.active = "";
        made.push(line);
      }
      this.window.replaceChildren(...made);
      const active = this.rows[this.active];
      const there = this.active >= first && this.active < last && active !== undefined;
      if (there) this.grid.setAttribute("aria-activedescendant", `${this.name}-row-${active}`);
      else this.grid.removeAttribute("aria-activedescendant");
    }
    key(event) {
      if (event.target !== this.grid || event.ctrlKey || event.metaKey || event.altKey) return;
      const page = Math.max(1, Math.floor(this.room() / this.height()) - 1);
      const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
      if (event.key === "Enter" && this.rows.length) {
        event.preventDefault();
        this.go(this.rows[this.active]);
      } else if (event.key === " " && this.host.changed && this.rows.length) {
        event.preventDefault();
        this.choose(this.active, event.shiftKey);
      } else if (event.key in steps) {
        event.preventDefault();
        this.move(Math.max(0, Math.min(this.rows.length - 1, this.active + steps[event.key])));
      }
    }
    move(place) {
      this.active = place;
      const height = this.height(), top = place * height, view = this.view;
      if (top < view.scrollTop) view.scrollTop = top;
      else if (top + height > view.scrollTop + this.room()) view.scrollTop = top + height - this.room();
      this.paint();
    }

    // One question
    anchorOf(row) {
      for (const [anchor, place] of Object.entries(this.data.anchors)) if (place === row) return anchor;
      return "q-" + this.data.ids[row];
    }
    rowOf(anchor) { return this.data.anchors[anchor] ?? this.data.ids.indexOf(anchor.slice("q-".length)); }
    go(row) { this.host.go(this, row); }
    close() {
      this.open = -1;
      this.host.keep?.(this);
      this.detail.hidden = true;
      this.paint();
      this.grid.focus({ preventScroll: true });
      this.grid.scrollIntoView({ block: "nearest" });
    }
    async read(row, focus = true) {
      const { data, words } = this, block = Math.floor(row / data.block);
      this.open = row;
      const place = this.rows.indexOf(row);
      if (place >= 0) this.move(place);
      const known = (await this.host.part(`${this.name}/details-${block}`))[row - block * data.block];
      const bodies = [known.sections || [], ...(known.sides || [])].flat().map(([, body]) => body).filter(Array.isArray);
      const wanted = new Set(bodies.flat().map(([text]) => text).filter(Number.isInteger));
      const blocks = [...new Set([...wanted].map((text) => Math.floor(text / data.block)))];
      const texts = new Map(await Promise.all(blocks.map(async (one) => [one, await this.host.part(`${this.name}/texts-${one}`)])));
      if (this.open !== row) return;
      const passage = (number) => texts.get(Math.floor(number / data.block))[number % data.block];
      this.detail.replaceChildren(...this.details(row, known, passage, this.rows.indexOf(row)));
      this.detail.hidden = false;
      this.paint();
      if (focus) {
        this.detail.focus({ preventScroll: true });
        this.detail.scrollIntoView({ block: "start" });
      }
    }
    details(row, known, passage, place) {
      const { data, words } = this;
      const button = (text, target) => make("button", {
        type: "button", disabled: target === undefined, onclick: () => this.go(target),
      }, text);
      const title = make("h3", { id: `${this.name}-title`, dir: "auto" }, known.text || data.texts[row] || data.ids[row]);
      this.detail.setAttribute("aria-labelledby", title.id);
      const slices = data.slices.filter((one) => one.codes[row] >= 0).map((one) => `${one.name}: ${one.values[one.codes[row]]}`);
      const made = [
        make("p", { class: "rb-moves" },
          make("button", { type: "button", onclick: () => this.close() }, words.back),
          button(words.previous, place > 0 ? this.rows[place - 1] : undefined),
          button(words.next, place >= 0 ? this.rows[place + 1] : undefined)),
        title,
        make("p", { class: "rb-meta" }, [data.ids[row], ...slices].join(" \u00b7 ")),
      ];
      made.push(...sections(known.sections || [], passage, words, this.looked()));
      const systems = this.beside();
      made.push(make("div", { class: "rb-sides" }, ...systems.map((one) => this.side(one, known, passage))));
      made.push(make("details", { class: "rb-fold" }, make("summary", {}, words.values), this.values(row)));
      return made;
    }
    looked() { // the names of the metric that the table shows
      const { name, of = [] } = this.data.metrics[this.state.metric];
      return [name, ...of];
    }
    side(system, known, passage) {
      const found = sections(known.sides?.[system] || [], passage, this.words, this.looked());
      return make("div", { class: "rb-side" }, make("h4", {}, this.signed(system)), ...found);
    }
    values(row) {
      const { data } = this;
      const head = make("tr", {}, make("td"), ...data.systems.map((_, place) => make("th", { scope: "col" }, this.signed(place))));
      const lines = data.metrics.map((one, metric) => make("tr", {}, make("th", { scope: "row" }, one.name),
        ...data.systems.map((_, system) => {
          const value = data.values[metric][system][row];
          return make("td", { "data-system": data.systems[system] }, this.said(one, value));
        })));
      return make("div", { class: "rb-scroll", tabindex: 0, role: "region", "aria-label": this.words.values },
        make("table", { class: data.systems.length > ACROSS ? "rb-values rb-of-many" : "rb-values" }, make("thead", {}, head), make("tbody", {}, ...lines)));
    }

    // Where an address leads
    async follow(hash) {
      if (hash.startsWith("#questions?")) {
        await this.start();
        if (this.data) await this.wish(new URLSearchParams(hash.slice("#questions?".length)));
        return;
      }
      if (hash === "#questions") {
        await this.start();
        if (this.data && this.address()) await this.wish(new URLSearchParams());
        return;
      }
      if (!/^#q-/.test(hash)) {
        if (this.open >= 0) this.close();
        return;
      }
      await this.start();
      if (!this.data) return;
      const row = this.rowOf(decodeURIComponent(hash.slice(1)));
      if (row >= 0) await this.read(row);
    }
    address() { // the state as a wish that leads to it; empty as the table first stands
      const { data, state, first } = this, told = new URLSearchParams();
      if (state.metric !== first.metric) told.set("metric", data.metrics[state.metric].name);
      if (state.system !== first.system) told.set("system", data.systems[state.system]);
      if (state.against !== first.against) {
        told.set("against", state.against === EVERY ? "*" : state.against < 0 ? "" : data.systems[state.against]);
      }
      if (state.sort !== first.sort) told.set("sort", state.sort);
      for (const name of FREE) if (state[name] !== "") told.set(name, state[name]);
      if (this.open >= 0) told.set("open", data.ids[this.open]);
      return String(told);
    }
    async wish(asked) {
      const { data, first } = this, system = data.systems.indexOf(asked.get("system"));
      const metric = data.metrics.findIndex((one) => [one.name, ...(one.of || [])].includes(asked.get("metric")));
      const state = this.state = { ...first };
      if (metric >= 0) state.metric = metric;
      if (system >= 0) state.system = system;
      if (asked.has("against")) state.against = asked.get("against") === "*" ? EVERY : data.systems.indexOf(asked.get("against"));
      state.sort = asked.get("sort") || (asked.size ? "order" : first.sort);
      for (const name of FREE) state[name] = asked.get(name) || "";
      this.open = -1;
      this.detail.hidden = true;
      this.active = 0;
      this.view.scrollTop = 0;
      const open = asked.has("open") ? data.ids.indexOf(asked.get("open")) : -1;
      this.open = open;
      this.update();
      this.search();
      if (open >= 0) return this.read(open);
      if (!this.host.keep) return; // in a notebook nothing is scrolled or focused
      this.root.closest("section, details")?.scrollIntoView();
      this.grid.focus({ preventScroll: true });
    }
  }

  return { Table, inflate };
})();
