package compare

import "github.com/edict-dev/edict/engine/value"

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
	switch {
	case before == nil:
		before = bare(after)
	case after == nil:
		after = bare(before)
	}
	out := []Field{}
	for _, d := range differ.Diff(frozen(before), frozen(after), nil) {
		out = append(out, Field{Path: d.Path, Before: value.Plain(d.Before), After: value.Plain(d.After)})
	}
	return out
}

var differ = value.Differ{Maps: true, Quoted: true}

func frozen(o map[string]any) value.Value { return value.Freeze(o, nil, value.KeepAll) }

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
