package source

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"k8s.io/utils/ptr"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/rollout"
)

// Set is a PolicySet.
type Set struct {
	Namespace, Name string
	// File is the manifest that has it; empty for one of a cluster.
	File string
	Spec edictv1.PolicySetSpec
}

// NewSet returns the Set of a PolicySet in a cluster.
func NewSet(s *edictv1.PolicySet) *Set {
	return &Set{Namespace: s.Namespace, Name: s.Name, Spec: s.Spec}
}

// Path names the PolicySet where a file's path is expected.
func (s *Set) Path() string {
	if s.File != "" {
		return s.File + "/" + s.Name
	}
	return s.Namespace + "/" + s.Name
}

// Place names a field of the PolicySet where a file's path is expected.
func (s *Set) Place(field string) string { return s.Path() + " (" + field + ")" }

func (s *Set) problem(field, hint, format string, args ...any) document.Problem {
	return document.Problem{Position: document.Position{File: s.Place(field)}, Severity: document.Error, Hint: hint, Message: fmt.Sprintf(format, args...)}
}

// Pinned reports whether the set is pinned to a text.
func (s *Set) Pinned() bool { return ptr.Deref(s.Spec.Pinned, false) }

// Suspended reports whether the set writes nothing.
func (s *Set) Suspended() bool { return ptr.Deref(s.Spec.Suspend, false) }

// modes are the modes from the narrowest to the widest.
var modes = []edictv1.Mode{edictv1.ModeDisabled, edictv1.ModeShadow, edictv1.ModeEnforce}

// ModeOf returns the narrowest of the modes in the text of a policy, of the set, and of the policy in
// the set. It may be named by its document.
func (s *Set) ModeOf(u *Unit) string {
	narrowest := edictv1.ModeEnforce
	for _, m := range []edictv1.Mode{edictv1.Mode(u.Document.Spec.Mode.Value), s.Mode(), s.Spec.Modes[u.Name()], s.Spec.Modes[u.Document.Of]} {
		if m != "" && slices.Index(modes, m) < slices.Index(modes, narrowest) {
			narrowest = m
		}
	}
	return string(narrowest)
}

// Mode returns the mode of the set.
func (s *Set) Mode() edictv1.Mode {
	return cmp.Or(s.Spec.Mode, edictv1.ModeShadow)
}

// shadowOf returns the set that this one is compared with; empty if there is none.
func (s *Set) shadowOf() string {
	return ptr.Deref(s.Spec.ShadowOf, edictv1.LocalReference{}).Name
}

// params returns the values of params in the spec.
func (s *Set) params(problems *document.Problems) compile.Overrides {
	out := compile.Overrides{}
	for _, policy := range slices.Sorted(maps.Keys(s.Spec.Params)) {
		values := s.Spec.Params[policy]
		for _, name := range slices.Sorted(maps.Keys(values)) {
			raw := values[name]
			place := s.Place("spec.params." + policy + "." + name)
			found := document.Parse(place, raw.Raw, problems)
			if len(found) == 0 || found[0].Kind == document.Null {
				problems.Add(s.problem("spec.params."+policy+"."+name, "remove it to have the default", "the param %q has no value", name))
				continue
			}
			out.Put(policy, name, compile.Override{Value: found[0].Plain(), Text: found[0].Text, At: document.Position{File: place, Line: 1}, From: s.Path()})
		}
	}
	return out
}

// Allowances returns the allowances of the set as documents have them.
func (s *Set) Allowances() (out []v1alpha1.Allowance) {
	at := document.Position{File: s.Place("spec.allow")}
	text := func(t string) v1alpha1.Text { return v1alpha1.Text{Value: t, Node: document.NewText(at, t)} }
	texts := func(list []string) (out []v1alpha1.Text) {
		for _, t := range list {
			out = append(out, text(t))
		}
		return out
	}
	for _, a := range s.Spec.Allow {
		one := v1alpha1.Allowance{Policy: text(a.Policy), ForKind: text(a.Kind), Fields: texts(a.Fields), Obeys: texts(a.Obeys), Namespaces: texts(a.Namespaces), Pos: at}
		if a.APIGroup != nil && *a.APIGroup != "*" {
			one.APIGroup = text(*a.APIGroup)
		}
		out = append(out, one)
	}
	return out
}

// unknown warns of policies that the spec names and the text does not have: they may come yet.
func (s *Set) unknown(names []string, problems *document.Problems) {
	warn := func(field, policy string) {
		if !slices.Contains(names, policy) {
			problems.Add(document.Problem{Position: document.Position{File: s.Place(field + "." + policy)}, Severity: document.Warning, Code: document.UnknownPolicy,
				Message: fmt.Sprintf("there is no policy %q in the ConfigMap %s", policy, s.Spec.Source.ConfigMap.Name), Hint: document.DidYouMean(policy, names)})
		}
	}
	for _, policy := range slices.Sorted(maps.Keys(s.Spec.Modes)) {
		warn("spec.modes", policy)
	}
	for _, policy := range slices.Sorted(maps.Keys(s.Spec.Params)) {
		warn("spec.params", policy)
	}
}

// rollout returns how new texts come into force; nil is at once.
func (s *Set) rollout(problems *document.Problems) *rollout.Spec {
	if s.Spec.Rollout == nil {
		return nil
	}
	spec, err := rollout.New(s.Spec.Rollout)
	if err != nil {
		problems.Add(s.problem("spec.rollout", "", "%v", err))
		return nil
	}
	return spec
}
