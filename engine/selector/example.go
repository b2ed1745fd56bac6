package selector

import (
	"slices"
	"strconv"

	"k8s.io/apimachinery/pkg/selection"
)

// Example returns labels that satisfy the selector, if there are some that do: its
// requirements are taken one by one.
func (s *Selector) Example() map[string]string {
	out := map[string]string{}
	for i := range s.requirements {
		r := &s.requirements[i]
		values := r.Values().List()
		switch r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			out[r.Key()] = slices.Min(values)
		case selection.Exists:
			if _, set := out[r.Key()]; !set {
				out[r.Key()] = ""
			}
		case selection.GreaterThan, selection.LessThan:
			n, err := strconv.ParseInt(values[0], 10, 64)
			if err != nil {
				continue
			}
			if r.Operator() == selection.GreaterThan {
				n += 2
			}
			out[r.Key()] = strconv.FormatInt(n-1, 10)
		case selection.NotIn, selection.NotEquals, selection.DoesNotExist:
			// without the label
		}
	}
	return out
}
