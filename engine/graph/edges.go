package graph

import (
	"cmp"
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// Edge is a rule whose writes wake keys of a policy.
type Edge struct {
	From       From     `json:"from"`
	To         To       `json:"to"`
	APIVersion string   `json:"apiVersion"`
	Kind       string   `json:"kind"`
	Fields     []string `json:"fields"`
}

// From is the rule that writes.
type From struct {
	Policy string `json:"policy"`
	Rule   string `json:"rule"`
}

// To is the policy that is woken, in a loop also the rule that decides by what was
// written.
type To struct {
	Policy string `json:"policy"`
	Rule   string `json:"rule,omitempty"`
}

// edges returns which rule wakes which policy. A policy wakes itself by what it
// decides by, not by what it only compares with what it writes.
func edges(policies []*plan.Policy) []Edge {
	out := map[string]*Edge{}
	for _, from := range active(policies) {
		for _, w := range Writes(from) {
			for _, to := range policies {
				for _, r := range wakes(from, to) {
					add(out, w, To{Policy: to.ID()}, r, to, changes(&w, r.mask))
				}
			}
		}
	}
	return list(out)
}

// active are the policies that write.
func active(policies []*plan.Policy) []*plan.Policy {
	return slices.DeleteFunc(slices.Clone(policies), func(p *plan.Policy) bool { return p.Mode != plan.Enforce })
}

func wakes(from, to *plan.Policy) []read {
	if from != to {
		return reads(to)
	}
	var out []read
	for _, r := range to.Rules {
		out = append(out, decides(to, r)...)
	}
	return out
}

// changes returns the fields of a mask that a write changes.
func changes(w *Write, m *value.Mask) []string {
	return append(w.among(m, sees), w.counted(m)...)
}

// named returns the fields that both a write and a read name. That an object is created or
// deleted counts if both name it.
func named(w *Write, r read) []string {
	out := w.among(r.mask, names)
	if name := w.place().Name.Value; name != "" && name == r.at.Name.Value {
		for _, f := range []string{Creates, Deletes} {
			if slices.Contains(w.Fields, f) {
				out = append(out, f)
			}
		}
	}
	return out
}

// among returns the fields of a write that a mask has in some sense.
func (w *Write) among(m *value.Mask, has func(m *value.Mask, field string) bool) (out []string) {
	for _, f := range w.Fields {
		if has(m, f) {
			out = append(out, f)
		}
	}
	return out
}

// add adds the fields of a write that are read.
func add(out map[string]*Edge, w Write, to To, r read, reader *plan.Policy, fields []string) {
	if w.GVK != r.GVK || len(fields) == 0 || apart(w, r, reader) {
		return
	}
	key := w.Policy.ID() + "\n" + w.Rule.Name + "\n" + to.Policy + "\n" + to.Rule + "\n" + w.String()
	if out[key] == nil {
		out[key] = &Edge{From: From{Policy: w.Policy.ID(), Rule: w.Rule.Name}, To: to, APIVersion: w.APIVersion, Kind: w.Kind}
	}
	out[key].Fields = sorted(append(out[key].Fields, fields...))
}

func list(edges map[string]*Edge) (out []Edge) {
	for _, e := range edges {
		out = append(out, *e)
	}
	slices.SortFunc(out, func(a, b Edge) int {
		return cmp.Or(cmp.Compare(a.From.Policy, b.From.Policy), cmp.Compare(a.From.Rule, b.From.Rule), cmp.Compare(a.To.Policy, b.To.Policy),
			cmp.Compare(a.To.Rule, b.To.Rule), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.APIVersion, b.APIVersion))
	})
	return out
}

// apart reports whether the objects that are written are none of those that are read.
func apart(w Write, r read, reader *plan.Policy) bool {
	at := w.place()
	if differ(at.Namespace, r.at.Namespace) || differ(at.Name, r.at.Name) {
		return true
	}
	return r.own && (w.Own && Disjoint(w.Policy, reader) || at.Namespace.Value != "" && len(reader.Primary.Namespaces) > 0 && !slices.Contains(reader.Primary.Namespaces, at.Namespace.Value))
}

// place returns where the objects are that are written.
func (w Write) place() analyze.Scope {
	if w.Named != nil {
		return *w.Named
	}
	if w.Own {
		return analyze.Scope{Namespace: w.Policy.Primary.Within}
	}
	return analyze.Scope{}
}

func differ(a, b analyze.ParamValue) bool {
	return a.Value != "" && b.Value != "" && a.Value != b.Value
}

// Disjoint reports whether two policies of one kind never decide about the same
// object: they have no namespace in common, or ask for different values of a label.
func Disjoint(a, b *plan.Policy) bool {
	return Apart(a, b) || a.Primary.Selector.Excludes(b.Primary.Selector)
}

// Apart reports whether two policies have no namespace in common.
func Apart(a, b *plan.Policy) bool {
	return len(a.Primary.Namespaces) > 0 && len(b.Primary.Namespaces) > 0 &&
		!slices.ContainsFunc(a.Primary.Namespaces, func(n string) bool { return slices.Contains(b.Primary.Namespaces, n) })
}

// Same reports whether two writes set a field to the same constant.
func Same(a, b Write, field string) bool {
	v, w := a.Values[field], b.Values[field]
	return v != nil && w != nil && value.Same(v, w)
}
