// The table of a selection's candidates: what excluded each, its points and rank.
import { h, note, plural } from "./dom.js";
import { VirtualList } from "./list.js";
import { whyNot } from "./views.js";

const rowHeight = 28;

// columnsOf returns the columns of a selection: name, how to read and how to show it.
function columnsOf(selection) {
  const levels = [...new Set(selection.candidates.flatMap((c) => Object.keys(c.names)))].sort();
  const steps = [...new Set(selection.candidates.flatMap((c) => Object.keys(c.points ?? {})))];
  return [
    { title: "Rank", number: true, of: (c) => c.rank || Infinity, text: (c) => (c.rank ? String(c.rank) : "–") },
    ...levels.map((level) => ({ title: level, of: (c) => c.names[level] ?? "", text: (c) => c.names[level] ?? "" })),
    { title: "Outcome", of: (c) => c.droppedBy ?? "", text: (c) => c.outcome },
    { title: "Score", number: true, of: (c) => -c.score, text: (c) => String(c.score) },
    ...steps.map((step) => ({ title: step, number: true, of: (c) => -(c.points?.[step] ?? -Infinity), text: (c) => String(c.points?.[step] ?? "–") })),
  ];
}

function outcome(selection, c, i) {
  const why = c.why ? `: ${c.why}` : "";
  if (c.taken) return `★ taken${why}`;
  if (c.droppedBy) return `✕ excluded: ${c.droppedBy}${why}`;
  return i === selection.winner ? "★ chosen" : "○ left";
}

// ranked orders the candidates: the best first, those that were excluded last.
function ranked(list) {
  return list.sort((a, b) => Number(!a.rank) - Number(!b.rank) || (a.rank ?? 0) - (b.rank ?? 0) || (a.droppedBy ?? "").localeCompare(b.droppedBy ?? ""));
}

// candidates shows the selections of a decision.
export function candidates(decision, state, change, fixed) {
  const list = decision.record.selections;
  if (!list.length) return note("This decision chose among no candidates.");
  const at = Math.min(state.selection, list.length - 1);
  const selection = list[at];
  const view = new Table(selection, state, change);
  const choose = h("select", { id: "selection", change: (event) => change({ selection: event.target.selectedIndex, about: "" }) },
    list.map((one, i) => h("option", { selected: i === at }, one.item ? `${one.rule} — ${one.item}` : one.rule)));
  return [h("div", { class: "bar" }, h("label", { for: "selection" }, "Selection"), choose, view.filter, view.count),
    h("p", { class: "sentence" }, selection.summary), reasons(selection, view), fixed ? null : whyNot(decision, state.about, (about) => change({ about })), view.element];
}

// reasons counts what was excluded by each step; a step filters.
function reasons(selection, view) {
  const counts = new Map();
  for (const c of selection.candidates) if (c.droppedBy) counts.set(c.droppedBy, (counts.get(c.droppedBy) ?? 0) + 1);
  if (!counts.size) return null;
  return h("div", { class: "reasons" }, [...counts].sort((a, b) => b[1] - a[1]).map(([step, n]) => h("button", { type: "button", click: () => view.search(step) }, `✕ ${step}: ${n.toLocaleString("en")}`)));
}

class Table {
  constructor(selection, state, change) {
    this.all = ranked(selection.candidates.map((c, i) => ({ ...c, outcome: outcome(selection, c, i) })));
    this.columns = columnsOf(selection);
    this.total = selection.total;
    this.sorted = null;
    this.rows = this.all;
    this.filter = h("input", { type: "search", placeholder: "Filter candidates", "aria-label": "Filter candidates", autocomplete: "off", input: () => this.update() });
    this.count = h("span", { class: "quiet", role: "status" });
    this.list = new VirtualList({ name: "candidate", rowHeight, role: "grid", label: "Candidates", row: (i) => this.row(i), choose: (i) => change({ about: this.nameOf(this.rows[i]) }) });
    this.list.element.classList.add("candidates");
    this.list.element.setAttribute("aria-colcount", this.columns.length);
    this.head = h("div", { class: "head", role: "row", "aria-rowindex": "1" });
    this.list.element.prepend(this.head);
    this.list.element.style.setProperty("--columns", this.columns.map((c) => (c.title === "Outcome" ? "minmax(14rem, 2fr)" : c.number ? "minmax(6rem, 0.7fr)" : "minmax(9rem, 1.4fr)")).join(" "));
    this.element = this.list.element;
    this.list.chosen = state.about ? this.all.findIndex((c) => Object.values(c.names).includes(state.about)) : -1;
    this.update();
    if (this.list.chosen >= 0) requestAnimationFrame(() => this.list.reveal(this.list.chosen));
  }

  nameOf(candidate) {
    const names = Object.values(candidate.names).filter(Boolean);
    return names.find((name) => this.all.filter((c) => Object.values(c.names).includes(name)).length === 1) ?? names[0] ?? "";
  }

  search(text) {
    this.filter.value = this.filter.value === text ? "" : text;
    this.update();
  }

  update() {
    const text = this.filter.value.trim().toLowerCase();
    this.rows = text ? this.all.filter((c) => c.outcome.toLowerCase().includes(text) || Object.values(c.names).some((name) => name.toLowerCase().includes(text))) : [...this.all];
    if (this.sorted) {
      const { column, down } = this.sorted;
      const value = this.columns[column].of;
      this.rows.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (down ? -1 : 1));
    }
    this.drawHead();
    this.list.element.setAttribute("aria-rowcount", this.rows.length + 1);
    this.list.set(this.rows.length);
    this.count.textContent = this.rows.length === this.total ? plural(this.total, "candidate", "candidates") : `${this.rows.length.toLocaleString("en")} of ${plural(this.total, "candidate", "candidates")}`;
  }

  drawHead() {
    this.head.replaceChildren(...this.columns.map((c, i) => {
      const own = this.sorted?.column === i;
      return h("span", { role: "columnheader", class: c.number ? "number" : null, "aria-sort": own ? (this.sorted.down ? "descending" : "ascending") : "none" },
        h("button", { type: "button", click: (event) => { event.stopPropagation(); this.sort(i); } }, c.title + (own ? (this.sorted.down ? " ▾" : " ▴") : "")));
    }));
  }

  sort(column) {
    this.sorted = this.sorted?.column !== column ? { column, down: false } : this.sorted.down ? null : { column, down: true };
    this.update();
  }

  row(i) {
    const c = this.rows[i];
    return h("div", { class: `row ${c.droppedBy ? "dropped" : c.outcome.startsWith("★") ? "chosen" : ""}`, role: "row", "aria-rowindex": i + 2 },
      this.columns.map((column) => h("span", { role: "gridcell", class: column.number ? "number" : null, title: column.number ? null : column.text(c) }, column.text(c))));
  }
}

