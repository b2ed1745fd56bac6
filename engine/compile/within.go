package compile

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/schema"
)

// The values of within.
const (
	withinNamespace = "namespace"
	withinCluster   = "cluster"
)

// near restricts lists to the namespace of the primary object.
type near struct {
	kinds    *kinds
	problems *findings
	primary  schema.GVK
	// only is the namespace of all primary objects, if there is only one.
	only analyze.ParamValue
}

// loose reports whether it is unknown that objects of a kind and keys have a namespace.
func (n *near) loose(of schema.GVK) bool {
	_, known := n.kinds.namespaced(of)
	_, also := n.kinds.namespaced(n.primary)
	return !known || !also
}

// restrict restricts a list to the namespace of the key, unless it says where it is,
// and what is watched if the policy has one namespace. What children come to may be
// in every namespace.
func (n *near) restrict(in input) {
	n.check(in)
	here, known := n.kinds.namespaced(in.plan.Source.GVK)
	if known && !here || n.cluster() || in.doc.Get.Set() || in.doc.Namespace.Set() || in.doc.Owned || in.doc.Within.Value == withinCluster {
		return
	}
	in.plan.Own = true
	if known && n.only.Value != "" {
		in.plan.Source.Namespace, in.plan.Narrow.Namespace = n.only.Value, n.only
	}
}

// cluster reports whether the primary objects are known to have no namespace.
func (n *near) cluster() bool {
	namespaced, known := n.kinds.namespaced(n.primary)
	return known && !namespaced
}

// check rejects a within that says nothing.
func (n *near) check(in input) {
	text := in.doc.Within
	if !text.Set() {
		return
	}
	here, known := n.kinds.namespaced(in.plan.Source.GVK)
	switch {
	case text.Value != withinNamespace && text.Value != withinCluster:
		n.reject(text, "cluster, or namespace, which is the default", "within cannot be %q", text.Value)
	case in.doc.Get.Set():
		n.reject(text, `leave it out; of an object in another namespace, get returns {"namespace": ..., "name": ...}`, "the input %q has get, so within has no meaning", in.plan.Written())
	case in.doc.Namespace.Set():
		n.reject(text, "leave one of them out", "the input %q has namespace and within", in.plan.Written())
	case known && !here:
		n.reject(text, "leave it out", "a %s belongs to no namespace", in.plan.Source.Kind)
	case n.cluster():
		n.reject(text, "leave it out, or restrict the input with namespace: or where:",
			"a %s belongs to no namespace, so the input %q has the objects of all namespaces", n.primary.Kind, in.plan.Written())
	}
}

func (n *near) reject(text v1alpha1.Text, hint, format string, args ...any) {
	n.problems.Hintf(text.Pos(), hint, format, args...)
}
