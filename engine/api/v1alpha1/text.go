package v1alpha1

import "github.com/edict-dev/edict/engine/document"

// Text is a string that knows where it was written.
type Text struct {
	// Value is the string.
	Value string
	// Node is where it was written; nil when the field is absent.
	Node *document.Node
}

// Set reports whether the field was written at all.
func (t Text) Set() bool { return t.Node != nil }

// Pos returns the text's place.
func (t Text) Pos() document.Position {
	if t.Node == nil {
		return document.Position{}
	}
	return t.Node.Pos
}

// Template is YAML in which ${expression} stands for a value.
type Template struct {
	// Node is the YAML; nil when the field is absent.
	Node *document.Node
}

// Set reports whether the field was written at all.
func (t Template) Set() bool { return t.Node != nil }

// Pos returns the template's place.
func (t Template) Pos() document.Position {
	if t.Node == nil {
		return document.Position{}
	}
	return t.Node.Pos
}

// Entry is a key of a mapping whose keys the author chooses.
type Entry[T any] struct {
	Key   Text
	Value T
}
