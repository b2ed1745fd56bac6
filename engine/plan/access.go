package plan

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// Access is one thing that a policy must be allowed to do: a verb on the
// objects of a kind, or on a subresource of theirs.
type Access struct {
	schema.GVK
	Subresource string
	// Resource is the one that the verb is about where it is not that of the kind: one
	// without objects, such as signers.
	Resource string
	Verb     string
	// Namespace is the only one that is needed; "" is all. Param is the param
	// that names it, "" when it is written out.
	Namespace, Param string
	// Name is the only object that is meant; "" is all.
	Name string
}

// Settings say for which params accesses are to be enough.
type Settings int

// The settings.
const (
	// InForce are the values that the policy was compiled with.
	InForce Settings = iota
	// Any are all values that the policy takes: whoever grants permissions once
	// must not have to come back when an operator sets a param.
	Any
)

// Accesses derives what the policy must be allowed to do, sorted: to watch
// what it reads, and to write what its actions write.
func (p *Policy) Accesses(s Settings) []Access {
	a := accesses{Settings: s, policy: p}
	a.watch(p.Primary.GVK, analyze.Scope{Namespace: p.Primary.Within})
	for _, in := range p.Inputs {
		at := in.Narrow
		at.Input = in.Name
		a.watch(in.Source.GVK, at)
	}
	for _, t := range p.Targets {
		a.watch(t.Source.GVK, t.Narrow)
	}
	if s == InForce && p.Mode == Shadow {
		return a.least() // it only looks on
	}
	for _, w := range p.Writes {
		a.write(w)
	}
	return a.least()
}

// ReadLabels returns the policy as one that also reads the labels of its primary
// objects: a change of them wakes their keys.
func (p *Policy) ReadLabels() *Policy {
	out := *p
	out.ObjectReads = value.Merge(p.ObjectReads, &value.Mask{Fields: map[string]*value.Mask{"metadata": {Fields: map[string]*value.Mask{"labels": value.KeepAll}}}})
	return &out
}

// SeeValues makes the policy read the objects of a kind with the values that
// are digests otherwise. It is called before the policy runs.
func (p *Policy) SeeValues(gvk schema.GVK) {
	sources := []*world.Source{&p.Primary.Source}
	for _, in := range p.Inputs {
		sources = append(sources, &in.Source)
	}
	for _, t := range p.Targets {
		sources = append(sources, &t.Source)
	}
	for _, s := range sources {
		if s.GVK == gvk && !s.Values {
			s.Values = true
		}
	}
}

// accesses gathers accesses.
type accesses struct {
	Settings
	policy *Policy
	found  []Access
}

func (a *accesses) watch(gvk schema.GVK, at analyze.Scope) {
	for _, verb := range []string{"get", "list", "watch"} {
		a.add(Access{GVK: gvk, Verb: verb}, at)
	}
}

// requests are the verbs of the requests that a write may need. Who applies an
// object that does not exist must be allowed to create it; the recorder of
// events makes one, and patches its count later.
var requests = map[analyze.WriteVerb][]string{
	analyze.WritePatch: {"patch"}, analyze.WriteCreate: {"create"}, analyze.WriteApply: {"patch", "create"},
	analyze.WriteDelete: {"delete"}, analyze.WriteEvent: {"create", "patch"}, analyze.WriteUpdate: {"update"},
	analyze.WriteScale: {"patch"}, analyze.WriteEvict: {"create"},
	analyze.WriteApprove: {"patch"}, analyze.WriteSigner: {"approve"},
	analyze.WriteBind: {"bind"}, analyze.WriteEscalate: {"escalate"},
}

// Signers is the resource by which is allowed for which signers requests are approved.
const Signers = "signers"

// resources are those of verbs that are not about the objects of the kind.
var resources = map[analyze.WriteVerb]string{analyze.WriteSigner: Signers}

func (a *accesses) write(w analyze.Write) {
	for _, verb := range requests[w.Verb] {
		at := w.Scope
		if verb == "create" {
			at.Name = analyze.ParamValue{} // the name is not known to the server when it asks
		}
		a.add(Access{GVK: w.GVK, Subresource: w.Subresource, Resource: resources[w.Verb], Verb: verb}, at)
	}
}

// add adds an access at a place, as far as the settings let it be narrow.
func (a *accesses) add(x Access, at analyze.Scope) {
	if a.Settings == InForce && a.off(at.Input) {
		return
	}
	if a.Settings == InForce || !at.Namespace.Computed {
		x.Namespace, x.Param = at.Namespace.Value, at.Namespace.Param
	}
	if a.Settings == InForce || at.Name.WrittenOut() {
		x.Name = at.Name.Value
	}
	a.found = append(a.found, x)
}

func (a *accesses) off(input string) bool {
	return slices.ContainsFunc(a.policy.Inputs, func(in *Input) bool { return in.Name == input && in.Off })
}

// least leaves out what another access includes.
func (a *accesses) least() []Access {
	slices.SortFunc(a.found, compareAccess)
	a.found = slices.Compact(a.found)
	return slices.DeleteFunc(slices.Clone(a.found), func(x Access) bool {
		return slices.ContainsFunc(a.found, func(other Access) bool { return other != x && other.Includes(x) })
	})
}

// Includes reports whether who has this access has another one, too.
func (a Access) Includes(other Access) bool {
	return a.GVK == other.GVK && a.Subresource == other.Subresource && a.Resource == other.Resource && a.Verb == other.Verb &&
		(a.Namespace == "" || a.Namespace == other.Namespace && a.Param == other.Param) &&
		(a.Name == "" || a.Name == other.Name)
}

func compareAccess(a, b Access) int {
	return cmp.Or(
		cmp.Compare(a.Group(), b.Group()), cmp.Compare(a.APIVersion, b.APIVersion), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Subresource, b.Subresource), cmp.Compare(a.Resource, b.Resource),
		cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Param, b.Param), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Verb, b.Verb))
}
