// The graph of policies: which kinds each reads and writes.
import { ask } from "./api.js";
import { h, s, table } from "./dom.js";

const box = { width: 230, height: 30, gap: 12, column: 380 };

const kindOf = (e) => `${e.kind}`;

// graphView shows kinds that are read, policies, and kinds that are written.
export async function graphView(state, change) {
  const { edges } = await ask("graph");
  const columns = [order(edges.filter((e) => e.does !== "writes").map(kindOf)), order(edges.map((e) => e.policy)), order(edges.filter((e) => e.does === "writes").map(kindOf))];
  const tallest = Math.max(...columns.map((c) => c.length));
  const height = tallest * (box.height + box.gap) + 40;
  const place = columns.map((names, column) => new Map(names.map((name, i) => [name, { x: column * box.column + 1, y: 34 + ((tallest - names.length) * (box.height + box.gap)) / 2 + i * (box.height + box.gap) }])));
  const lines = edges.map((e) => line(e, place));
  const nodes = place.flatMap((names, column) => [...names].map(([name, at]) => node(name, at, column, change)));
  const details = h("div", { class: "edges" });
  const svg = s("svg", { viewBox: `0 0 ${2 * box.column + box.width + 2} ${height}`, class: "graph", role: "group", "aria-label": "Policies with the kinds that they read and write; the table below says the same" },
    s("defs", {}, s("marker", { id: "arrow", viewBox: "0 0 8 8", refX: 8, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto" }, s("path", { d: "M0 0L8 4L0 8z" }))),
    ["Kinds read", "Policies", "Kinds written"].map((text, i) => s("text", { class: "title", x: i * box.column + box.width / 2, y: 18 }, text)), lines, nodes);
  const light = (name, column) => {
    edges.forEach((e, i) => lines[i].classList.toggle("lit", column === 1 ? e.policy === name : kindOf(e) === name && (e.does === "writes") === (column === 2)));
    svg.classList.add("some");
    const chosen = edges.filter((e) => (column === 1 ? e.policy === name : kindOf(e) === name));
    details.replaceChildren(h("h3", {}, name), edgeTable(chosen));
  };
  nodes.forEach((element) => {
    for (const event of ["focus", "click"]) element.addEventListener(event, () => light(element.dataset.name, Number(element.dataset.column)));
  });
  details.replaceChildren(h("h3", {}, "All"), edgeTable(edges));
  if (columns[1].includes(state.policy)) light(state.policy, 1);
  return [h("p", { class: "legend" }, "━ decides about   ┅ reads   ➤ writes. Choose a policy or a kind to see its fields."), svg, wakes(edges), details];
}

function order(names) {
  return [...new Set(names)].sort();
}

function line(e, place) {
  const policy = place[1].get(e.policy);
  const writes = e.does === "writes";
  const from = writes ? policy : place[0].get(kindOf(e));
  const to = writes ? place[2].get(kindOf(e)) : policy;
  const [x1, y1, x2, y2] = [from.x + box.width, from.y + box.height / 2, to.x, to.y + box.height / 2];
  const bend = (x2 - x1) / 2;
  return s("path", { class: `edge ${e.does}`, d: `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`, "marker-end": writes ? "url(#arrow)" : null });
}

function node(name, at, column) {
  const what = ["kind, read", "policy", "kind, written"][column];
  const text = name.length > 30 ? name.slice(0, 29) + "…" : name;
  return s("g", { class: column === 1 ? "node policy" : "node kind", tabindex: "0", role: "button", "aria-label": `${name}, ${what}`, "data-name": name, "data-column": column },
    s("title", {}, name), s("rect", { x: at.x, y: at.y, width: box.width, height: box.height, rx: column === 1 ? 4 : 15 }), s("text", { x: at.x + box.width / 2, y: at.y + box.height / 2 + 4 }, text));
}

function edgeTable(edges) {
  return table("What policies read and write", ["Policy", "Does", "Kind", "Fields", "Rules"], edges.map((e) => [e.policy, e.does, [e.kind, h("span", { class: "quiet" }, ` ${e.apiVersion}`)], h("code", { class: "fields" }, e.fields.join(", ")), (e.rules ?? []).join(", ")]));
}

// overlaps reports whether a field that is written is one that is read, or around or
// below it.
export function overlaps(written, read) {
  const plain = (path) => path.replaceAll("[*]", "");
  const [a, b] = [plain(written), plain(read)];
  return a.startsWith("(") || a === b || a.startsWith(b + ".") || b.startsWith(a + ".");
}

// wakes says which policies are evaluated because of what others write.
function wakes(edges) {
  const rows = edges.filter((e) => e.does === "writes").flatMap((w) => edges.filter((r) => r.does !== "writes" && r.policy !== w.policy && r.kind === w.kind && r.apiVersion === w.apiVersion)
    .map((r) => [w, r, r.fields.filter((field) => w.fields.some((written) => overlaps(written, field)))]).filter(([, , fields]) => fields.length));
  if (!rows.length) return null;
  return [h("h3", {}, "Who wakes whom"), table("Who wakes whom", ["Writes", "Kind and fields", "Is evaluated again"], rows.map(([w, r, fields]) => [w.policy, [w.kind, " ", h("code", { class: "fields" }, fields.join(", "))], r.policy]))];
}
