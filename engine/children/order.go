package children

import (
	"slices"
	"strings"
)

// sorted returns the sets with those that others come after first, else in the
// order of the document, and fills in what depends on what. Circles are reported.
func (e *expansion) sorted(sets []*set) (out []*set) {
	byName := map[string]*set{}
	for _, s := range sets {
		byName[s.name] = s
	}
	for _, s := range sets {
		s.link(byName)
	}
	state := map[*set]int{}
	for _, s := range sets {
		out = s.visit(state, nil, out)
	}
	return out
}

// link resolves the names of after.
func (s *set) link(byName map[string]*set) {
	for _, name := range s.doc.After {
		other := byName[name.Value]
		if other == nil {
			s.expansion.problems.Hintf(name.Pos(), "the name of another child of the policy", "there is no child %q", name.Value)
			continue
		}
		if !slices.Contains(s.after, other) {
			s.after = append(s.after, other)
			other.dependents = append(other.dependents, s)
		}
	}
}

// The states of a set in a depth-first search.
const (
	underWay = iota + 1
	done
)

func (s *set) visit(state map[*set]int, path []string, out []*set) []*set {
	switch state[s] {
	case done:
		return out
	case underWay:
		s.expansion.problems.Hintf(s.doc.Pos, "leave out one after", "the child %q comes after itself: %s", s.name, strings.Join(append(path, s.name), " -> "))
		return out
	}
	state[s] = underWay
	for _, other := range s.after {
		out = other.visit(state, append(path, s.name), out)
	}
	state[s] = done
	return append(out, s)
}
