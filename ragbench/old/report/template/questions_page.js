// The table in a page: its data lies in parts beside the page, or in it; addresses lead to its rows.
(() => {
  "use strict";
  const waiting = new Map(), loaded = new Map();
  window.ragbenchData = (name, text) => waiting.get(name)?.[0](text);

  const bytes = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const fetchPart = (name) => new Promise((resolve, reject) => {
    const inside = [...document.querySelectorAll("script[data-part]")].find((one) => one.dataset.part === name);
    if (inside) return resolve(inside.textContent.trim());
    waiting.set(name, [resolve, reject]);
    const script = document.createElement("script");
    script.src = "questions/" + name.split("/").map(encodeURIComponent).join("/") + ".js";
    script.onerror = () => reject(new Error(name));
    document.head.append(script);
  });
  const host = {
    part(name) {
      if (!loaded.has(name)) loaded.set(name, fetchPart(name).then(bytes).then(ragbenchTable.inflate));
      return loaded.get(name);
    },
    go(table, row) { // back leads to the table as it stood
      if (table.open === row) return void table.read(row);
      table.open = row;
      location.hash = "#questions?" + table.address();
    },
    keep(table) { // whoever sends the address sends what is seen
      const told = table.address(), there = location.hash;
      if (!told && !there.startsWith("#questions?")) return;
      const hash = told ? "#questions?" + told : "#questions";
      if (there !== hash && !/^#q-/.test(there)) history.replaceState(null, "", hash);
    },
  };

  const asked = [];
  for (const root of document.querySelectorAll(".rb-table")) {
    const table = new ragbenchTable.Table(root, host);
    const follow = () => table.follow(location.hash);
    addEventListener("hashchange", follow);
    new IntersectionObserver((seen, self) => {
      if (seen.some((one) => one.isIntersecting)) { self.disconnect(); table.start(); }
    }, { rootMargin: "600px" }).observe(root);
    const followed = follow();
    if (/^#(q-|questions\b)/.test(location.hash)) asked.push(followed);
  }
  if (asked.length) window.ragbenchAsked = Promise.allSettled(asked); // charts wait for what the address asks for
})();
