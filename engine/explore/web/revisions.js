// Two revisions side by side.
import { ask } from "./api.js";
import { lines } from "./diff.js";
import { h, mark, note } from "./dom.js";
import { code } from "./text.js";
import { changes, sentence } from "./views.js";

const context = 3;

// revisionsView shows texts, decisions and what changes.
export async function revisionsView(world, state, decision, question) {
  if (!world.against) return note("There is no other revision here. Start with --against PATH to compare with the policies at a path.");
  const nothing = (error) => ({ failed: error.message });
  const [now, before, moved, other] = await Promise.all([
    ask("text", { policy: state.policy }), ask("text", { policy: state.policy, against: true }).catch(nothing), ask("compare", { against: true }), state.key ? question({ against: true }).catch(nothing) : null,
  ]);
  return [
    state.key ? [h("h3", {}, `Decision about ${state.key}`), h("div", { class: "pair" }, side("Other revision", other), side("This revision", decision))] : null,
    h("h3", {}, "Text"), before.failed ? note(before.failed) : textPair(before, now),
    h("h3", {}, "What the edit changes, all policies together"), changes(moved),
  ];
}

function side(title, decision) {
  if (!decision || decision.failed) return h("div", {}, h("h4", {}, title), note(decision?.failed ?? "no decision"));
  return h("div", {}, h("h4", {}, title, h("span", { class: "quiet" }, ` ${decision.record.revision}`)), sentence(decision),
    h("ul", { class: "outcomes" }, decision.record.rules.map((r) => h("li", {}, mark(r.outcome), " ", r.name))));
}

// paired puts what was removed beside what was added in its place, as "~".
function paired(all) {
  const out = [];
  let removed = 0; // the first of the removed lines that have nothing beside them
  all.forEach(([sign, i, j]) => {
    if (sign !== "+") {
      if (sign === "=") removed = out.length + 1;
      out.push([sign, i, j]);
      return;
    }
    if (out[removed]?.[0] === "-") out[removed] = ["~", out[removed][1], j];
    else out.push(["+", null, j]);
    removed++;
  });
  return out;
}

function textPair(before, now) {
  const all = paired(lines(before.lines, now.lines));
  if (all.every(([sign]) => sign === "=")) return note("The texts are the same.");
  const near = all.map((_, i) => all.slice(Math.max(0, i - context), i + context + 1).some(([sign]) => sign !== "="));
  const rows = [];
  for (let i = 0; i < all.length; i++) {
    if (near[i]) rows.push(row(all[i], before, now));
    else if (i === 0 || near[i - 1]) rows.push(h("div", { class: "gap", role: "row" }, h("span", { role: "cell" }, "⋯")));
  }
  return h("div", { class: "pair-text", role: "table", "aria-label": "Texts side by side", tabindex: "0" }, rows);
}

function row([sign, i, j], before, now) {
  const cell = (one, text, side) => [h("span", { class: `number ${side}` }, one === null ? "" : text.first + one), h("span", { class: `code ${side}`, role: "cell" }, one === null ? "" : code(text.lines[one]))];
  const [name, shown] = { "=": ["same", ""], "-": ["removed", "−"], "+": ["added", "+"], "~": ["changed", "±"] }[sign];
  return h("div", { class: `line ${name}`, role: "row" }, h("span", { class: "sign", "aria-label": name, role: "rowheader" }, shown), cell(i, before, "old"), cell(j, now, "new"));
}
