package plan

import (
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/schema"
)

// Known is a text that is known once a policy is compiled; "" says that it is
// not, or that there is none.
type Known struct {
	Value string
	// Param is the param that the text is and nothing else. Computed says that
	// it is made of params in another way. With neither it is written out.
	Param    string
	Computed bool
}

// WrittenOut says that no setting of the params changes the text.
func (k Known) WrittenOut() bool { return k.Value != "" && k.Param == "" && !k.Computed }

// Place says which objects of a kind something is about: all of them, unless
// the namespace or the name is known.
type Place struct {
	Namespace, Name Known
	// Input is the input that the objects come from: one that is off gives
	// none.
	Input string
}

// Place says where the objects of an input are.
func (in *Input) Place() Place {
	at := in.Named
	at.Input = in.Name
	if in.Narrow.Namespace.Value != "" {
		at.Namespace = in.Narrow.Namespace
	}
	return at
}

// Write is a kind and subresource that is written.
type Write struct {
	schema.GVK
	Subresource string
	Verb        WriteVerb
	Place       Place
}

// WriteVerb is how something is written.
type WriteVerb string

// The ways of writing.
const (
	WritePatch  WriteVerb = "patch"
	WriteCreate WriteVerb = "create"
	// WriteApply is a server-side apply, which makes the object if need be.
	WriteApply  WriteVerb = "apply"
	WriteDelete WriteVerb = "delete"
	// WriteEvent makes an Event, or counts one up.
	WriteEvent WriteVerb = "event"
	// WriteUpdate is never sent: that it is allowed is asked for by an
	// admission plugin when an owner's deletion is to be blocked.
	WriteUpdate WriteVerb = "update"
	// WriteBind and WriteEscalate are never sent: the API server asks for them
	// when a binding or a role is written by who does not have all its rights.
	WriteBind     WriteVerb = "bind"
	WriteEscalate WriteVerb = "escalate"
)

// Hold is a finalizer that the policy sets on objects of a kind.
type Hold struct {
	Pos document.Position
	schema.GVK
	Place Place
	// Finalizer is its name; its Value is empty when only an evaluation tells.
	Finalizer Known
}
