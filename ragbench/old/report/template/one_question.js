// What is known of one question, as elements: texts, passages, judgements, and the claims that stand in them. Every text
// is written as text.
const ragbenchQuestion = (() => {
  "use strict";
  const FROM_RIGHT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;
  const make = (tag, properties = {}, ...children) => { // what holds a text that is written from the right runs so
    const made = document.createElement(tag);
    for (const [key, value] of Object.entries(properties)) {
      if (value === undefined || value === null) continue;
      if (key === "class") made.className = value;
      else if (key in made && key !== "list") made[key] = value;
      else made.setAttribute(key, value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    if (children.some((child) => typeof child === "string" && FROM_RIGHT.test(child))) made.dir ||= "auto";
    return made;
  };

  const FEW = 3; // judgements that stand open; of more only those of the metric that is looked at
  const LONG = 320, SHORT = 280; // characters: a longer passage is folded, and this much of it is seen

  // A verdict is its sign, its colour, and who says what in words.
  const signOf = ([sign, kind, said]) =>
    make("span", { class: `rb-sign ${kind}`, role: "img", title: said, "aria-label": said }, sign);

  // A text with its claims marked; places count characters, not the halves of which a browser makes some of them.
  function marked(text, marks) {
    const letters = Array.from(text), made = [];
    let done = 0;
    for (const [start, end, kind, signs] of marks) {
      made.push(letters.slice(done, start).join(""),
        make("mark", { class: `rb-claim ${kind}`, title: signs.map(([, , said]) => said).join("\n") },
          letters.slice(start, end).join(""), ...signs.map(signOf)));
      done = end;
    }
    return [...made, letters.slice(done).join("")];
  }

  function excerpt(text, marks, words) {
    if (marks?.length) return make("p", { class: "rb-text", dir: "auto" }, ...marked(text, marks));
    if (text.length <= LONG) return make("p", { dir: "auto" }, text);
    const cut = text.slice(0, SHORT).replace(/\s+\S*$/, "");
    return make("details", { class: "rb-fold rb-whole" },
      make("summary", {}, make("span", { class: "rb-excerpt", dir: "auto" }, cut + "\u2026 "), make("span", {}, words.whole)),
      make("p", { class: "rb-text", dir: "auto" }, text));
  }

  function listed(entries, passage, words) { // a ranking where texts are marked
    return make(entries.some((one) => one[3]) ? "ol" : "ul", { class: "rb-hits" },
      ...entries.map(([text, meta, anchor, mark, kind, marks, claims]) => make("li", {},
        excerpt(Number.isInteger(text) ? passage(text) : text, marks, words),
        claims?.length ? make("ul", { class: "rb-claims" }, ...claims.map((one) =>
          make("li", {}, make("span", { class: `rb-sign ${one[1]}`, "aria-hidden": "true" }, one[0]), make("span", {}, one[2])))) : null,
        meta || anchor ? make("p", { class: "rb-meta" },
          mark ? make("span", { class: kind || "" }, mark) : null, mark ? " \u00b7 " : null,
          anchor ? make("a", { href: "#" + anchor }, meta || "#") : meta) : null)));
  }

  function judgement(name, { value, said, verdicts }, open) {
    return make("details", { class: "rb-fold rb-judgement", open },
      make("summary", {}, `${name} `, make("b", {}, value)), make("p", {}, said),
      ...verdicts.flatMap(([title, lines]) => [make("p", { class: "rb-lead" }, title),
        make("ul", { class: "rb-claims" }, ...lines.map(([statement, meta, , mark, kind]) => make("li", {},
          mark ? make("span", { class: `rb-chip ${kind}` }, mark) : null, make("span", {}, statement),
          meta ? make("p", { class: "rb-meta" }, meta) : null)))]));
  }

  // Headings, each with a text, with a text of claims, with texts that may lead to other rows, or over a judgement.
  // metrics: the names of the one that is looked at.
  function sections(list, passage, words, metrics) {
    const few = list.filter(([, body]) => body.verdicts).length <= FEW;
    return list.flatMap(([lead, body]) => {
      if (body.verdicts) return [judgement(lead, body, few || metrics.includes(lead.split(" \u00b7 ")[0]))];
      const made = [make("p", { class: "rb-lead" }, lead)];
      if (body.marks) {
        made.push(make("p", { class: "rb-text", dir: "auto" }, ...marked(body.text, body.marks)), make("p", { class: "rb-meta" }, words.marks));
      } else if (typeof body !== "string") made.push(listed(body, passage, words));
      else if (body) made.push(make("p", { class: "rb-text", dir: "auto" }, body));
      return made;
    });
  }

  return { make, sections };
})();
