// Searches, filters and sorts the list of questions, and unpacks what unfolds where it is packed.
//
// Without this script the list is whole and in the data set's order; the controls stay hidden.
document.querySelectorAll(".questions").forEach((list) => {
  const form = list.querySelector("form");
  if (form) serve(list, form);
});

function serve(list, form) {
  const elements = [...list.querySelectorAll(":scope > [id]")];
  const places = new Map(elements.map((element, place) => [element, place]));
  let entries;
  const packed = list.querySelector(".packed");
  let content; // of what is packed, once it is needed
  const unpackOnce = () => (content ??= unpack(packed.textContent));
  let order = "";

  const update = async () => {
    entries ??= elements.map(readEntry); // when they are first needed: thousands take their time
    const details = packed && form.words.value ? (await unpackOnce()).entries : null;
    const isShown = chooseTest(form, details);
    let count = 0;
    entries.forEach((entry, place) => {
      const hidden = !isShown(entry, place);
      if (entry.element.hidden !== hidden) entry.element.hidden = hidden;
      if (!hidden) count += 1;
    });
    form.querySelector("output").value = `${count} / ${entries.length}`;
    // Moving thousands of elements costs more than hiding them.
    if (form.order.value !== order) {
      order = form.order.value;
      list.append(...sorted(entries, order, "lower" in list.dataset));
    }
  };

  // What is packed does not fold by itself.
  if (packed) {
    const toggle = async ({ target }) => {
      const element = target.closest(".questions > [id] > :first-child")?.parentElement;
      element?.toggleAttribute("open");
      if (element?.children.length !== 1) return;
      const unpacked = await unpackOnce();
      // Whoever clicked twice meanwhile has it already.
      if (element.children.length === 1) element.append(...draw(unpacked, places.get(element)));
    };
    elements.forEach(({ firstElementChild: head }) => Object.assign(head, { tabIndex: 0, role: "button" }));
    list.addEventListener("click", toggle);
    list.addEventListener("keydown", (event) => { if (event.key === "Enter") toggle(event); });
  }
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", update);
  form.hidden = false;
  // A browser may keep what was chosen before the page was loaded again.
  if (form.words.value || form.filter.value || form.order.value) update();
  // A link to a question, such as tier1_retrieval.html#question-q012, unfolds it.
  const linked = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (linked && !linked.hasAttribute("open")) linked.firstElementChild.click();
}

function readEntry(element) {
  const head = element.firstElementChild;
  const cells = [...head.querySelectorAll(":scope > b")];
  return {
    element,
    head,
    // In Russian 0,5 is a half; a dash, where nothing was measured, is no number.
    values: cells.map((cell) => parseFloat(cell.textContent.replace(",", ".").replace("−", "-"))),
    outcomes: cells.map((cell) => cell.className.slice(1)),
    // Read when first searched: most readers never search.
    get words() {
      const text = element.textContent.toLowerCase();
      Object.defineProperty(this, "words", { value: text });
      return text;
    },
  };
}

// Whether an entry has all words that are searched and what is filtered by.
function chooseTest(form, details) {
  const words = form.words.value.toLowerCase().split(/\s+/).filter(Boolean);
  const filter = form.filter.value;
  const [system, outcome] = filter.split(" ");
  const passes = ({ values, outcomes }) => {
    if (filter === "") return true;
    if (filter === "differ") return values.some((value) => value !== values[0]);
    if (filter === "missing") return values.some(Number.isNaN);
    return outcomes[system] === outcome;
  };
  const has = (entry, place, word) =>
    entry.words.includes(word) || (details && JSON.stringify(details[place]).toLowerCase().includes(word));
  return (entry, place) => passes(entry) && words.every((word) => has(entry, place, word));
}

// The elements in an order: "0 1" by the second system's gain over the first, greatest first; "2"
// by the third system's value, worst first; "" as they came. What is not known goes last.
function sorted(entries, order, isLowerBetter) {
  if (order === "") return entries.map((entry) => entry.element);
  const [from, to] = order.split(" ");
  const sign = isLowerBetter ? -1 : 1;
  const gain = ({ values }) => sign * (to === undefined ? -values[from] : values[to] - values[from]);
  const key = (entry) => (Number.isNaN(gain(entry)) ? -Infinity : gain(entry));
  return [...entries].sort((a, b) => (key(a) === key(b) ? 0 : key(b) - key(a))).map((entry) => entry.element);
}

async function unpack(text) {
  // Browsers before the autumn of 2025 have no fromBase64, which is seventy times as fast.
  const bytes =
    Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).json();
}

// What unfolds, as questions.html.j2 writes it. Texts are set as texts: none of them can be a mark.
function draw({ systems, outcomes, passages, entries, words }, place) {
  const { reference, cards, table, passages: rows } = entries[place];
  const parts = [];
  if (reference) parts.push(make("p", "reference", make("b", "", words.reference), " ", reference));
  if (cards.length) parts.push(make("div", "cards-of-systems", ...cards.map(drawCard)));
  const passageRows = rows.map(([number, ranks, isLabelled]) => {
    const [id, text] = passages[number];
    const source = make("span", "verdict", ` ${id}`, isLabelled ? ` · ${words.labelled}` : "");
    return [[...ranks.map((rank) => rank || "–"), make("span", "", text, source)], isLabelled ? "labelled" : ""];
  });
  if (rows.length) parts.push(drawTable("passages", [...systems, words.passage], passageRows));
  if (table.length) parts.push(drawTable("values", ["", ...systems], table.map((cells) => [cells, ""])));
  return parts;

  function drawCard({ name, outcome, answer, metrics, verdicts }) {
    const head = make("p", outcome < 0 ? "" : `o${outcome}`, make("b", "", name), " ", outcomes[outcome] ?? "");
    const said = answer === null ? [] : [make("blockquote", "", answer || words.answer)];
    const values = metrics.map(([metric, value, explanation]) =>
      make("div", "metric", make("b", "", value), metric, make("br"), make("span", "", explanation)));
    const items = verdicts.map(([item, verdict, reason]) =>
      make("li", "", item, " ", make("span", "verdict", make("b", "", verdict), reason ? `: ${reason}` : "")));
    return make("div", "", head, ...said, ...values, ...(items.length ? [make("ol", "", ...items)] : []));
  }
}

function drawTable(name, head, rows) {
  const headings = make("tr", "", ...head.map((text) => make("th", "", text)));
  const body = rows.map(([cells, style]) => make("tr", style, ...cells.map((cell) => make("td", "", cell))));
  return make("table", name, make("thead", "", headings), make("tbody", "", ...body));
}

function make(tag, name = "", ...children) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (tag === "td" || tag === "span" || tag === "blockquote") element.dir = "auto";
  element.append(...children);
  return element;
}
