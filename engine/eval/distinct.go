package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

func sortEntries(c *plan.Collection, list []*entry) {
	if len(c.OrderBy) == 0 {
		return
	}
	order := func(a, b *entry) int { return value.CompareAll(a.order, b.order) }
	if !slices.IsSortedFunc(list, order) {
		slices.SortStableFunc(list, order)
	}
}

// distinct leaves, in the same list, one of the entries with the same value: the one that
// comes first in their order, of equal ones the first. Few are left to be sorted.
func distinct(list []*entry) []*entry {
	ofTexts, others := map[string]int{}, map[string]int{}
	out := list[:0]
	for _, e := range list {
		if len(out) <= fewItems && slices.Contains(out, e) { // items share results
			continue
		}
		id, isText := value.Str(e.value)
		places := ofTexts
		if !isText {
			id, places = value.Identity(e.value), others
		}
		if at, known := places[id]; known {
			if value.CompareAll(e.order, out[at].order) >= 0 {
				continue
			}
			out[at] = nil
		}
		places[id] = len(out)
		out = append(out, e)
	}
	return slices.DeleteFunc(out, func(e *entry) bool { return e == nil })
}
