package children

import "github.com/edict-dev/edict/engine/document"

// field is an entry of a mapping.
type field struct {
	name  string
	value *document.Node
}

// mapping makes a mapping of the entries that have a value.
func mapping(at document.Position, fields ...field) *document.Node {
	out := &document.Node{Kind: document.Map, Pos: at}
	for _, f := range fields {
		if f.value != nil {
			out.Keys = append(out.Keys, document.NewText(at, f.name))
			out.Values = append(out.Values, f.value)
		}
	}
	return out
}

// with returns a mapping with more entries, of those that have a value; those of the same
// name are replaced. of may be nil.
func with(of *document.Node, at document.Position, fields ...field) *document.Node {
	if of == nil {
		return mapping(at, fields...)
	}
	for _, f := range fields {
		if f.value != nil {
			of = of.With(f.name, f.value)
		}
	}
	return of
}

func truth(at document.Position) *document.Node {
	return &document.Node{Kind: document.Bool, Text: "true", Pos: at}
}
