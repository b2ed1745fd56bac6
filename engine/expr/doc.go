// Package expr is the seam between the engine and the languages that
// policies are written in. A language compiles a text into a Program; the
// engine runs it against a Scope, with a Meter that bounds what it may cost.
//
// It also declares what a builtin is: a plain Go function with types, a cost
// and a description, which every language offers under the same name.
package expr
