// Comparing texts and objects.

// lines returns the lines of two texts as [sign, before, after], where sign is "=",
// "-" or "+": a longest common subsequence, between what begins and ends the same.
export function lines(before, after) {
  let start = 0;
  while (start < before.length && start < after.length && before[start] === after[start]) start++;
  let end = 0;
  while (end < before.length - start && end < after.length - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const old = before.slice(start, before.length - end);
  const now = after.slice(start, after.length - end);
  const out = before.slice(0, start).map((text, i) => ["=", i, i]);
  out.push(...middle(old, now).map(([sign, i, j]) => [sign, i === null ? null : i + start, j === null ? null : j + start]));
  for (let i = end; i > 0; i--) out.push(["=", before.length - i, after.length - i]);
  return out;
}

function middle(old, now) {
  const width = now.length + 1;
  const table = new Uint32Array((old.length + 1) * width);
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      table[i * width + j] = old[i] === now[j] ? table[(i + 1) * width + j + 1] + 1 : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
    }
  }
  const out = [];
  let i = 0;
  let j = 0;
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) out.push(["=", i++, j++]);
    else if (i < old.length && (j === now.length || table[(i + 1) * width + j] >= table[i * width + j + 1])) out.push(["-", i++, null]);
    else out.push(["+", null, j++]);
  }
  return out;
}

// fields returns what a merge patch changes, as [path, before, after].
export function fields(before, patch, path = "") {
  if (patch === null || typeof patch !== "object" || Array.isArray(patch)) return [[path, before, patch]];
  return Object.entries(patch).flatMap(([name, value]) => {
    const at = /^[\w-]+$/.test(name) ? (path ? `${path}.${name}` : name) : `${path}[${JSON.stringify(name)}]`;
    const old = before !== null && typeof before === "object" ? before[name] : undefined;
    return fields(old, value, at);
  });
}
