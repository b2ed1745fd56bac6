// A stand-in for the module vscode, as far as the client of the language server uses it:
// one workspace with documents, and collections of what is shown.
const path = require('path');
const {pathToFileURL, fileURLToPath} = require('url');

class Uri {
  constructor(href) { this.href = href; this.scheme = new URL(href).protocol.slice(0, -1); this.fsPath = this.scheme === 'file' ? fileURLToPath(href) : ''; this.path = new URL(href).pathname; }
  static parse(text) { return new Uri(text); }
  static file(file) { return new Uri(pathToFileURL(file).href); }
  with() { return this; }
  toString() { return this.href; }
}
class Position { constructor(line, character) { Object.assign(this, {line, character}); } }
class Range { constructor(a, b, c, d) { [this.start, this.end] = c === undefined ? [a, b] : [new Position(a, b), new Position(c, d)]; } }
class Location { constructor(uri, range) { Object.assign(this, {uri, range}); } }
class Diagnostic { constructor(range, message, severity) { Object.assign(this, {range, message, severity}); } }
class DiagnosticRelatedInformation { constructor(location, message) { Object.assign(this, {location, message}); } }
class CodeActionKind { constructor(value = '') { this.value = value; } append(part) { return new CodeActionKind(this.value ? `${this.value}.${part}` : part); } }
for (const kind of ['Empty', 'QuickFix', 'Refactor', 'Source', 'RefactorExtract', 'RefactorInline', 'RefactorRewrite', 'RefactorMove', 'SourceOrganizeImports', 'SourceFixAll', 'Notebook']) {
  CodeActionKind[kind] = new CodeActionKind();
}
class RelativePattern { constructor(base, pattern) { Object.assign(this, {base, pattern}); } }
class Disposable { constructor(dispose) { this.dispose = dispose ?? (() => {}); } static from() { return new Disposable(); } }
class EventEmitter {
  listeners = new Set();
  event = (listener, self) => { const f = e => listener.call(self, e); this.listeners.add(f); return new Disposable(() => this.listeners.delete(f)); };
  fire(e) { return Promise.all([...this.listeners].map(f => f(e))); }
  dispose() { this.listeners.clear(); }
}
class CancellationTokenSource {
  token = {isCancellationRequested: false, onCancellationRequested: () => new Disposable()};
  cancel() {}
  dispose() {}
}

// matches is languages.match for patterns such as **/policies/**/*.yaml.
function matches(selector, document) {
  const glob = p => new RegExp('^' + p.replace(/[.+^$()|[\]\\]/g, '\\$&').replace(/\{([^}]*)\}/g, (_, l) => `(${l.replace(/,/g, '|')})`)
    .replace(/\*\*\/?|\*/g, s => s === '*' ? '[^/]*' : '.*') + '$');
  return [selector].flat().some(s => s.language === document.languageId && s.scheme === document.uri.scheme && glob(s.pattern).test(document.uri.path)) ? 10 : 0;
}

// workspace returns the module for a folder, with settings and texts of documents.
function workspace(folder, settings, texts) {
  const events = {}, on = name => (events[name] ??= new EventEmitter()).event;
  const shown = new Map(), commands = new Map(), changed = new EventEmitter(), messages = [];
  const documents = Object.entries(texts).map(([name, text]) => ({
    uri: Uri.file(path.join(folder, name)), languageId: 'yaml', version: 1, isClosed: false, text, getText() { return this.text; },
  }));
  const output = {name: 'test', append: t => messages.push(t), appendLine: t => messages.push(t), replace() {}, clear() {}, show() {}, hide() {}, dispose() {},
    trace() {}, debug() {}, info: t => messages.push(t), warn: t => messages.push(t), error: t => messages.push(t), logLevel: 1, onDidChangeLogLevel: on('level')};
  // Whatever is not here does nothing: a class, a function or an event of that name.
  const rest = (known, what) => new Proxy(known, {get: (o, name) => name in o ? o[name] : name === 'then' ? undefined : what(name)});
  const feature = name => /^on[A-Z]/.test(String(name)) ? on(name) : () => new Disposable();
  const api = rest({
    Uri, Position, Range, Location, Diagnostic, DiagnosticRelatedInformation, CodeActionKind, RelativePattern, Disposable, EventEmitter, CancellationTokenSource,
    version: '1.91.0', env: {appName: 'test', language: 'en', uiKind: 1},
    DiagnosticSeverity: {Error: 0, Warning: 1, Information: 2, Hint: 3},
    workspace: rest({
      workspaceFolders: [{uri: Uri.file(folder), name: 'test', index: 0}], textDocuments: documents, notebookDocuments: [],
      getConfiguration: section => ({get: (key, other) => (section === 'edict' ? settings[key] : undefined) ?? other, has: () => false, inspect: () => undefined}),
      getWorkspaceFolder: () => undefined,
      createFileSystemWatcher: () => rest({}, feature),
    }, feature),
    languages: rest({
      match: matches, createDiagnosticCollection: () => ({
        set: (uri, list) => { shown.set(uri.toString(), list); changed.fire(); },
        delete: uri => { shown.delete(uri.toString()); changed.fire(); }, clear: () => shown.clear(), dispose() {},
      }),
    }, feature),
    window: rest({
      createOutputChannel: () => output, tabGroups: rest({all: []}, feature), visibleTextEditors: [], visibleNotebookEditors: [], state: {focused: true},
      showErrorMessage: async t => { messages.push(t); }, showWarningMessage: async t => { messages.push(t); },
    }, feature),
    commands: {registerCommand: (name, f) => { commands.set(name, f); return new Disposable(); }, executeCommand: async () => {}},
    extensions: {all: [], getExtension: () => undefined, onDidChange: on('extensions')}, l10n: {t: s => s},
  }, () => class {});

  // until waits for what is shown of a document.
  async function until(name, wanted) {
    const uri = Uri.file(path.join(folder, name)).toString();
    for (let tries = 0; !(shown.has(uri) && wanted(shown.get(uri))); tries++) {
      await new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${name} shows ${JSON.stringify(shown.get(uri))}; messages: ${messages.join('\n')}`)), 30_000).unref();
        const d = changed.event(() => { clearTimeout(late); d.dispose(); resolve(); });
      });
    }
    return shown.get(uri);
  }
  // edit gives a document another text.
  async function edit(name, text) {
    const document = documents.find(d => d.uri.fsPath === path.join(folder, name));
    document.text = text;
    document.version++;
    await events.onDidChangeTextDocument.fire({document, contentChanges: [{text}], reason: undefined});
  }
  return {api, until, edit, commands};
}

module.exports = {workspace};
