// Making elements, and writing values for people.

// h makes an element: attributes that are functions listen, true sets, false and
// null leave out.
export function h(name, attributes, ...children) {
  return fill(document.createElement(name), attributes, children);
}

// s makes an SVG element.
export function s(name, attributes, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", name), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
  return element;
}

// qualified returns NAMESPACE/NAME, or the name alone.
export function qualified(o) {
  return o.namespace ? `${o.namespace}/${o.name}` : o.name;
}

// short writes a value on one line, at most so long.
export function short(value, most = 160) {
  if (value === undefined || value === null) return "–";
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > most ? text.slice(0, most) + "…" : text;
}

// valueCell shows a value; a long one opens.
export function valueCell(value) {
  if (value === undefined || value === null) return h("span", { class: "none" }, "absent");
  const text = short(value);
  if (!text.endsWith("…")) return h("code", {}, text);
  return h("details", {}, h("summary", {}, h("code", {}, text)), h("pre", {}, JSON.stringify(value, null, 2)));
}

// plural counts.
export function plural(n, one, many) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

// span writes seconds as a duration.
export function span(seconds) {
  const parts = [];
  let rest = Math.round(seconds);
  for (const [unit, size] of [["d", 86400], ["h", 3600], ["m", 60], ["s", 1]]) {
    const n = Math.floor(rest / size);
    rest -= n * size;
    if (n > 0) parts.push(n + unit);
  }
  return parts.slice(0, 3).join(" ") || "0s";
}

// time writes an instant.
export function time(at) {
  return new Date(at).toISOString().replace(/\.\d+Z$/, "Z").replace("T", " ");
}

// The states, each with a symbol and a word: nothing depends on colour.
const states = {
  writes: ["●", "writes"], nothing: ["○", "at rest"], failed: ["✕", "failed"],
  fired: ["●", "fired"], skipped: ["○", "skipped"], delayed: ["◷", "waits"], notReached: ["·", "not reached"],
  true: ["✓", "true"], false: ["✗", "false"],
};

// mark shows a state.
export function mark(state) {
  const [symbol, word] = states[state] ?? ["·", state];
  return h("span", { class: `mark ${state}` }, h("span", { "aria-hidden": "true" }, symbol), " ", word);
}

// symbol is that of a state.
export function symbol(state) {
  return (states[state] ?? ["·"])[0];
}

// table makes a table of rows of cells.
export function table(caption, head, rows) {
  return h("table", {}, h("caption", { class: "hidden" }, caption), h("thead", {}, h("tr", {}, head.map((text) => h("th", { scope: "col" }, text)))),
    h("tbody", {}, rows.map((cells) => h("tr", {}, cells.map((cell) => h("td", {}, cell))))));
}

// note says something instead of content.
export function note(text) {
  return h("p", { class: "note" }, text);
}
