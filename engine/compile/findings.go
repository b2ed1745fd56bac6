package compile

import "github.com/edict-dev/edict/engine/document"

// findings are the problems of a policy that is being compiled.
type findings struct {
	document.Problems
	// at is where the part is that is being compiled.
	at document.Position
}

// enter notes which part is being compiled.
func (f *findings) enter(at document.Position) { f.at = at }

// surviving makes a panic an error of the policy that is compiled: one text must
// not end a process that has others. The part under way is named.
func (f *findings) surviving(compile func()) {
	defer func() {
		if fault := recover(); fault != nil {
			f.Hintf(f.at, "this is a bug of edict; please report it with the policy", "internal error (panic): %v", fault)
		}
	}()
	compile()
}
