// Sliders on params, and who would move.
import { ask, exported, later, latest } from "./api.js";
import { h, note, short } from "./dom.js";
import { changes, sentence } from "./views.js";

const units = { d: 86400, h: 3600, m: 60, s: 1, ms: 0.001 };

// secondsOf reads a duration such as 1h30m.
export function secondsOf(text) {
  let sum = 0;
  for (const [, n, unit] of String(text).matchAll(/([\d.]+)(ms|[dhms])/g)) sum += Number(n) * units[unit];
  return sum;
}

function typed(value) {
  return typeof value === "string" ? value : JSON.stringify(value);
}

// control makes what sets a param: changed is called with its text.
function control(param, text, changed) {
  const id = `param-${param.name}`;
  const common = { id, disabled: exported, "aria-describedby": `${id}-about` };
  if (param.type === "bool") return h("input", { ...common, type: "checkbox", checked: text === "true", change: (e) => changed(String(e.target.checked)) });
  if (param.enum?.length) return h("select", { ...common, change: (e) => changed(e.target.value) }, param.enum.map((one) => h("option", { selected: one === text }, one)));
  if (["int", "double", "duration"].includes(param.type)) return slider(param, text, changed, common);
  return h("input", { ...common, type: "text", value: text, spellcheck: "false", input: (e) => changed(e.target.value) });
}

// slider sets a number, or a duration in seconds.
function slider(param, text, changed, common) {
  const duration = param.type === "duration";
  const number = (one) => (duration ? secondsOf(one) : Number(one));
  const value = number(typed(param.value));
  const least = param.minimum ? number(param.minimum) : Math.min(0, value);
  const low = duration ? Math.ceil(least) : least;
  const high = param.maximum ? number(param.maximum) : Math.max(4 * value, duration ? 60 : 10);
  const write = (n) => (duration ? `${n}s` : String(n));
  const box = h("input", { type: "text", class: "box", id: `${common.id}-text`, value: text, disabled: exported, "aria-label": `${param.name}, as text`, input: () => { range.value = number(box.value); changed(box.value); } });
  const range = h("input", { ...common, type: "range", min: low, max: high, step: param.type === "double" ? "any" : 1, value: number(text), input: () => { box.value = write(range.value); changed(box.value); } });
  return h("span", { class: "slider" }, range, box);
}

// paramsView shows the params of the policy, and what other values would change.
export function paramsView(policy, state, question) {
  if (!policy.params.length) return note("This policy has no params.");
  const values = new Map();
  const result = h("div", { class: "result" }, note(exported ? "Params can be changed only on a served page." : "Move a slider to see who would move."));
  const compute = latest(async (signal) => {
    const set = [...values].map(([name, text]) => `${name}=${text}`);
    if (!set.length) return result.replaceChildren(note("All params have the values in force."));
    result.setAttribute("aria-busy", "true");
    try {
      const [moved, decided] = await Promise.all([ask("compare", { policy: policy.name, set }, signal), question({ set }, signal).catch(() => null)]);
      result.replaceChildren(...changes(moved), ...(decided ? [h("h3", {}, `Then, about ${state.key}`), sentence(decided)] : []));
    } catch (error) {
      if (signal.aborted) throw error;
      result.replaceChildren(h("p", { class: "error", role: "alert" }, error.message));
    }
    result.removeAttribute("aria-busy");
  });
  const soon = later(compute);
  const fields = policy.params.map((param) => {
    const inForce = typed(param.value);
    const from = `${param.description ? "; " : ""}in force: ${short(inForce, 60)}`;
    const place = h("span", {});
    const draw = () => place.replaceChildren(control(param, inForce, (text) => {
      if (text === inForce) values.delete(param.name);
      else values.set(param.name, text);
      row.classList.toggle("set", values.has(param.name));
      soon();
    }));
    const reset = h("button", { type: "button", disabled: exported, click: () => { values.delete(param.name); row.classList.remove("set"); draw(); soon(); } }, "Reset");
    const row = h("div", { class: "param" }, h("label", { for: `param-${param.name}` }, h("b", {}, param.name), " ", h("span", { class: "quiet" }, param.type)), place, reset, h("p", { id: `param-${param.name}-about`, class: "quiet" }, param.description ?? "", from));
    draw();
    return row;
  });
  return [h("div", { class: "params" }, fields), result];
}
