// Package lsp is a language server for policies: diagnostics as edict check finds
// them, completion, hover, definitions, renaming, quick fixes, and values on a
// snapshot, over the language server protocol.
//
// server.go reads requests and answers them one after the other; analysis.go compiles
// a document with what the editor has unsaved, and keeps which expression may use
// which names; the other files have one feature each.
package lsp
