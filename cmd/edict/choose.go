package main

import (
	"slices"

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
		known[i] = p.Name
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, found("there is no policy %q here%s", name, hinted(document.DidYouMean(name, known)))
		}
	}
	return slices.DeleteFunc(slices.Clone(policies), func(p *plan.Policy) bool { return !slices.Contains(names, p.Name) }), nil
}

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
