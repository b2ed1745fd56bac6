// Package guard says whether an effect may happen. Some fields decide what
// becomes of an object, or what it may do in the cluster; no policy writes
// them unless the installation allows it for that policy, kind and field.
package guard

import (
	"fmt"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// Allowance opens one protected thing for one policy.
type Allowance struct {
	Policy string
	Kind   string
	// Field is a dotted path, or "*" for the kind itself.
	Field string
}

// Deletion is the field of an Allowance that opens deleting objects.
const Deletion = "delete"

// Guard checks effects. Its zero value allows nothing that is protected.
type Guard struct {
	Allowed []Allowance
	// Home is the namespace of the controller itself, where no policy writes
	// objects of a kind that is not open: they are policies, what was kept of
	// them, who leads, and whatever runs there runs with the controller's rights
	// at hand. "" is none.
	Home string
}

// New makes a guard of what an installation allows.
func New(allowances []v1alpha1.Allowance) Guard {
	var g Guard
	for _, a := range allowances {
		for _, field := range a.Fields {
			g.Allowed = append(g.Allowed, Allowance{Policy: a.Policy.Value, Kind: a.ForKind.Value, Field: field.Value})
		}
	}
	return g
}

// protectedKinds are kinds that a policy may not write at all.
var protectedKinds = map[string]bool{
	"Secret": true, "ServiceAccount": true,
	"Role": true, "ClusterRole": true, "RoleBinding": true, "ClusterRoleBinding": true,
	"CustomResourceDefinition": true, "ValidatingWebhookConfiguration": true, "MutatingWebhookConfiguration": true,
	"ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true,
	"MutatingAdmissionPolicy": true, "MutatingAdmissionPolicyBinding": true, "APIService": true,
}

// protectedFields are fields that a policy may not write, by the end of their
// path.
var protectedFields = []string{
	"metadata.finalizers", "metadata.ownerReferences", "metadata.deletionTimestamp",
	"serviceAccountName", "serviceAccount", "securityContext", "automountServiceAccountToken", "hostNetwork", "hostPID", "hostIPC",
}

// Check refuses an effect that is not allowed, with the reason.
func (g *Guard) Check(policy string, e *eval.Effect) error {
	if e.Verb == eval.VerbEvent {
		return nil
	}
	if protectedKinds[e.Target.Kind] && !g.allows(policy, e.Target.Kind, "*") {
		return fmt.Errorf("the policy %s may not write objects of kind %s; the installation can allow it", policy, e.Target.Kind)
	}
	if g.Home != "" && e.Target.Namespace == g.Home && !g.allows(policy, e.Target.Kind, "*") {
		return fmt.Errorf("the policy %s may not write objects of kind %s in %s, the namespace of the controller itself; the installation can allow it", policy, e.Target.Kind, g.Home)
	}
	if e.Verb == eval.VerbDelete && !g.allows(policy, e.Target.Kind, Deletion) {
		return fmt.Errorf("the policy %s may not delete objects of kind %s; the installation can allow it", policy, e.Target.Kind)
	}
	var refused error
	walk(e.Patch, nil, func(path []string) {
		field := strings.Join(path, ".")
		for _, p := range protectedFields {
			if (field == p || strings.HasSuffix(field, "."+p)) && !g.allows(policy, e.Target.Kind, field) && refused == nil {
				refused = fmt.Errorf("the policy %s may not write %s of %s; the installation can allow it", policy, field, e.Target.Kind)
			}
		}
	})
	return refused
}

func (g *Guard) allows(policy, kind, field string) bool {
	for _, a := range g.Allowed {
		if a.Policy == policy && a.Kind == kind && (a.Field == field || a.Field == "*") {
			return true
		}
	}
	return false
}

// walk visits the path of every field of a patch, through lists too.
func walk(v value.Value, path []string, visit func([]string)) {
	switch v := v.(type) {
	case *value.Map:
		for i := range v.Len() {
			key, field := v.At(i)
			inner := append(path[:len(path):len(path)], key)
			visit(inner)
			walk(field, inner, visit)
		}
	case *value.List:
		for _, item := range v.Items() {
			walk(item, path, visit)
		}
	}
}
