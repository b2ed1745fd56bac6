package guard

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
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
	// Pin says for which policy it holds, besides the name.
	Pin Pin
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

// Pin binds an allowance to more than the name of a policy, which whoever may
// write policies can take.
type Pin struct {
	// ConfigMap is the name of the one that the policy stands in, Text the digest
	// of its text (source.Unit.Digest). "" is any.
	ConfigMap, Text string
	// Mode is the most that the policy may be; "" is any.
	Mode plan.Mode
	// Params are values that the policy's params must have.
	Params map[string]value.Value
}

// New makes a guard of what an installation allows.
func New(allowances []v1alpha1.Allowance) Guard {
	var g Guard
	for _, a := range allowances {
		one := Allowance{Policy: a.Policy.Value, Group: a.APIGroup.Value, AnyGroup: !a.APIGroup.Set(), Kind: a.ForKind.Value, Pin: pin(a.Pinned)}
		for _, namespace := range a.Namespaces {
			one.Namespaces = append(one.Namespaces, namespace.Value)
		}
		for _, field := range a.Fields {
			one.Field = field.Value
			g.Allowed = append(g.Allowed, one)
		}
		for _, field := range a.Obeys {
			if one.Pin.Text != "" {
				g.Closed = append(g.Closed, Closed{one.Policy, one.Group, one.AnyGroup, one.Kind, field.Value})
			}
		}
	}
	return g
}

func pin(p v1alpha1.Pin) Pin {
	out := Pin{ConfigMap: p.ConfigMap.Value, Text: p.Text.Value, Mode: plan.Mode(p.Mode.Value), Params: map[string]value.Value{}}
	for _, e := range p.Params {
		out.Params[e.Key.Value] = value.Freeze(e.Value.Plain(), nil, value.KeepAll)
	}
	return out
}

// unmet says why an allowance for the policy's name does not hold for the
// policy; "" says that it does.
func (a *Allowance) unmet(p *plan.Policy) string {
	switch {
	case a.Pin.ConfigMap != "" && p.Origin.ConfigMap != "" && a.Pin.ConfigMap != p.Origin.ConfigMap:
		return fmt.Sprintf("it holds for the policy of the ConfigMap %s, this one is of %s", a.Pin.ConfigMap, p.Origin.ConfigMap)
	case a.Pin.Text != "" && p.Origin.ConfigMap != "" && a.Pin.Text != p.Origin.Text:
		return fmt.Sprintf("it holds for the text %s, this one is %s: the installation has to allow a changed text", a.Pin.Text, p.Origin.Text)
	}
	if p.Mode == plan.Enforce && a.Pin.Mode != "" && a.Pin.Mode != plan.Enforce {
		return fmt.Sprintf("it holds while the mode is at most %s, and this policy is set to %s: the installation has to set that mode", a.Pin.Mode, p.Mode)
	}
	for name, want := range a.Pin.Params {
		if got := p.Params[name]; !value.Same(want, got) && !sameDuration(want, got) {
			return fmt.Sprintf("it holds while the param %s is %v, which is %v now: the installation has to allow another value", name, value.Plain(want), value.Plain(got))
		}
	}
	return ""
}

// sameDuration reports whether a text says how long a duration is.
func sameDuration(text, v value.Value) bool {
	written, _ := value.Str(text)
	d, ok := v.(types.Duration)
	parsed, err := time.ParseDuration(written)
	return ok && err == nil && parsed == d.Duration
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
