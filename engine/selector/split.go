package selector

import "k8s.io/apimachinery/pkg/labels"

// Split returns the part of the selector that is about one label, and that about all
// others: it matches what both match.
func (s *Selector) Split(key string) (about, others *Selector) {
	if !s.selectable {
		return Everything, s
	}
	one, rest := labels.NewSelector(), labels.NewSelector()
	for _, r := range s.requirements {
		if r.Key() == key {
			one = one.Add(r)
		} else {
			rest = rest.Add(r)
		}
	}
	return newSelector(one), newSelector(rest)
}
