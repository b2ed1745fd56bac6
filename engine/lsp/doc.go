// Package lsp is a language server for policies: diagnostics as edict check finds
// them, completion, hover, definitions, renaming, quick fixes, and values on a
// snapshot, over the language server protocol.
//
// loop.go reads requests, and has documents checked while there are none; server.go
// answers them one after the other; folder.go loads a document with the other policies of its
// folder and with what the editor has unsaved; analysis.go keeps which expression may
// use which names; the other files have one feature each.
package lsp
