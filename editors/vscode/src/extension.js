// The client of edict lsp.
const vscode = require('vscode');
const path = require('path');
const {LanguageClient} = require('vscode-languageclient/node');

let client;

// absolute returns a path of the settings, which may be relative to the workspace.
function absolute(file) {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return file && folder && !path.isAbsolute(file) ? path.join(folder, file) : file;
}

// options are those that the server takes.
function options() {
  const s = vscode.workspace.getConfiguration('edict');
  return {schemas: s.get('schemas').map(absolute), snapshot: absolute(s.get('snapshot')), key: s.get('key'), now: s.get('now')};
}

async function start() {
  const s = vscode.workspace.getConfiguration('edict');
  client = new LanguageClient('edict', 'Edict', {command: s.get('path'), args: ['lsp']}, {
    documentSelector: [{scheme: 'file', language: 'yaml', pattern: s.get('files')}],
    initializationOptions: options(),
    // Policies are checked with the others of their folder, their Rego and their CRDs.
    synchronize: {fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{yaml,yml,json,rego}')},
  });
  await client.start();
}

// evaluateHere shows the value of the expression at the cursor.
async function evaluateHere() {
  const editor = vscode.window.activeTextEditor;
  if (!editor || !client) return;
  try {
    const result = await client.sendRequest('workspace/executeCommand', {
      command: 'edict.evaluate',
      arguments: [{uri: client.code2ProtocolConverter.asUri(editor.document.uri), position: editor.selection.active}],
    });
    const content = `# ${result.expression}\n# for ${result.key}\n${JSON.stringify(result.value, null, 2)}\n`;
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({language: 'jsonc', content}), {viewColumn: vscode.ViewColumn.Beside, preserveFocus: true, preview: true});
  } catch (err) {
    vscode.window.showWarningMessage(`Edict: ${err.message}`);
  }
}

async function restart() {
  await client?.dispose();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('edict.evaluateHere', evaluateHere),
    vscode.commands.registerCommand('edict.restart', restart),
    vscode.workspace.onDidChangeConfiguration(e => e.affectsConfiguration('edict') && restart()),
  );
  await start();
}

module.exports = {activate, deactivate: () => client?.stop()};
