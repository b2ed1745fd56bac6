package compare

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Field is a field that ends up different.
type Field struct {
	// Path is that of the field: status.conditions[type=Ready].reason. Items of a
	// list are named by the field that tells them apart, or else the whole list is
	// the field.
	Path string `json:"path"`
	// Before and After are its values; null is absent.
	Before any `json:"before"`
	After  any `json:"after"`
}

// diff returns the fields in which two objects differ, sorted. Of an object that
// is created or deleted these are the fields that it has besides its name.
func diff(before, after map[string]any) []Field {
	out := []Field{}
	switch {
	case before == nil:
		before = bare(after)
	case after == nil:
		after = bare(before)
	}
	mappings(before, after, "", &out)
	return out
}

// bare returns what names an object.
func bare(o map[string]any) map[string]any {
	metadata, _ := o["metadata"].(map[string]any)
	names := map[string]any{}
	for _, field := range []string{"name", "namespace"} {
		if v, ok := metadata[field]; ok {
			names[field] = v
		}
	}
	return map[string]any{"apiVersion": o["apiVersion"], "kind": o["kind"], "metadata": names}
}

func compareValues(before, after any, path string, out *[]Field) {
	if same(before, after) {
		return
	}
	b, isMap := before.(map[string]any)
	a, areMaps := after.(map[string]any)
	if (isMap || before == nil) && (areMaps || after == nil) && len(a)+len(b) > 0 && !strings.HasSuffix(path, "]") || isMap && areMaps {
		mappings(b, a, path, out)
		return
	}
	if b, ok := before.([]any); ok {
		if a, ok := after.([]any); ok && lists(b, a, path, out) {
			return
		}
	}
	*out = append(*out, Field{Path: path, Before: before, After: after})
}

func mappings(before, after map[string]any, path string, out *[]Field) {
	all := maps.Clone(before)
	if all == nil {
		all = map[string]any{}
	}
	maps.Copy(all, after)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		compareValues(before[name], after[name], under(path, name), out)
	}
}

// under returns the path of a field below another; a name that is none of CEL is
// quoted.
func under(path, name string) string {
	if strings.ContainsAny(name, "./[]") || name == "" {
		return path + "[" + strconv.Quote(name) + "]"
	}
	return strings.TrimPrefix(path+"."+name, ".")
}

// lists compares lists item by item, if a field tells their items apart.
func lists(before, after []any, path string, out *[]Field) bool {
	key := keyOf(before, after)
	if key == "" {
		return false
	}
	old, now := keyed(before, key), keyed(after, key)
	all := maps.Clone(old)
	maps.Copy(all, now)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		compareValues(optional(old, name), optional(now, name), fmt.Sprintf("%s[%s=%s]", path, key, name), out)
	}
	if len(old) == len(now) && same(sortedBy(before, key), sortedBy(after, key)) && !same(order(before, key), order(after, key)) {
		*out = append(*out, Field{Path: path, Before: order(before, key), After: order(after, key)})
	}
	return true
}

// optional returns an item; nil, and no empty map, when there is none.
func optional(items map[string]map[string]any, name string) any {
	if item, ok := items[name]; ok {
		return item
	}
	return nil
}

// usual are the fields that tell items apart in most lists, the first first.
var usual = []string{"type", "name", "key", "id", "uid", "ip"}

// keyOf returns the field that tells the items of two lists apart; "" is none.
func keyOf(before, after []any) string {
	var first map[string]any
	for _, list := range [][]any{before, after} {
		if len(list) > 0 && first == nil {
			first, _ = list[0].(map[string]any)
		}
	}
	for _, name := range slices.Concat(usual, slices.Sorted(maps.Keys(first))) {
		if distinct(before, name) && distinct(after, name) {
			return name
		}
	}
	return ""
}

// distinct reports whether every item has a text of its own in a field.
func distinct(list []any, name string) bool {
	seen := map[string]bool{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		text, ok := m[name].(string)
		if !ok || seen[text] {
			return false
		}
		seen[text] = true
	}
	return true
}

func keyed(list []any, key string) map[string]map[string]any {
	out := map[string]map[string]any{}
	for _, item := range list {
		m, _ := item.(map[string]any)
		name, _ := m[key].(string)
		out[name] = m
	}
	return out
}

// order returns the names of the items, in their order.
func order(list []any, key string) []any {
	out := make([]any, len(list))
	for i, item := range list {
		m, _ := item.(map[string]any)
		out[i] = m[key]
	}
	return out
}

func sortedBy(list []any, key string) []string {
	return slices.Sorted(maps.Keys(keyed(list, key)))
}
