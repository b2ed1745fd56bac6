package compile

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/value"
)

// leavingName is true in the evaluation of an object that no longer matches
// the policy's selector.
const leavingName = "leaving"

// follows reports whether a policy has to see objects that leave its selector:
// it sets a finalizer, or uses the name leaving. It looks at the text, because
// what is watched is needed before expressions are compiled; too often yes only
// widens the watch.
func follows(spec *document.Node) bool {
	found := false
	spec.Walk(func(key string, n *document.Node) {
		found = found || key == "finalizer" || n.Kind == document.String && strings.Contains(n.Text, leavingName)
	})
	return found
}

// leaving fills in what is done about objects that leave the selector.
func (b *builder) leaving() {
	p := &b.plan.Primary
	for _, r := range b.plan.Rules {
		r.Leaving = r.Gate.Reaches(func(n *analyze.Node) bool { return n == b.nodes[leavingName] })
	}
	if !p.Follows {
		return
	}
	for _, h := range b.plan.FinalizerUses {
		if h.GVK == p.GVK && h.Finalizer.Value != "" && !slices.Contains(p.Finalizers, h.Finalizer.Value) {
			p.Finalizers = append(p.Finalizers, h.Finalizer.Value)
		}
	}
	finalizers := &value.Mask{Fields: map[string]*value.Mask{"metadata": {Fields: map[string]*value.Mask{"finalizers": value.KeepAll}}}}
	b.plan.ObjectReads = value.Merge(b.plan.ObjectReads, finalizers)
}
