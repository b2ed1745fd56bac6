package guard

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/identity"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
)

// What an allowance can open of a kind besides its fields.
const (
	// Everything is all fields, creating and deleting.
	Everything = "*"
	// Creation is making objects of a kind that is not open.
	Creation = "create"
	// Deletion is deleting objects.
	Deletion = "delete"
	// Scaling is setting how many replicas an object has, Eviction is evicting Pods.
	Scaling  = "scale"
	Eviction = "evict"
	// Approval and the name of a signer, or of a domain and /*, is approving and denying
	// CertificateSigningRequests for it.
	Approval = "approve:"
	// Reading is reading objects of a protected kind: Secrets, with a digest in
	// place of each value.
	Reading = "read"
	// Values is reading the values of Secrets.
	Values = "values"
)

// Allowance opens one protected thing for one policy.
type Allowance struct {
	Policy string
	// Group is the API group, "" the core group; AnyGroup says that none was named.
	Group    string
	AnyGroup bool
	Kind     string
	// Field is a dotted path, or one of the constants above.
	Field string
	// Namespaces are those that it holds in; none means everywhere.
	Namespaces []string
	// Pinned reports whether it is of a pinned PolicySet.
	Pinned bool
}

// Closed is a field that a pinned policy obeys: writing it needs an allowance that is bound
// to a text, too.
type Closed struct {
	// Policy is the one that obeys.
	Policy string
	// Group, AnyGroup and Kind are as in Allowance.
	Group    string
	AnyGroup bool
	Kind     string
	// Field is a dotted path, or Everything.
	Field string
}

// covers reports whether a write of a field may change the closed one: it is that, below
// it, or replaces what holds it.
func (c *Closed) covers(gvk schema.GVK, field string, f form) bool {
	return c.Kind == gvk.Kind && (c.AnyGroup || c.Group == gvk.Group()) && (covered(field, c.Field) || f != inner && covered(c.Field, field))
}

// Add adds the allowances of a PolicySet; set is empty for those of files.
func (g *Guard) Add(set string, pinned bool, allowances []v1alpha1.Allowance) {
	for _, a := range allowances {
		one := Allowance{Policy: identity.PolicyID(set, a.Policy.Value), Group: a.APIGroup.Value, AnyGroup: !a.APIGroup.Set(), Kind: a.ForKind.Value, Pinned: pinned}
		for _, namespace := range a.Namespaces {
			one.Namespaces = append(one.Namespaces, namespace.Value)
		}
		for _, field := range a.Fields {
			one.Field = field.Value
			g.Allowed = append(g.Allowed, one)
		}
		for _, field := range a.Obeys {
			if one.Pinned {
				g.Closed = append(g.Closed, Closed{one.Policy, one.Group, one.AnyGroup, one.Kind, field.Value})
			}
		}
	}
}

// New returns a guard with the allowances of files.
func New(allowances []v1alpha1.Allowance) Guard {
	var g Guard
	g.Add("", false, allowances)
	return g
}

// covers reports whether it opens what is needed.
func (a *Allowance) covers(n need, namespace string) bool {
	switch {
	case a.Kind != n.gvk.Kind, !a.AnyGroup && a.Group != n.gvk.Group(),
		namespace != "" && len(a.Namespaces) > 0 && !slices.Contains(a.Namespaces, namespace):
		return false
	case a.Field == Everything, a.Field == n.field:
		return true
	case n.home != "":
		return false
	case strings.HasPrefix(n.field, Approval):
		return strings.HasPrefix(a.Field, Approval) && plan.SignerIn(a.Field, n.field)
	case n.key != "":
		return a.opensKey(strings.TrimSuffix(n.field, n.key), n.key)
	default: // a field that gives rights is named itself
		return (n.closed || n.danger == workload) && strings.HasPrefix(n.field, a.Field+".")
	}
}

// opensKey reports whether it opens a label or an annotation, below a path with a dot at its
// end: all of them, or those that begin with what stands before /*. Of a key that is computed
// it opens what may come of it.
func (a *Allowance) opensKey(path, key string) bool {
	if strings.HasPrefix(path, a.Field+".") {
		return true
	}
	known, _, computed := strings.Cut(key, "${")
	domain, all := strings.CutSuffix(a.Field, "*")
	all = all && strings.HasSuffix(domain, "/")
	return all && strings.HasPrefix(path+key, domain) || computed && (strings.HasPrefix(a.Field, path+known) || all && strings.HasPrefix(domain, path+known))
}

// need is something that needs an allowance.
type need struct {
	gvk schema.GVK
	// field is as in Allowance.
	field  string
	danger danger
	// key is the key of the label or annotation, empty for any other field.
	key string
	// why is the risk of a write; it is empty if the name of the field shows the risk.
	why string
	// obeyed is the pinned policy that obeys the field, if that is why.
	obeyed string
	// closed says that the kind is not open, home which namespace is the
	// controller's own, if that is why.
	closed bool
	home   string
	// system says that the object is closed because it configures the cluster.
	system bool
}

// rights reports whether who decides the value uses the rights of the writer. Labels and
// annotations give none by themselves, unless a pinned policy obeys them.
func (n need) rights() bool {
	return (n.danger != harmless || n.closed || n.field != "") && (n.key == "" || n.obeyed != "")
}

// String says what would be done.
func (n need) String() string {
	kind, closed := "objects of kind "+n.gvk.Kind, ""
	switch {
	case n.system:
		closed = "s that configure the cluster (those in " + strings.Join(systemNamespaces, " and ") + ", and " + rootCA + ")"
		kind = n.gvk.Kind
	case n.closed:
		closed = ", a kind that is not open to policies"
	}
	switch {
	case n.home != "":
		return "write " + kind + " in " + n.home + ", the namespace of the controller itself"
	case n.field == Deletion:
		return "delete " + kind
	case n.field == Scaling:
		return "scale " + kind
	case n.field == Eviction:
		return "evict " + kind
	case strings.HasPrefix(n.field, Approval):
		return "approve or deny " + kind + " for the signer " + strings.TrimPrefix(n.field, Approval)
	case n.field == Creation:
		return "create " + kind + closed
	case n.field == Everything:
		return "write " + kind
	case n.field == Reading:
		return "read " + kind
	default:
		if n.obeyed != "" {
			closed = ", which the pinned policy " + n.obeyed + " obeys (an allowance for it has to be pinned to a text)"
		}
		if n.why != "" {
			closed = " (" + n.why + ")"
		}
		return "write " + n.field + " of " + n.gvk.Kind + closed
	}
}
