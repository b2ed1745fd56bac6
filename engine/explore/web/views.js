// The views of one decision: why it comes out so, and what it reads and writes.
import { fields } from "./diff.js";
import { h, mark, note, plural, qualified, short, table, time, valueCell } from "./dom.js";

// condition shows a condition with the parts that decided it.
export function condition(when) {
  if (!when) return null;
  const value = when.error ? mark("failed") : typeof when.value === "boolean" ? mark(String(when.value)) : h("code", {}, short(when.value));
  return h("div", { class: "condition" }, h("code", {}, when.text.trim().replace(/\s+/g, " ")), " ", value,
    when.error ? h("p", { class: "error" }, when.error) : null,
    when.parts?.length ? h("ul", {}, when.parts.map((part) => h("li", {}, condition(part)))) : null);
}

function item(one) {
  if (!one.key && !one.case && !one.error && !one.when) return null;
  return h("li", {}, h("span", { class: "item" }, one.key || "it"), " ", mark(one.error ? "failed" : one.ran ? "fired" : "skipped"),
    one.case ? h("span", {}, " case ", h("b", {}, one.case)) : null, condition(one.when), one.error ? h("p", { class: "error" }, one.error) : null);
}

const mostItems = 200;

function rule(r, n) {
  const items = (r.items ?? []).map(item).filter(Boolean);
  return h("li", { class: `rule ${r.outcome}` }, h("div", {}, h("span", { class: "number" }, n + 1), h("b", {}, r.name), " ", mark(r.outcome)),
    r.delayed ? h("p", { class: "quiet" }, `until ${time(r.delayed.due)} because of its debounce, key “${r.delayed.key}”`) : null, condition(r.when),
    r.error ? h("p", { class: "error" }, r.error) : null,
    items.length ? h("ul", { class: "items" }, items.slice(0, mostItems), items.length > mostItems ? h("li", {}, plural(items.length - mostItems, "more item", "more items")) : null) : null);
}

// sentence shows the sentence that says why.
export function sentence(decision) {
  return h("p", { class: "sentence" }, mark(decision.state), " ", decision.sentence.split("`").map((text, i) => (i % 2 ? h("code", {}, text) : text)));
}

// why shows the sentence, then the rules, the calls and what is remembered. asked is
// called with a name that somebody asks about.
export function why(decision, about, asked, fixed) {
  const record = decision.record;
  const out = [sentence(decision)];
  if (record.error) out.push(h("p", { class: "error" }, record.error));
  out.push(fixed ? null : whyNot(decision, about, asked));
  out.push(h("h3", {}, "Rules"), h("ol", { class: "rules" }, record.rules.map(rule)));
  if (record.calls.length) out.push(h("h3", {}, "Calls"), table("Calls", ["Builtin", "Rule", "Request", "Response"], record.calls.map((c) => [c.builtin, c.rule, valueCell(c.request), c.error ? h("span", { class: "error" }, c.error) : valueCell(c.response)])));
  if (record.remembered) out.push(h("h3", {}, "Remembered"), table("Remembered", ["Name", "Value"], Object.entries(record.remembered).map(([name, value]) => [name, valueCell(value)])));
  return out;
}

// whyNot asks about a name.
export function whyNot(decision, about, asked) {
  const input = h("input", { type: "search", id: "why-not", value: about, placeholder: "name of a candidate, object or item", autocomplete: "off", spellcheck: "false" });
  const form = h("form", { class: "why-not", submit: (event) => { event.preventDefault(); asked(input.value.trim()); } },
    h("label", { for: "why-not" }, "Why not"), input, h("button", {}, "Ask"));
  if (!about) return form;
  const lines = decision.whyNot ?? [];
  return [form, h("ul", { class: "answers", role: "status" }, lines.length ? lines.map((text) => h("li", {}, text.split("`").map((one, i) => (i % 2 ? h("code", {}, one) : one)))) : h("li", {}, `Nothing named “${about}” could be chosen or listed here.`))];
}

// none says why a decision writes nothing.
function none(rules) {
  if (rules.some((r) => r.outcome === "failed")) return "None, because of the failure.";
  return rules.some((r) => r.outcome === "delayed") ? "None: a rule waits." : "None: nothing has to change.";
}

// effects shows what is written and read.
export function effects(decision) {
  const { effects: writes, reads, rules } = decision.record;
  const out = [h("h3", {}, "Writes")];
  if (!writes.length) out.push(note(none(rules)));
  for (const e of writes) {
    const rows = e.patch === undefined ? [] : fields(e.before ?? null, e.patch);
    out.push(h("div", { class: "card" }, h("h4", {}, h("span", { class: "verb" }, e.verb + (e.subresource ? ` ${e.subresource}` : "")), " ", e.target.kind, " ", h("b", {}, qualified(e.target)), h("span", { class: "quiet" }, ` rule “${e.rule}”`)),
      rows.length ? table(`Fields of ${e.target.name}`, ["Field", "Before", "After"], rows.map(([path, before, after]) => [h("code", {}, path || "(all)"), valueCell(before), valueCell(after)])) : null));
  }
  out.push(h("h3", {}, `Reads (${reads.length.toLocaleString("en")})`));
  if (!reads.length) return [...out, note("Nothing that exists.")];
  const most = 300;
  out.push(table("Reads", ["Object", "Version", "Fields that matter"], reads.slice(0, most).map((r) => [[h("span", { class: "quiet" }, r.kind), " ", h("b", {}, qualified(r))], r.resourceVersion || "–", h("code", { class: "fields" }, r.fields.join(", "))])));
  if (reads.length > most) out.push(note(`and ${plural(reads.length - most, "more object", "more objects")}`));
  return out;
}

// deadlines shows when the decision changes by itself.
export function deadlines(record, start, jump) {
  if (!record.deadlines.length) return note("No deadline: the decision changes only when something that it reads does.");
  return table("Deadlines of this decision", ["When", "Why", ""], record.deadlines.slice(0, 100).map((d) => {
    const seconds = (new Date(d.at) - new Date(start)) / 1000;
    return [time(d.at), h("code", {}, d.why), jump && seconds > 0 ? h("button", { type: "button", click: () => jump(Math.ceil(seconds)) }, "Go there") : null];
  }));
}

// changes shows the objects that end up different.
export function changes(comparison) {
  const { changes: list, created, changed, deleted, unchangedObjects, notDecided, more } = comparison;
  const out = [h("p", { class: "sentence", role: "status" }, list.length ? `${plural(list.length + more, "object moves", "objects move")}: ${created} created, ${changed} changed, ${deleted} deleted; ${unchangedObjects.toLocaleString("en")} unchanged.` : `Nothing moves: ${plural(unchangedObjects, "object", "objects")} unchanged.`)];
  for (const c of list.slice(0, 100)) {
    out.push(h("details", { class: "card", open: list.length <= 10 }, h("summary", {}, h("span", { class: "verb" }, c.verb), " ", c.target.kind, " ", h("b", {}, qualified(c.target)), h("span", { class: "quiet" }, c.policies.length ? ` by ${c.policies.join(", ")}` : " by garbage collection")),
      table(`Fields of ${c.target.name}`, ["Field", "Before", "After"], c.fields.map((f) => [h("code", {}, f.path), valueCell(f.before), valueCell(f.after)]))));
  }
  if (list.length + more > 100) out.push(note(`and ${plural(list.length + more - 100, "more object", "more objects")}`));
  if (notDecided.length) out.push(h("h3", {}, "Not decided"), table("Not decided", ["Policy", "Object", "Why"], notDecided.slice(0, 50).map((n) => [n.policy, qualified(n.key), n.reason])));
  return out;
}
