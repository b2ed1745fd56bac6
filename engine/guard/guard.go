// Package guard reports whether an effect may happen. A policy writes what its text
// says, as far as that is open: kinds of Kubernetes that are listed as open, and
// custom resources. Everything else, and fields that give rights or decide what
// becomes of an object, need an allowance of the installation for the policy,
// the API group, the kind and the field.
package guard

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// Guard checks effects. Its zero value allows nothing that is protected.
type Guard struct {
	Allowed []Allowance
	// Closed are the fields that pinned policies obey.
	Closed []Closed
	// Home is the namespace of the controller itself, where no policy writes
	// objects of a kind that is not allowed: they are policies, what was kept of
	// them, who leads, and whatever runs there runs with the controller's rights
	// at hand. "" is none.
	Home string
	// Assume takes what runs in Pods, and reading Secrets without their values, as
	// allowed. It is for simulations and tests, which know no installation.
	Assume bool
}

// Assuming returns the guard of a simulation or a test.
func (g Guard) Assuming() Guard {
	g.Assume = true
	return g
}

// Grants are what one policy may do of what is protected.
type Grants struct {
	policy  *plan.Policy
	guard   *Guard
	allowed []Allowance
	// harmless caches the fields that need no allowance, or have one in every namespace.
	harmless harmlessFields
}

// Of returns what a policy may do.
func (g *Guard) Of(p *plan.Policy) *Grants {
	out := &Grants{policy: p, guard: g}
	for _, a := range g.Allowed {
		if a.Policy == p.ID() {
			out.allowed = append(out.allowed, a)
		}
	}
	return out
}

// ErrLeftAlone is that a patch is not allowed of an object which Kubernetes itself keeps, in
// every namespace or in that of the system: whoever selects all ConfigMaps does not mean it.
var ErrLeftAlone = errors.New("it is left alone, for Kubernetes itself keeps it")

// Write is an effect that is allowed. Only Judge makes one, so that nothing else is written.
type Write struct{ effect *eval.Effect }

// Effect returns the effect.
func (w Write) Effect() *eval.Effect { return w.effect }

// Judge returns an effect that may be written, or an error with the reason why it may not.
func (g *Grants) Judge(e *eval.Effect) (Write, error) {
	if e.Verb == eval.VerbEvent {
		return Write{e}, nil
	}
	for _, n := range g.needs(e) {
		if g.allows(n, e.Target.Namespace()) {
			continue
		}
		if e.Verb == eval.VerbPatch && madeByKubernetes(e.Target) {
			return Write{}, fmt.Errorf("%s %s/%s: %w", e.Target.Kind(), e.Target.Namespace(), e.Target.Name(), ErrLeftAlone)
		}
		return Write{}, fmt.Errorf("the policy %s may not %s%s; the installation can allow it: %s", g.policy.ID(), n, g.elsewhere(n, e.Target.Namespace()), entry(g.policy.Name, n.gvk, n.field))
	}
	return Write{e}, nil
}

// Effects returns the effects of writes.
func Effects(writes []Write) []*eval.Effect {
	out := make([]*eval.Effect, len(writes))
	for i, w := range writes {
		out[i] = w.effect
	}
	return out
}

// Select returns the writes of some of their effects, which are in the same order.
func Select(writes []Write, effects []*eval.Effect) (out []Write) {
	for _, w := range writes {
		if len(effects) > 0 && effects[0] == w.effect {
			out, effects = append(out, w), effects[1:]
		}
	}
	return out
}

// elsewhere says of what is allowed in some namespaces that it is not in this one.
func (g *Grants) elsewhere(n need, namespace string) string {
	var in []string
	for _, a := range g.allowed {
		if a.covers(n, "") {
			in = append(in, a.Namespaces...)
		}
	}
	if len(in) == 0 {
		return ""
	}
	slices.Sort(in)
	return fmt.Sprintf(" in the namespace %s, only in %s", namespace, strings.Join(slices.Compact(in), ", "))
}

// verbs are what the verbs of effects need an allowance for, whatever they write.
var verbs = map[string]string{eval.VerbDelete: Deletion, eval.VerbScale: Scaling, eval.VerbEvict: Eviction}

// needs returns what an effect needs an allowance for.
func (g *Grants) needs(e *eval.Effect) (out []need) {
	gvk := e.Target.GVK()
	if home := g.guard.Home; home != "" && e.Target.Namespace() == home {
		out = append(out, need{gvk: gvk, field: Everything, home: home})
	}
	if field, ok := verbs[e.Verb]; ok {
		return append(out, need{gvk: gvk, field: field})
	}
	if e.Verb == eval.VerbApprove {
		return append(out, need{gvk: gvk, field: Approval + e.Signer})
	}
	return append(out, g.fields(e)...)
}

// fields returns what the object and the fields that an effect writes need an allowance for.
func (g *Grants) fields(e *eval.Effect) (out []need) {
	gvk := e.Target.GVK()
	system := configuresCluster(gvk, e.Target.Namespace(), e.Target.Name())
	closed := system || !Open(gvk)
	if closed && e.Verb != eval.VerbPatch {
		out = append(out, need{gvk: gvk, field: Creation, closed: true, system: system})
	}
	kind := patched{g.policy, gvk, e.Verb == eval.VerbPatch, e.Verb == eval.VerbPatch || e.Takes}
	if !system && g.harmless.cover(kind, e.Patch) {
		return out
	}
	var all fieldTree
	before := len(out)
	all.walk(e.Patch, func(path []string, f form) {
		n := g.guard.field(kind, path, f)
		if n.danger == harmless && closed && !g.free(e, path, f) {
			n = need{gvk: gvk, field: strings.Join(path, "."), closed: true, system: system}
		}
		if (n.closed || n.danger != harmless) && !g.allowsEverywhere(n) {
			out = append(out, n)
		}
	})
	if len(out) == before && !system {
		g.harmless.add(kind, &all)
	}
	return out
}

// free reports whether a field of a closed object needs no allowance: a parent of other
// fields, the identity of the object, or the digest of what was applied, which the engine
// computes.
func (g *Grants) free(e *eval.Effect, path []string, f form) bool {
	return f == inner || names(path) || e.Verb == eval.VerbApply && slices.Equal(path, []string{"metadata", "annotations", plan.AppliedKey(g.policy.Owner())})
}

// names reports whether a field identifies the object: a policy that may write
// any field may name the object.
func names(path []string) bool {
	name := strings.Join(path, ".")
	return name == "apiVersion" || name == "kind" || name == "metadata.name" || name == "metadata.namespace"
}

// allows reports whether an allowance covers a need in a namespace; "" is an
// object without one, or any namespace where it is not known.
func (g *Grants) allows(n need, namespace string) bool {
	if n.danger == workload && g.guard.Assume {
		return true
	}
	return slices.ContainsFunc(g.allowed, func(a Allowance) bool {
		return a.covers(n, namespace) && (n.obeyed == "" || a.Pinned)
	})
}

// allowsEverywhere reports whether an allowance covers a need in every namespace.
func (g *Grants) allowsEverywhere(n need) bool {
	if n.danger == workload && g.guard.Assume {
		return true
	}
	return slices.ContainsFunc(g.allowed, func(a Allowance) bool {
		return len(a.Namespaces) == 0 && a.covers(n, "") && (n.obeyed == "" || a.Pinned)
	})
}

// Values reports whether the policy sees the values of Secrets: only if it may
// read them so, or writes them.
func (g *Grants) Values() bool {
	return slices.ContainsFunc([]string{Values, "data", "stringData"}, func(field string) bool {
		return g.allows(need{gvk: schema.Secret, field: field, closed: true}, "")
	})
}

// hasFields reports whether there are fields at or below a value.
func hasFields(v value.Value) bool {
	switch v := v.(type) {
	case *value.Map:
		return v.Len() > 0
	case *value.List:
		return slices.ContainsFunc(v.Items(), hasFields)
	default:
		return false
	}
}
