package value

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/edict-dev/edict/engine/schema"
)

// Difference is a field with two values. Before or After is nil if the field is absent.
type Difference struct {
	Path          string
	Before, After Value
	// Reordered is true for a list with the same items in another order.
	Reordered bool
}

// Differ finds the fields in which two values differ. It pairs the items of lists by a field
// with a unique value, such as name.
type Differ struct {
	// Maps and Lists report each part of a map, or of a list with such a field, that is added or
	// removed. Otherwise it is one difference.
	Maps, Lists bool
	// Places pairs the items of other lists by value or index. Otherwise such a list is compared
	// as a whole.
	Places bool
	// Quoted puts quotes around names with characters of paths.
	Quoted bool
	// Same reports whether two values of a type are equal in another notation. It may be nil.
	Same func(a, b Value, t *schema.Type) bool

	found []Difference
}

// Diff returns the differences in the order of the names.
func (d Differ) Diff(before, after Value, t *schema.Type) []Difference {
	d.values("", before, after, t, d.Maps)
	return d.found
}

// values compares two values. If parts is true, it reports each part of an added or removed map.
func (d *Differ) values(path string, before, after Value, t *schema.Type, parts bool) {
	switch {
	case same(before, after), d.maps(path, before, after, t, parts), d.lists(path, before, after, t):
	case !Same(before, after) && (d.Same == nil || !d.Same(before, after, t)):
		d.found = append(d.found, Difference{Path: path, Before: before, After: after})
	}
}

// maps compares two values as maps, and reports whether they are.
func (d *Differ) maps(path string, before, after Value, t *schema.Type, parts bool) bool {
	old, wasMap := before.(*Map)
	now, isMap := after.(*Map)
	goes := parts && wasMap && IsNull(after) && old.Len() > 0
	comes := parts && isMap && IsNull(before) && now.Len() > 0
	if wasMap && isMap || goes || comes {
		d.fields(path, old, now, t)
		return true
	}
	return false
}

// lists compares two values as lists, and reports whether they are.
func (d *Differ) lists(path string, before, after Value, t *schema.Type) bool {
	old, wasList := before.(*List)
	now, isList := after.(*List)
	comesOrGoes := d.Lists && (wasList && IsNull(after) || isList && IsNull(before))
	return (wasList && isList || comesOrGoes) && d.items(path, old, now, t)
}

// fields compares maps; one of them may be nil.
func (d *Differ) fields(path string, before, after *Map, t *schema.Type) {
	names := map[string][2]Value{}
	for side, m := range []*Map{before, after} {
		for i := 0; m != nil && i < m.Len(); i++ {
			name, v := m.At(i)
			both := names[name]
			both[side] = v
			names[name] = both
		}
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.values(d.below(path, name), names[name][0], names[name][1], t.Field(name), d.Maps)
	}
}

func (d *Differ) below(path, name string) string {
	if d.Quoted && (strings.ContainsAny(name, "./[]") || name == "") {
		return path + "[" + strconv.Quote(name) + "]"
	}
	return strings.TrimPrefix(path+"."+name, ".")
}

// items compares lists item by item, and reports whether their items can be paired. One of the
// lists may be nil.
func (d *Differ) items(path string, before, after *List, t *schema.Type) bool {
	before, after = cmp.Or(before, EmptyList), cmp.Or(after, EmptyList)
	key := itemKey(before.items, after.items)
	if before.Len()+after.Len() == 0 || key == "" && !d.Places {
		return false
	}
	old, wasOrder := indexed(before, key)
	now, order := indexed(after, key)
	names := maps.Clone(old)
	maps.Copy(names, now)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		d.values(path+name, old[name], now[name], t.Item(), false)
	}
	if len(names) == len(old) && len(names) == len(now) && !Same(wasOrder, order) {
		d.found = append(d.found, Difference{Path: path, Before: wasOrder, After: order, Reordered: true})
	}
	return true
}

// indexed returns the items of a list by their key, value or index, and the order of these.
func indexed(list *List, key string) (items map[string]Value, order *List) {
	items = map[string]Value{}
	var names []Value
	for i, item := range list.Items() {
		m, isMap := item.(*Map)
		_, isList := item.(*List)
		name := item
		switch {
		case key != "" && isMap:
			name = m.Lookup(key)
			items["["+key+"="+StringAt(m, key)+"]"] = item
		case isMap || isList:
			name = OfInt(int64(i))
			items[fmt.Sprintf("[%d]", i)] = item
		default:
			items["["+Line(item)+"]"] = item
		}
		names = append(names, name)
	}
	return items, NewList(names)
}

// usualKeys are the fields that often have unique values.
var usualKeys = []string{"type", "name", "key", "id", "uid", "ip"}

// itemKey returns the field whose text is another one in each item of each list; "" for none.
func itemKey(lists ...[]Value) string {
	keys := usualKeys
	if all := slices.Concat(lists...); len(all) > 0 {
		if first, isMap := all[0].(*Map); isMap {
			keys = slices.Concat(usualKeys, first.keys())
		}
	}
	for _, key := range keys {
		if !slices.ContainsFunc(lists, func(list []Value) bool { return !distinct(list, key) }) {
			return key
		}
	}
	return ""
}

func distinct(list []Value, key string) bool {
	seen := make(map[string]bool, len(list))
	for _, item := range list {
		m, isMap := item.(*Map)
		if !isMap {
			return false
		}
		s, ok := Str(m.Lookup(key))
		if !ok || seen[s] {
			return false
		}
		seen[s] = true
	}
	return true
}

// Line returns a value in one line.
func Line(v Value) string {
	if IsNull(v) {
		return "nothing"
	}
	out, err := JSON(v)
	if err != nil {
		return fmt.Sprint(Plain(v))
	}
	return string(out)
}
