// The table in JupyterLab: its data comes from the kernel part by part; what is shown and chosen goes back to it.
const rows = (found) => new DataView(Int32Array.from(found).buffer);

function parts(model) {
  const waiting = new Map(), loaded = new Map();
  model.on("msg:custom", ({ part }, buffers) => {
    if (!part || !waiting.has(part)) return;
    const [resolve, reject] = waiting.get(part);
    waiting.delete(part);
    if (buffers.length) resolve(ragbenchTable.inflate(buffers[0]));
    else reject(new Error(part));
  });
  return (name) => {
    if (loaded.has(name)) return loaded.get(name);
    const found = new Promise((resolve, reject) => {
      waiting.set(name, [resolve, reject]);
      model.send({ part: name });
    });
    loaded.set(name, found);
    // the last block of texts grows with every detail that is read
    if (name.includes("/texts-")) found.then((texts) => { if (texts.length < model.get("block")) loaded.delete(name); });
    return found;
  };
}

let number = 0; // of tables in this notebook: ids are unique

function render({ model, el }) {
  el.innerHTML = model.get("markup"); // a template of ours, in which every text is escaped
  const root = el.querySelector(".rb-table");
  root.dataset.parts += `-${number += 1}`;
  root.dataset.lmSuppressShortcuts = "true"; // keys are the table's, not the notebook's
  const tell = (table) => {
    model.set("shown", rows(table.rows));
    model.set("chosen", rows([...table.chosen].sort((a, b) => a - b)));
    model.set("wish", table.address());
    model.save_changes();
  };
  let timer = 0;
  const host = {
    part: parts(model),
    go: (table, row) => table.read(row),
    changed: (table) => {
      clearTimeout(timer);
      timer = setTimeout(tell, 100, table);
    },
  };
  const table = new ragbenchTable.Table(root, host);
  const given = model.get("chosen");
  table.chosen = new Set(new Int32Array(given.buffer.slice(given.byteOffset, given.byteOffset + given.byteLength)));
  root.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#q-']");
    if (!link) return;
    event.preventDefault();
    table.read(table.rowOf(decodeURIComponent(link.hash.slice(1))));
  });
  const sized = new ResizeObserver(() => { if (table.grid) table.paint(); });
  sized.observe(root);
  const asked = model.get("wish");
  const follow = (wish) => { if (table.data && wish !== table.address()) table.wish(new URLSearchParams(wish)); };
  const heard = () => follow(model.get("wish"));
  table.start().then(() => follow(asked)); // before what it tells of itself is sent
  model.on("change:wish", heard);
  return () => {
    clearTimeout(timer);
    model.off("change:wish", heard);
    sized.disconnect();
  };
}

export default { render };
