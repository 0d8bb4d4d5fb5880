// Draws a panel of labels. All that comes from data is set as text, never as markup.
// Keys work while the panel has the focus, by their place on the keyboard, whatever its layout.
const ACTS = { KeyS: "skip", KeyU: "undo", Backspace: "undo", ArrowLeft: "back", ArrowRight: "skip" };

function made(tag, kind, text) {
  const one = document.createElement(tag);
  if (kind) one.className = kind;
  if (text) Object.assign(one, { textContent: text, dir: "auto" });
  return one;
}

function digit(code) {
  const found = /^(?:Digit|Numpad)([0-9])$/.exec(code);
  return found ? found[1] : null;
}

function render({ model, el }) {
  const { title, meaning, about, choices, skip_key, words } = model.get("fixed");
  const root = made("div", "rb-label");
  root.tabIndex = 0;
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", `${title}: ${words.labelling}`);
  root.setAttribute("data-lm-suppress-shortcuts", "true"); // JupyterLab's own keys rest while the focus is in here

  const head = made("div", "rb-label-head");
  head.append(made("strong", "", title), made("span", "rb-label-quiet", meaning));
  const progress = made("div", "rb-label-progress");
  const bar = made("progress");
  const count = made("span", "rb-label-count");
  count.setAttribute("aria-live", "polite");
  progress.append(bar, count);
  const said = made("p", "rb-label-said");
  said.setAttribute("role", "status");

  const body = made("div", "rb-label-body");
  const end = made("div", "rb-label-end");
  const first = button(words.first, "", () => send("first"));

  const others = made("dl", "rb-label-others");
  const choosing = made("div", "rb-label-choices");
  choosing.setAttribute("role", "group");
  choosing.setAttribute("aria-label", words.choices);
  const buttons = choices.map((one, place) => button(one.text, one.key, () => give(place)));
  choosing.append(...buttons);

  const note = made("textarea");
  note.rows = 2;
  note.addEventListener("change", () => keep());
  const noted = made("label", "rb-label-note");
  noted.append(made("span", "rb-label-quiet", words.note), note);

  const back = button(words.back, "←", () => send("back"));
  const skip = button(words.skip, skip_key || "S", () => send("skip"));
  const undo = button(words.undo, "U", () => send("undo"));
  const clear = button(words.clear, "", () => send("clear"));
  const write = button(words.write, "", () => send("write"));
  const file = made("input");
  file.type = "file";
  file.accept = ".csv";
  file.addEventListener("change", async () => {
    if (file.files.length) model.send({ act: "take" }, undefined, [await file.files[0].arrayBuffer()]);
    file.value = "";
  });
  const take = made("label", "rb-label-file");
  take.append(file, made("span", "", words.take));
  const more = made("div", "rb-label-more");
  more.append(back, skip, undo, clear, write, take);

  for (const text of about) head.append(made("span", "rb-label-about", text));
  root.append(head, progress, said, body, others, end, choosing, noted, more, made("p", "rb-label-quiet", words.keys));
  el.append(root);

  function button(text, key, act) {
    const one = made("button");
    one.type = "button";
    if (key) one.append(made("kbd", "", key), " ");
    one.append(made("span", "", text));
    // a disabled button would lose the focus, and the keys with it
    one.addEventListener("click", () => one.getAttribute("aria-disabled") !== "true" && act());
    return one;
  }

  const item = () => model.get("state").item;

  function send(act, more = {}) {
    model.send({ act, code: item()?.code ?? null, ...more });
  }

  function give(choice) {
    if (item()) send("give", { choice, note: note.value });
  }

  function keep() {
    if (item() && note.value.trim() !== item().note) send("note", { note: note.value });
  }

  root.addEventListener("keydown", (event) => {
    event.stopPropagation();
    if (event.target === note) {
      if (event.code === "Escape" || (event.code === "Enter" && (event.ctrlKey || event.metaKey))) {
        event.preventDefault();
        keep();
        root.focus();
      }
      return;
    }
    const command = event.ctrlKey || event.metaKey;
    if (event.altKey || event.repeat || (command && event.code !== "KeyZ")) return;
    const number = digit(event.code);
    const place = number === null ? -1 : choices.findIndex((one) => one.key === number);
    if (command) send("undo");
    else if (place >= 0) give(place);
    else if (number !== null && number === skip_key) send("skip");
    else if (event.code === "KeyN" && item()) note.focus();
    else if (event.code in ACTS) send(ACTS[event.code]);
    else return;
    event.preventDefault();
  });

  function section(name, texts, tag = "div") {
    const part = made("section");
    part.append(made("h4", "", name));
    const list = tag === "ol" ? part.appendChild(made("ol")) : part;
    for (const text of texts) list.append(made(tag === "ol" ? "li" : "p", "rb-label-text", text));
    return part;
  }

  let seen;
  function draw() {
    const state = model.get("state");
    const one = state.item;
    bar.max = state.all || 1;
    bar.value = state.done;
    count.textContent = state.progress;
    said.textContent = state.said;
    if (one?.code !== seen?.code) {
      body.replaceChildren();
      if (one) {
        body.append(section(words.question, [one.question]), section(words.answer, [one.answer]));
        if (one.reference) body.append(section(words.reference, [one.reference]));
        if (one.passages.length) body.append(section(words.passages, one.passages, "ol"));
      }
      body.scrollTop = 0;
    }
    if (one?.code !== seen?.code || (one && document.activeElement !== note)) note.value = one?.note ?? "";
    others.replaceChildren();
    for (const other of one?.others ?? []) {
      const line = others.appendChild(made("div"));
      line.append(made("dt", "", other.who), made("dd", "", other.note ? `${other.value} — ${other.note}` : other.value));
    }
    end.replaceChildren();
    if (!one) {
      end.append(made("p", "", state.end));
      if (state.left) end.append(first);
    }
    buttons.forEach((each, place) => {
      each.setAttribute("aria-pressed", String(one?.chosen === place));
      each.setAttribute("aria-disabled", String(!one));
    });
    note.disabled = !one;
    back.setAttribute("aria-disabled", String(!state.can_back));
    skip.setAttribute("aria-disabled", String(!one));
    undo.setAttribute("aria-disabled", String(!state.can_undo));
    clear.setAttribute("aria-disabled", String(one?.chosen === null || !one));
    seen = one ? { code: one.code } : null;
  }
  model.on("change:state", draw);
  draw();
  return () => model.off("change:state", draw);
}

export default { render };
