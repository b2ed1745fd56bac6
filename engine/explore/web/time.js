// The line of time: what happens when the policies run, and a clock to drag.
import { ask, exported, later, latest } from "./api.js";
import { h, note, plural, qualified, span, time } from "./dom.js";
import { VirtualList } from "./list.js";
import { deadlines, sentence } from "./views.js";

const horizons = [["10 minutes", 600], ["1 hour", 3600], ["1 day", 86400], ["1 week", 604800]];
const signs = { write: "●", failure: "✕", deadline: "◆" };

// timeView shows the line. change sets the clock of the whole page, question asks
// for the decision at a time. The events come later: a run of a large world takes
// its time.
export function timeView(decision, state, world, change, question) {
  const horizon = exported ? 3600 : state.horizon;
  const now = h("output", { class: "now", for: "clock-slider" });
  const result = h("div", { class: "at" }, sentence(decision), deadlines(decision.record, world.start, exported ? null : go));
  const decide = latest(async (signal, after) => {
    const next = await question({ after }, signal);
    result.replaceChildren(sentence(next), deadlines(next.record, world.start, go));
  });
  const soon = later(() => decide(Number(slider.value)).catch((error) => result.replaceChildren(note(error.message))), 40);
  const slider = h("input", {
    type: "range", id: "clock-slider", min: 0, max: horizon, step: 1, value: Math.min(state.after, horizon), disabled: exported, "aria-label": "Time after the start",
    input: () => { show(); soon(); }, change: () => change({ after: Number(slider.value) }, false),
  });
  function show() {
    const after = Number(slider.value);
    now.textContent = `${time(Date.parse(world.start) + after * 1000)} (+${span(after)})`;
    slider.setAttribute("aria-valuetext", now.textContent);
  }
  function go(after) {
    slider.value = after;
    change({ after: Math.min(after, Number(slider.max)) });
  }
  show();
  const marks = h("div", { class: "marks", "aria-hidden": "true" });
  const happens = h("div", { class: "happens", "aria-busy": "true" }, note("Running all policies …"));
  const buttons = [["◀ Event before", -1], ["Next event ▶", 1]].map(([text, by]) => h("button", { type: "button", disabled: true, click: () => step(by) }, text));
  let times = [];
  function step(by) {
    const at = Number(slider.value);
    const next = by > 0 ? times.find((one) => one > at) : times.findLast((one) => one < at);
    if (next !== undefined) go(next);
  }
  const controls = h("div", { class: "bar" }, buttons,
    h("label", {}, "Horizon ", h("select", { disabled: exported, change: (e) => change({ horizon: horizons[e.target.selectedIndex][1], after: Math.min(state.after, horizons[e.target.selectedIndex][1]) }) }, horizons.map(([name, value]) => h("option", { selected: value === horizon }, name)))), now);
  const fill = (events) => {
    const seconds = (e) => Math.max(0, (new Date(e.at) - new Date(events.start)) / 1000);
    times = [...new Set(events.events.map((e) => Math.ceil(seconds(e))).filter((one) => one <= horizon))].sort((a, b) => a - b);
    buttons.forEach((button) => (button.disabled = exported));
    marks.replaceChildren(...marksOf(events.events, seconds, horizon, (e) => e.policy === state.policy && qualified(e.key) === state.key));
    const choose = (e) => (e.record ? change({ policy: e.policy, key: qualified(e.key), record: e.record }) : go(Math.ceil(seconds(e))));
    happens.replaceChildren(h("h3", {}, `What happens when all policies run: ${plural(events.events.length + events.more, "event", "events")}`), events.ended ? h("p", { class: "error" }, events.ended) : "",
      exported ? "" : h("p", { class: "quiet" }, "Choose one to look at the decision behind it, in all views."), eventList(events, exported ? null : choose, (e) => e.record && e.record === state.record));
    happens.removeAttribute("aria-busy");
  };
  ask("timeline", { horizon }).then(fill).catch((error) => {
    happens.replaceChildren(note(error.message));
    happens.removeAttribute("aria-busy");
  });
  return [controls, h("div", { class: "line-of-time" }, marks, slider), result, happens];
}

// marksOf shows at most one mark for each two hundredth of the line.
function marksOf(events, seconds, horizon, own) {
  const places = new Map();
  for (const e of events) {
    const at = Math.min(200, Math.round((seconds(e) / horizon) * 200));
    const known = places.get(at) ?? { what: e.what, own: false };
    places.set(at, { what: known.what === "failure" ? "failure" : e.what, own: known.own || own(e) });
  }
  return [...places].map(([at, one]) => {
    const element = h("span", { class: `event ${one.what} ${one.own ? "own" : ""}` }, signs[one.what]);
    element.style.left = `${at / 2}%`;
    return element;
  });
}

function eventList(events, choose, chosen) {
  if (!events.events.length) return note("Nothing: no policy writes, fails or waits.");
  const list = new VirtualList({
    name: "event", rowHeight: 28, label: "Events", choose: choose && ((i) => choose(events.events[i])),
    row: (i) => {
      const e = events.events[i];
      const what = { write: `${e.verb} ${e.target?.kind} ${e.target && qualified(e.target)}, rule “${e.rule}”`, failure: e.error, deadline: "is evaluated again" }[e.what];
      return h("div", { class: "row event-row", role: "option" }, h("span", {}, time(e.at)), h("span", {}, `${signs[e.what]} ${e.what}`), h("span", {}, `${e.policy} `, h("b", {}, qualified(e.key))), h("span", { title: what }, what));
    },
  });
  list.element.classList.add("events");
  list.chosen = events.events.findIndex(chosen);
  list.set(events.events.length);
  if (list.chosen >= 0) requestAnimationFrame(() => list.reveal(list.chosen));
  return list.element;
}
