package eval

import (
	"errors"
	"slices"

	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
)

// listEntry sets one entry of a list, or removes all entries that match its fields. A field of
// the entry replaces the stored field; the other fields of the stored entry stay.
func (x acting) listEntry(a *plan.ListEntry, f *frame) error {
	t, err := writing(x).target(&a.Of, f)
	missing := errors.Is(err, errNoTarget)
	if missing && (!a.Create || a.Remove) {
		return nil
	}
	if err != nil && !missing {
		return err
	}
	by, err := x.run.ev.fields(a.By, f)
	if err != nil {
		return err
	}
	list, _ := value.Path(t.value, a.Path...).(*value.List)
	of := typeAt(x.run.ev.in.Policy.Kinds[t.id.GVK()].Type, a.Path).Item()
	at := -1
	var items []value.Value
	if list != nil {
		items = slices.Clone(list.Items())
		at = slices.IndexFunc(items, func(item value.Value) bool { return hasFields(item, by, of) })
	}
	switch {
	case a.Remove && at < 0:
		return nil
	case a.Remove:
		items = slices.DeleteFunc(items, func(item value.Value) bool { return hasFields(item, by, of) })
	default:
		if items, err = x.keepEntry(keptEntry{a, of, by}, f, items, at); err != nil {
			return err
		}
	}
	want := nest(a.Path, t.absentIfEmpty(value.NewList(items), a.Path...))
	if missing {
		writing(x).makeTarget(t.id, want)
		return nil
	}
	writing(x).write(t, a.Subresource, want)
	return nil
}

func hasFields(item value.Value, by []cel.Field, t *schema.Type) bool {
	return !slices.ContainsFunc(by, func(field cel.Field) bool {
		return !Stored(value.Path(item, field.Name), field.Value, typeOf(t, field.Name))
	})
}

// keptEntry is an entry that is to be in a list: its type, and the fields by which it is
// found.
type keptEntry struct {
	entry *plan.ListEntry
	of    *schema.Type
	by    []cel.Field
}

// keepEntry puts an entry into a list: in its place, or last.
func (x acting) keepEntry(a keptEntry, f *frame, items []value.Value, at int) ([]value.Value, error) {
	fields, err := x.run.ev.fields(a.entry.Entry, f)
	if err != nil {
		return nil, err
	}
	entry := value.Empty
	if at >= 0 {
		entry, _ = items[at].(*value.Map)
	}
	before := entry
	for _, field := range slices.Concat(a.by, fields) {
		switch {
		case field.Value == nil || value.IsNull(field.Value):
			entry = entry.With(field.Name, nil)
		case !Stored(entry.Lookup(field.Name), field.Value, typeOf(a.of, field.Name)):
			entry = entry.With(field.Name, field.Value)
		}
	}
	if at < 0 {
		return append(items, entry), nil
	}
	if entry != before {
		items[at] = entry
	}
	return items, nil
}

// joinOwners lets the owner references of a patch join those that are there:
// references to one uid are one.
func joinOwners(current, want *value.Map) *value.Map {
	wanted, _ := value.Path(want, "metadata", "ownerReferences").(*value.List)
	have, _ := value.Path(current, "metadata", "ownerReferences").(*value.List)
	if wanted == nil || have == nil {
		return want
	}
	joined := slices.Clone(have.Items())
	for _, owner := range wanted.Items() {
		uid := value.StringAt(owner, "uid")
		at := slices.IndexFunc(joined, func(o value.Value) bool { return value.StringAt(o, "uid") == uid })
		if at < 0 {
			joined = append(joined, owner)
		} else {
			next, _ := mergeDiff(joined[at], owner, nil)
			joined[at] = next
		}
	}
	return value.Overwrite(want, value.NewList(joined), "metadata", "ownerReferences")
}
