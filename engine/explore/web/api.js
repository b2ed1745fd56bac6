// Questions to the server, or to the data in a page that was exported.

const embedded = document.getElementById("data");
const data = embedded && JSON.parse(embedded.textContent);

// exported says that the page is a file; leftOut what it lacks.
export const exported = data !== null;
export const leftOut = data?.leftOut ?? [];

// NotHere is that an exported page does not have an answer.
export class NotHere extends Error {}

const known = new Map();
const kept = 200;

// ask asks; fields that are empty are left out, lists are repeated. A signal ends a
// question that nobody waits for any more.
export async function ask(path, fields = {}, signal) {
  const pairs = Object.entries(fields).flatMap(([name, value]) => (Array.isArray(value) ? value : [value]).map((one) => [name, one]))
    .filter(([, value]) => value !== undefined && value !== null && value !== "" && value !== false && value !== 0)
    .map(([name, value]) => [name, value === true ? "1" : String(value)])
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  if (data) return answered(path, pairs);
  const url = `api/${path}?${new URLSearchParams(pairs)}`;
  if (known.has(url)) return known.get(url);
  const answer = await (await fetch(url, { signal, headers: { accept: "application/json" } })).json();
  if (answer.error !== undefined && Object.keys(answer).length === 1) throw new Error(answer.error);
  known.set(url, answer);
  if (known.size > kept) known.delete(known.keys().next().value);
  return answer;
}

function answered(path, pairs) {
  const question = path + (pairs.length > 0 ? "?" + pairs.map(([name, value]) => `${name}=${value}`).join("&") : "");
  const answer = data.answers[question];
  if (answer === undefined) throw new NotHere("This is not in the exported page. Run edict explore to see it.");
  if (answer.error !== undefined && Object.keys(answer).length === 1) throw new Error(answer.error);
  return answer;
}

// latest returns a function that runs a task, and ends the one before.
export function latest(task) {
  let control = null;
  return async (...args) => {
    control?.abort();
    const own = (control = new AbortController());
    try {
      return await task(own.signal, ...args);
    } catch (error) {
      if (!own.signal.aborted) throw error;
    }
  };
}

// later returns a function that waits a moment for the last of many calls.
export function later(task, milliseconds = 120) {
  let timer = 0;
  return (...args) => {
    clearTimeout(timer);
    timer = setTimeout(() => task(...args), milliseconds);
  };
}
