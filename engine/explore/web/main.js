// The page: the list of objects, the views, the keyboard, and where one is.
import { ask, exported, latest, leftOut, NotHere } from "./api.js";
import { candidates } from "./candidates.js";
import { h, mark, note, plural, qualified, span, symbol, time } from "./dom.js";
import { graphView } from "./graph.js";
import { VirtualList } from "./list.js";
import { paramsView } from "./params.js";
import { revisionsView } from "./revisions.js";
import { text } from "./text.js";
import { timeView } from "./time.js";
import { effects, why } from "./views.js";

const $ = (id) => document.getElementById(id);
const views = [["why", "Why"], ["candidates", "Candidates"], ["text", "Text"], ["effects", "Reads and writes"], ["time", "Time"], ["params", "Params"], ["revisions", "Revisions"], ["graph", "Graph"]];

// Where one is; the address has what differs from this.
const begin = { policy: "", key: "", view: "why", about: "", selection: 0, record: "", run: false, after: 0, horizon: 3600 };
let state = { ...begin };
let world = null;
let rows = [];
let all = [];

function read() {
  const fields = new URLSearchParams(location.hash.slice(1));
  const next = { ...begin };
  for (const [name, value] of fields) {
    if (typeof begin[name] === "number") next[name] = Number(value) || 0;
    else if (typeof begin[name] === "boolean") next[name] = value === "1";
    else if (name in begin) next[name] = value;
  }
  return next;
}

function address(next) {
  const fields = Object.entries(next).filter(([name, value]) => value !== begin[name]).map(([name, value]) => [name, value === true ? "1" : String(value)]);
  return "#" + new URLSearchParams(fields);
}

// change goes somewhere else; redraw is false when the view shows it already.
function change(fields, redraw = true) {
  const next = { ...state, ...fields };
  const moved = next.policy !== state.policy || next.key !== state.key || next.view !== state.view;
  if (next.policy !== state.policy || next.key !== state.key) Object.assign(next, { about: fields.about ?? "", selection: fields.selection ?? 0, record: fields.record ?? "" });
  if ("run" in fields || "after" in fields) next.record = "";
  state = next;
  history[moved ? "pushState" : "replaceState"](null, "", address(state));
  head();
  if (redraw) show();
}

// question asks for the decision about the object, with other fields.
function question(fields = {}, signal) {
  const { policy, key, run, after, about, record } = state;
  const clock = record && !("after" in fields || "set" in fields || "against" in fields) ? { record } : { run, after };
  return ask("decision", { policy, key, about, ...clock, ...fields }, signal);
}

const show = latest(async (signal) => {
  const panel = $("main-view");
  panel.setAttribute("aria-busy", "true");
  panel.setAttribute("aria-labelledby", `tab-${state.view}`);
  panel.dataset.view = state.view;
  try {
    const content = await draw(signal);
    if (signal.aborted) return;
    panel.replaceChildren(...[content].flat(Infinity).filter(Boolean));
    if (panel.dataset.shown !== state.view) {
      panel.scrollTop = 0;
      if (state.view === "text") panel.querySelector(".noted")?.scrollIntoView();
    }
  } catch (error) {
    if (signal.aborted) return;
    panel.replaceChildren(error instanceof NotHere ? note(error.message) : h("p", { class: "error", role: "alert" }, error.message));
  }
  panel.dataset.shown = state.view;
  panel.removeAttribute("aria-busy");
});

async function draw(signal) {
  const policy = world.policies.find((p) => p.name === state.policy);
  if (state.view === "graph") return graphView(state, change);
  if (!policy) return note("Choose an object on the left.");
  const decision = state.key ? await question({}, signal) : null;
  if (decision) {
    $("state").replaceChildren(mark(decision.state));
  }
  switch (state.view) {
    case "text":
      return text(await ask("text", { policy: state.policy }, signal), decision);
    case "params":
      return paramsView(policy, state, question);
    case "revisions":
      return revisionsView(world, state, decision, question);
  }
  if (!decision) return note("Choose an object of this policy on the left. Text, params, revisions and graph need none.");
  switch (state.view) {
    case "candidates":
      return candidates(decision, state, change, exported);
    case "effects":
      return effects(decision);
    case "time":
      return timeView(decision, state, world, change, question);
  }
  return why(decision, state.about, (about) => change({ about }), exported);
}

// head shows what the page is about now.
function head() {
  $("subject").replaceChildren(state.key ? h("span", {}, h("span", { class: "quiet" }, `${state.policy} / `), state.key) : state.policy || "Choose an object");
  document.title = state.key ? `${state.key} · ${state.policy} · Edict` : "Edict";
  $("state").replaceChildren();
  const clock = state.record ? "a decision made while the policies ran" : `${time(Date.parse(world.start) + state.after * 1000)} · ${state.run ? "after all policies have run" : "objects as given"}${state.after ? `, +${span(state.after)}` : ""}`;
  $("clock").replaceChildren(clock, state.after || state.record ? h("button", { type: "button", click: () => change({ after: 0 }) }, state.record ? "Back to the clock" : "Back to the start") : "");
  $("run").checked = state.run;
  $("run").disabled = exported;
  for (const [view] of views) {
    const tab = $(`tab-${view}`);
    tab.setAttribute("aria-selected", String(view === state.view));
    tab.tabIndex = view === state.view ? 0 : -1;
  }
  const at = rows.findIndex(here);
  if (at !== list.chosen) list.select(at);
}

const list = new VirtualList({
  name: "key", rowHeight: 26, label: "Objects by policy",
  row: (i) => {
    const r = rows[i];
    if (!r.key) return h("div", { class: "heading", role: "option", "aria-label": `policy ${r.policy}`, title: r.policy }, h("b", {}, r.policy), h("span", { class: "quiet" }, ` ${r.kind} ${r.mode === "Enforce" ? "" : r.mode}`));
    return h("div", { class: `key ${r.state}`, role: "option", title: r.sentence || null, "aria-label": `${r.name}, ${r.policy}, ${{ writes: "writes", nothing: "at rest", failed: "failed" }[r.state]}` },
      h("span", { class: `mark ${r.state}`, "aria-hidden": "true" }, symbol(r.state)), h("span", { class: "name" }, r.name), h("span", { class: "word", "aria-hidden": "true" }, { writes: "writes", nothing: "", failed: "failed" }[r.state]));
  },
  choose: (i) => change({ policy: rows[i].policy, key: rows[i].key ? rows[i].name : "" }),
});

// here says whether a row is where one is: at an object, or at a policy as such.
const here = (r) => r.policy === state.policy && (r.key ? r.name === state.key : !state.key);

function filter() {
  const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (r) => words.every((word) => r.name.toLowerCase().includes(word) || r.policy.toLowerCase().includes(word) || r.state.startsWith(word));
  rows = all.flatMap(({ policy, keys }) => {
    const own = keys.filter(matches);
    return own.length || words.length === 0 ? [policy, ...own] : [];
  });
  const found = rows.filter((r) => r.key);
  const count = (state) => found.filter((r) => r.state === state).length;
  $("counts").textContent = `${plural(found.length, "object", "objects")}, as given: ${count("writes")} write, ${count("failed")} failed`;
  list.chosen = rows.findIndex(here);
  list.set(rows.length);
}

// step goes to the next object, or the one before.
function step(by) {
  let at = list.chosen < 0 ? (by > 0 ? -1 : rows.length) : list.chosen;
  do at += by;
  while (rows[at] && !rows[at].key);
  if (rows[at]) list.choose(at);
}

function moveTab(by) {
  const at = views.findIndex(([view]) => view === state.view);
  const [view] = views[(at + by + views.length) % views.length];
  change({ view });
  $(`tab-${view}`).focus();
}

const keys = [["j, ↓", "the next object", () => step(1)], ["k, ↑", "the object before", () => step(-1)], ["/", "search", () => { $("search").focus(); $("search").select(); }], ["1 … 8", "a view", null], ["Esc", "leave a field, close this", null], ["?", "this help", () => help()]];

function help() {
  const dialog = $("help");
  dialog.replaceChildren(h("h2", { id: "help-title" }, "Keys"), h("dl", {}, keys.map(([name, text]) => [h("dt", {}, name.split(/(, | … )/).map((part) => (/^(, | … )$/.test(part) ? part : h("kbd", {}, part)))), h("dd", {}, text)])),
    h("ul", { class: "views" }, views.map(([, title], i) => h("li", {}, h("kbd", {}, i + 1), " ", title))), h("button", { type: "button", click: () => dialog.close() }, "Close"));
  if (!dialog.open) dialog.showModal();
}

function pressed(event) {
  const field = event.target.closest?.("input, select, textarea, [contenteditable]");
  if (event.key === "Escape" && field) return field.blur();
  if (field && field.type !== "checkbox" || event.ctrlKey || event.metaKey || event.altKey || $("help").open) return;
  const act = { j: () => step(1), k: () => step(-1), ArrowDown: () => step(1), ArrowUp: () => step(-1), "/": keys[2][2], "?": help }[event.key] ?? (/^[1-8]$/.test(event.key) ? () => change({ view: views[event.key - 1][0] }) : null);
  if (!act || event.key.startsWith("Arrow") && event.target.closest?.("[tabindex='0']:not(body)") && !event.target.closest("#keys")) return;
  event.preventDefault();
  act();
}

function tabs() {
  $("tabs").replaceChildren(...views.map(([view, title], i) => h("button", { type: "button", role: "tab", id: `tab-${view}`, "aria-controls": "main-view", "aria-keyshortcuts": i + 1, click: () => change({ view }) }, h("kbd", { "aria-hidden": "true" }, i + 1), title)));
  $("tabs").addEventListener("keydown", (event) => {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    moveTab(by);
  });
}

async function start() {
  world = await ask("world");
  $("origin").textContent = `${world.origin} · ${plural(world.objects, "object", "objects")}${exported ? " · exported" : ""}`;
  $("keys").replaceWith(list.element);
  list.element.id = "keys";
  tabs();
  state = read();
  for (const policy of world.policies) {
    const heading = { policy: policy.name, name: policy.name, kind: policy.kind, mode: policy.mode, state: "" };
    const answer = await ask("keys", { policy: policy.name });
    all.push({ policy: heading, keys: answer.keys.map((k) => ({ ...k, key: true, policy: policy.name, name: qualified(k) })) });
    filter();
  }
  if (!state.policy) {
    const first = rows.find((r) => r.key && r.state === "failed") ?? rows.find((r) => r.key && r.state === "writes") ?? rows.find((r) => r.key);
    if (first) state = { ...state, policy: first.policy, key: first.name };
  }
  history.replaceState(null, "", address(state));
  head();
  if (leftOut.length) document.body.append(h("footer", {}, "Not in this file: " + leftOut.join("; ") + "."));
  await show();
  document.documentElement.dataset.ready = "true";
}

$("search").addEventListener("input", filter);
$("search").addEventListener("keydown", (event) => {
  if (event.key === "Enter" || event.key === "ArrowDown") {
    event.preventDefault();
    $("search").blur();
    step(1);
  }
});
$("run").addEventListener("change", (event) => change({ run: event.target.checked }));
$("help-button").addEventListener("click", help);
document.addEventListener("keydown", pressed);
for (const event of ["popstate", "hashchange"]) {
  window.addEventListener(event, () => {
    state = read();
    head();
    show();
  });
}
start().catch((error) => $("main-view").replaceChildren(h("p", { class: "error", role: "alert" }, error.message)));
