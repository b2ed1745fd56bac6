package apiserver

import (
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/world"
)

// ID returns the identity of an object; only its kind if it cannot have its name.
func ID(o Object) world.ID {
	m := metadata(o)
	id, _ := world.Identify(schema.GVK{APIVersion: text(o, "apiVersion"), Kind: text(o, "kind")}, text(m, "namespace"), text(m, "name"))
	return id
}

// Labels returns the labels of an object.
func Labels(o Object) labels.Set {
	out := labels.Set{}
	all, _ := metadata(o)["labels"].(Object)
	for k, v := range all {
		out[k], _ = v.(string)
	}
	return out
}

func metadata(o Object) Object {
	m, _ := o["metadata"].(Object)
	return m
}

func text(o Object, field string) string {
	s, _ := o[field].(string)
	return s
}

func integer(o Object, field string) int64 {
	switch n := o[field].(type) {
	case int64:
		return n
	case float64:
		return int64(n)
	default:
		return 0
	}
}

func setDefault(m Object, field string, v any) {
	if m[field] == nil {
		m[field] = v
	}
}

func restore(into, from Object, field string) {
	if v, ok := from[field]; ok {
		into[field] = v
	} else {
		delete(into, field)
	}
}

func deleting(o Object) bool { return metadata(o)["deletionTimestamp"] != nil }

func finalizers(o Object) []string {
	list, _ := metadata(o)["finalizers"].([]any)
	out := make([]string, 0, len(list))
	for _, f := range list {
		if name, ok := f.(string); ok {
			out = append(out, name)
		}
	}
	return out
}

func setFinalizers(o Object, names []string) {
	list := make([]any, len(names))
	for i, name := range names {
		list[i] = name
	}
	metadata(o)["finalizers"] = list
	if len(list) == 0 {
		delete(metadata(o), "finalizers")
	}
}

// same compares two JSON values; 1 and 1.0 are the same.
func same(a, b any) bool {
	switch a := a.(type) {
	case Object:
		b, ok := b.(Object)
		return ok && maps.EqualFunc(a, b, same)
	case []any:
		b, ok := b.([]any)
		return ok && slices.EqualFunc(a, b, same)
	case int64:
		f, ok := b.(float64)
		return b == any(a) || ok && f == float64(a)
	case float64:
		n, ok := b.(int64)
		return b == any(a) || ok && a == float64(n)
	default:
		return a == b
	}
}

// sameObject compares two states of an object: when a manager last set fields
// that it has is no difference, and so is the order of the managers, which
// follows from that.
func sameObject(a, b Object) bool { return same(timeless(a), timeless(b)) }

func timeless(o Object) Object {
	entries, ok := metadata(o)["managedFields"].([]any)
	if !ok {
		return o
	}
	list := make([]any, len(entries))
	for i, raw := range entries {
		entry, _ := raw.(Object)
		entry = maps.Clone(entry)
		delete(entry, "time")
		list[i] = entry
	}
	slices.SortFunc(list, func(a, b any) int { return compareEntries(a.(Object), b.(Object)) })
	m := maps.Clone(metadata(o))
	m["managedFields"] = list
	out := maps.Clone(o)
	out["metadata"] = m
	return out
}

// compareEntries orders entries of managedFields by what names them.
func compareEntries(a, b Object) int {
	for _, field := range []string{"manager", "operation", "subresource", "apiVersion"} {
		if c := strings.Compare(text(a, field), text(b, field)); c != 0 {
			return c
		}
	}
	return 0
}
