// The packaged extension, with edict lsp: EDICT is the program.
const assert = require('assert');
const fs = require('fs');
const Module = require('module');
const os = require('os');
const path = require('path');
const test = require('node:test');
const {workspace} = require('./vscode.js');

const right = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: mark
      when: object.spec.?unschedulable.orValue(false)
      do: [{labels: {set: {a: ""}}}]
`;
const allowances = 'apiVersion: edict.dev/v1alpha1\nkind: Allowances\nmetadata: {name: a}\nspec:\n  allow:\n    - {policy: p, apiGroup: "", kind: Node, fields: [metadata.labels.a]}\n';
const wrong = right.replace('unschedulable', 'unschedulabel');

test('the extension starts edict lsp, and shows what it finds', {timeout: 120_000}, async t => {
  const folder = fs.realpathSync(fs.mkdtempSync(path.join(os.tmpdir(), 'edict-')));
  t.after(() => fs.rmSync(folder, {recursive: true}));
  for (const [name, text] of [['policies/p.yaml', wrong], ['policies/allowances.yaml', allowances], ['other/q.yaml', wrong]]) {
    fs.mkdirSync(path.dirname(path.join(folder, name)), {recursive: true});
    fs.writeFileSync(path.join(folder, name), text);
  }
  const properties = require('../package.json').contributes.configuration.properties;
  const settings = Object.fromEntries(Object.entries(properties).map(([name, p]) => [name.replace('edict.', ''), p.default]));
  const w = workspace(folder, {...settings, path: process.env.EDICT}, {'policies/p.yaml': wrong, 'other/q.yaml': wrong});
  const load = Module._load;
  t.after(() => { Module._load = load; });
  Module._load = (request, ...rest) => request === 'vscode' ? w.api : load(request, ...rest);

  const {activate, deactivate} = require('../dist/extension.js');
  const context = {subscriptions: []};
  await activate(context);
  t.after(deactivate);
  for (const {command} of require('../package.json').contributes.commands) assert.ok(w.commands.has(command), command);

  const list = await w.until('policies/p.yaml', l => l.length > 0);
  assert.strictEqual(list[0].severity, 0);
  assert.strictEqual(list[0].source, 'edict');
  assert.match(list[0].message, /did you mean "unschedulable"/);
  assert.strictEqual(list[0].range.start.line, 7);

  await w.edit('policies/p.yaml', right);
  await w.until('policies/p.yaml', l => l.length === 0);
  await assert.rejects(Promise.race([w.until('other/q.yaml', () => true), new Promise((_, no) => setTimeout(no, 100, new Error('not shown')))]), /not shown/);

  await w.commands.get('edict.restart')();
  await w.edit('policies/p.yaml', wrong);
  await w.until('policies/p.yaml', l => l.length > 0);
});
