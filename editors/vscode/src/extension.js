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

async function start() {
  const s = vscode.workspace.getConfiguration('edict');
  client = new LanguageClient('edict', 'Edict', {command: s.get('path'), args: ['lsp']}, {
    documentSelector: [{scheme: 'file', language: 'yaml', pattern: s.get('files')}],
    initializationOptions: {schemas: s.get('schemas').map(absolute)},
    // Policies are checked with the others of their folder, their Rego and their CRDs.
    synchronize: {fileEvents: vscode.workspace.createFileSystemWatcher('**/*.{yaml,yml,json,rego}')},
  });
  await client.start();
}

async function restart() {
  await client?.dispose();
  await start();
}

async function activate(context) {
  context.subscriptions.push(
    vscode.commands.registerCommand('edict.restart', restart),
    vscode.workspace.onDidChangeConfiguration(e => e.affectsConfiguration('edict') && restart()),
  );
  await start();
}

module.exports = {activate, deactivate: () => client?.stop()};
