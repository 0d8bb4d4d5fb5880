// The panel in a page of its own: acts change what the page itself holds, and a file takes it home.
const given = document.getElementById("rb-review");
const { key, file, fixed, items, words } = JSON.parse(given.textContent);
const EMPTY = { choice: null, note: "" };
const listeners = [];
const acts = [];
let said = Object.fromEntries(items.map((item) => [item.code, item.given ?? EMPTY]));
let place = 0;
let told = "";

try {
  // marks of another file under the same address are of no draft here
  const kept = JSON.parse(localStorage.getItem(key) ?? "{}");
  for (const item of items) {
    const own = kept[item.code];
    const legal = own && (own.choice === null || own.choice in fixed.choices) && typeof own.note === "string";
    if (legal) said[item.code] = { choice: own.choice, note: own.note };
  }
} catch {
  told = words.unkept;
}
place = after(-1);

function after(start) {
  const next = items.findIndex((item, number) => number > start && said[item.code].choice === null);
  return next < 0 ? items.length : next;
}

function keep(code, changed) {
  const before = said[code];
  if (before.choice === changed.choice && before.note === changed.note) return;
  acts.push({ place, code, before });
  said = { ...said, [code]: changed };
  store();
}

function store() {
  try {
    localStorage.setItem(key, JSON.stringify(said));
  } catch {
    told = words.unkept;
  }
}

function cell(text) {
  // what a spreadsheet would take for a formula gets an apostrophe, which ragbench takes off again
  const safe = /^'*[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}

function write() {
  const rows = items.map(({ code }) => {
    const { choice, note } = said[code];
    return [code, choice === null ? "" : fixed.choices[choice].value, note].map((text) => cell(String(text))).join(",");
  });
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([`\uFEFF${["item,value,note", ...rows].join("\n")}\n`], { type: "text/csv" }));
  link.download = file;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
  told = words.written;
}

function receive({ act, code, choice, note }) {
  told = "";
  const from = place;
  const seen = items.findIndex((item) => item.code === code);
  if (act === "write") write();
  else if (act === "back") place = Math.max(place - 1, 0);
  else if (act === "first") place = after(-1);
  else if (act === "undo" && acts.length) {
    const last = acts.pop();
    said = { ...said, [last.code]: last.before };
    place = last.place;
    store();
  } else if (seen >= 0) {
    if (act === "give" && choice in fixed.choices) {
      if (fixed.choices[choice].needs_note && !note.trim()) told = words.needs_note;
      else {
        keep(code, { choice, note: note.trim() });
        place = after(seen);
      }
    } else if (act === "note") keep(code, { ...said[code], note: note.trim() });
    else if (act === "clear") keep(code, { ...said[code], choice: null });
    else if (act === "skip") place = Math.min(seen + 1, items.length);
  }
  for (const heard of [...listeners]) heard();
  if (place !== from) scrollTo(0, 0);
}

function state() {
  const done = items.filter((item) => said[item.code].choice !== null).length;
  const item = items[place];
  return {
    done, all: items.length, progress: `${done} / ${items.length}`, left: items.length - done, said: told,
    end: done < items.length ? words.left : words.end, can_undo: acts.length > 0, can_back: place > 0,
    item: item ? { ...item, chosen: said[item.code].choice, note: said[item.code].note, others: [] } : null,
  };
}

panel.render({
  model: {
    get: (name) => (name === "fixed" ? fixed : state()),
    send: receive,
    on: (_, heard) => listeners.push(heard),
    off: () => {},
  },
  el: document.querySelector("main"),
});
document.querySelector(".rb-label").focus();
