package main

import (
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

// choose returns the policies that are named, or all of them.
func choose(policies []*plan.Policy, names []string) (out []*plan.Policy, err error) {
	if len(names) == 0 {
		return policies, nil
	}
	known := make([]string, len(policies))
	for i, p := range policies {
		known[i] = p.ID()
	}
	for _, name := range names {
		if !slices.ContainsFunc(policies, func(p *plan.Policy) bool { return p.Named(name) }) {
			return nil, found("there is no policy %q here%s", name, hinted(nameHint(name, known)))
		}
	}
	return slices.DeleteFunc(slices.Clone(policies), func(p *plan.Policy) bool { return !slices.ContainsFunc(names, p.Named) }), nil
}

// chooseOne returns the policy that is named. A document for several kinds is several
// policies, of which one has to be named.
func chooseOne(policies []*plan.Policy, name string) (*plan.Policy, error) {
	chosen, err := choose(policies, []string{name})
	if err != nil {
		return nil, err
	}
	for _, p := range chosen {
		if p.Name == name || p.ID() == name {
			return p, nil
		}
	}
	if len(chosen) > 1 {
		return nil, severalKinds(name, policyNames(chosen)...)
	}
	return chosen[0], nil
}

func policyNames(policies []*plan.Policy) (out []string) {
	for _, p := range policies {
		out = append(out, p.ID())
	}
	return out
}

// severalKinds is the error that a name is that of a document for several kinds.
func severalKinds(name string, policies ...string) error {
	return found("%s is a policy for each of several kinds: name one of %s", name, strings.Join(policies, ", "))
}

// nameHint suggests a policy: that of a kind, where a name is that of a document for
// several kinds, or one with a similar name, or all if they are few.
func nameHint(name string, known []string) string {
	var kinds []string
	for _, other := range known {
		if strings.HasPrefix(other, name+"-") {
			kinds = append(kinds, other)
		}
	}
	if len(kinds) > 0 && name != "" {
		return "there is " + strings.Join(kinds, ", ")
	}
	if hint := document.DidYouMean(name, known); hint != "" || len(known) == 0 || len(known) > maxListed {
		return hint
	}
	return "the policies are " + strings.Join(slices.Sorted(slices.Values(known)), ", ")
}

// maxListed is how many names of policies an error lists.
const maxListed = 12

// running leaves disabled policies out.
func running(policies []*plan.Policy) []*plan.Policy {
	return slices.DeleteFunc(slices.Clone(policies), func(p *plan.Policy) bool { return p.Mode == plan.Disabled })
}

func hinted(hint string) string {
	if hint == "" {
		return ""
	}
	return "; " + hint
}
