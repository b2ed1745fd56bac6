// The text of a policy with the value of every part beside it.
import { h, symbol } from "./dom.js";

// code shows a line; a comment is quiet.
export function code(text) {
  const comment = /^\s*#/.test(text);
  return h("code", { class: comment ? "comment" : null }, text || " ");
}

function chip(note) {
  const name = ["when", "part"].includes(note.what) ? note.name : note.name ? `${note.name} =` : "";
  const label = { rule: "", when: note.name, part: "because", item: "", case: `${note.name}:`, step: `${note.name}:`, input: "" }[note.what] ?? name;
  return h("span", { class: `value of-${note.what} ${note.state ?? ""}` }, note.state ? h("span", { "aria-hidden": "true" }, symbol(note.state), " ") : null, label ? h("span", { class: "quiet" }, label, " ") : null, note.text);
}

// text shows the policy.
export function text(policy, decision) {
  const byLine = Map.groupBy(decision?.notes ?? [], (note) => note.line);
  const rows = policy.lines.map((line, i) => {
    const number = policy.first + i;
    const values = byLine.get(number) ?? [];
    return h("div", { class: values.length ? "line noted" : "line", role: "row" }, h("span", { class: "number", role: "rowheader" }, number), h("span", { class: "code", role: "cell" }, code(line)), h("span", { class: "values", role: "cell" }, values.map(chip)));
  });
  return [h("p", { class: "quiet" }, policy.file), h("div", { class: "source", role: "table", "aria-label": "Text of the policy with values", tabindex: "0" }, rows),
    policy.modules.map((m) => h("details", { class: "card" }, h("summary", {}, m.name), h("div", { class: "source" }, m.lines.map((line, i) => h("div", { class: "line" }, h("span", { class: "number" }, i + 1), h("span", { class: "code" }, code(line)))))))];
}
