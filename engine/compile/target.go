package compile

import (
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// target is the object of an action while the action is compiled.
type target struct {
	ref plan.ObjectRef
	// candidates are the objects that it may be.
	candidates []located
	// of is the type of the object.
	of *schema.Type
}

// located are the objects of a root, and where they are.
type located struct {
	root analyze.Root
	gvk  schema.GVK
	at   analyze.Scope
}

// primary reports whether the target may be the primary object.
func (t *target) primary() bool {
	return slices.ContainsFunc(t.candidates, func(c located) bool { return c.root == analyze.Object })
}

// read records that an action reads parts of its target: what it writes is
// compared with what is there.
func (t *target) read(n *analyze.Node, mask *value.Mask) {
	for _, c := range t.candidates {
		n.Compares.Add(c.root, value.Merge(mask, baseMask))
	}
}

// write records that an action writes its target.
func (t *target) write(n *analyze.Node, subresource string, verb analyze.WriteVerb) {
	for _, c := range t.candidates {
		n.Write(analyze.Write{GVK: c.gvk, Subresource: subresource, Verb: verb, Scope: c.at})
	}
}

// create records that an action may make its target.
func (t *target) create(n *analyze.Node, creates bool) {
	if creates {
		t.write(n, "", analyze.WriteCreate)
	}
}

// event records that Events are made where the target is.
func (t *target) event(n *analyze.Node) {
	for _, c := range t.candidates {
		at := c.at
		at.Name = analyze.ParamValue{}
		n.Write(analyze.Write{GVK: schema.GVK{APIVersion: "v1", Kind: "Event"}, Verb: analyze.WriteEvent, Scope: at})
	}
}

// finalizer records that an action leaves a finalizer on its target.
func (t *target) finalizer(n *analyze.Node, at document.Position, name analyze.ParamValue) {
	for _, c := range t.candidates {
		n.Finalizers = append(n.Finalizers, analyze.FinalizerUse{Pos: at, GVK: c.gvk, Scope: c.at, Finalizer: name})
	}
}
