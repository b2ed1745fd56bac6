package selector

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"
)

// Excludes reports whether no labels match both selectors, as far as their
// requirements of one label each tell.
func (s *Selector) Excludes(other *Selector) bool {
	for _, a := range s.requirements {
		for _, b := range other.requirements {
			if a.Key() == b.Key() && (excludes(a, b) || excludes(b, a)) {
				return true
			}
		}
	}
	return false
}

// excludes reports whether no value meets two requirements, the first of which lists
// its values or wants the label to exist.
func excludes(a, b labels.Requirement) bool {
	if b.Operator() == selection.DoesNotExist {
		return a.Operator() != selection.DoesNotExist && a.Operator() != selection.NotIn && a.Operator() != selection.NotEquals
	}
	switch a.Operator() {
	case selection.In, selection.Equals, selection.DoubleEquals:
		for value := range a.Values() {
			if b.Matches(labels.Set{b.Key(): value}) {
				return false
			}
		}
		return true
	}
	return false
}
