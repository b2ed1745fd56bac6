package analyze

import "github.com/edict-dev/edict/engine/schema"

// ParamValue is a text that is known once a policy is compiled; an empty Value
// says that it is not, or that there is none.
type ParamValue struct {
	Value string
	// Param is the param that the text is and nothing else. Computed says that
	// it is made of params in another way. With neither it is written out.
	Param    string
	Computed bool
}

// WrittenOut reports whether no setting of the params changes the text.
func (v ParamValue) WrittenOut() bool { return v.Value != "" && v.Param == "" && !v.Computed }

// Scope says which objects of a kind are meant: all of them, unless the namespace
// or the name is known.
type Scope struct {
	Namespace, Name ParamValue
	// Input is the input that the objects come from: one that is off has none.
	Input string
}

// Write is a kind and subresource that a policy writes.
type Write struct {
	schema.GVK
	Subresource string
	Verb        WriteVerb
	Scope       Scope
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
	// WriteScale patches the subresource scale, WriteEvict creates the subresource
	// eviction.
	WriteScale WriteVerb = "scale"
	WriteEvict WriteVerb = "evict"
	// WriteApprove patches the subresource approval. WriteSigner is never sent: the API
	// server asks whether requests for the signer that the scope names may be approved.
	WriteApprove WriteVerb = "approve"
	WriteSigner  WriteVerb = "signer"
	// WriteEvent makes an Event, or counts one up.
	WriteEvent WriteVerb = "event"
	// WriteUpdate is never sent: an admission plugin asks whether it is allowed
	// when an owner's deletion is to be blocked.
	WriteUpdate WriteVerb = "update"
	// WriteBind and WriteEscalate are never sent: the API server asks for them
	// when a binding or a role is written by a user who does not have all its
	// rights.
	WriteBind     WriteVerb = "bind"
	WriteEscalate WriteVerb = "escalate"
)
