package eval

import (
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// checking finds out whether what a result was computed from is as it was.
type checking struct{ ev *evaluation }

// still reports whether everything that a result was computed from is the same:
// the parts of the primary under the mask, the names, the entries, the time.
func (c checking) still(h *reads, object value.Value, mask *value.Mask) bool {
	if !h.until.IsZero() && !c.ev.in.Now.Before(h.until) {
		return false
	}
	return c.sameObject(object, mask) && c.sameRecalls(h.recalls()) && c.sameWholes(h.wholes) && c.sameWholes(h.mapped()) && c.sameEntries(h.entries)
}

func (c checking) sameObject(object value.Value, mask *value.Mask) bool {
	now := c.ev.objectValue()
	return mask == nil || identical(object, now) || value.SameUnder(object, now, mask) && !value.IsNull(object) && !value.IsNull(now)
}

func (c checking) sameWholes(list []wholeRead) bool {
	for i := range list {
		v, err := c.ev.fetch(list[i].slot.of())
		if err != nil {
			v = cel.ErrorValue(err)
		}
		if !identical(v, list[i].value) {
			return false
		}
	}
	return true
}

func (c checking) sameRecalls(list []recallRead) bool {
	for i := range list {
		var now value.Value
		if c.ev.in.Recall != nil {
			now = c.ev.in.Recall(list[i].name)
		}
		if !identical(now, list[i].value) {
			return false
		}
	}
	return true
}

func (c checking) sameEntries(list []entryRead) bool {
	for i := range list {
		if !c.sameEntry(&list[i]) {
			return false
		}
	}
	return true
}

func (c checking) sameEntry(e *entryRead) bool {
	v, err := c.ev.fetch(e.slot.of())
	if err != nil {
		return false
	}
	m, ok := v.(*value.Map)
	return ok && identical(m.Lookup(e.key), e.value)
}
