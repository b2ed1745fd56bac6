package format

import (
	"reflect"

	"github.com/edict-dev/edict/engine/document"
)

// changed returns the place of the first value of a file that is another one after it was
// formatted; the name of the file when there is none.
func changed(name string, before, after []byte) string {
	var problems document.Problems
	old, now := document.ParseUnbounded(name, before, &problems), document.ParseUnbounded(name, after, &problems)
	for i, n := range old {
		var other *document.Node
		if i < len(now) {
			other = now[i]
		}
		if at := differs(n, other); at != nil {
			return at.Pos.String()
		}
	}
	return name
}

// differs returns the first part of a node that is another one in a node that has its
// fields in any order; nil when there is none.
func differs(n, other *document.Node) *document.Node {
	if other == nil || n.Kind != other.Kind || len(n.Values) != len(other.Values) {
		return n
	}
	for i, v := range n.Values {
		there := other.Values[i]
		if n.Kind == document.Map {
			there = other.Get(n.Keys[i].Text)
		}
		if at := differs(v, there); at != nil {
			return at
		}
	}
	if len(n.Values) == 0 && !reflect.DeepEqual(n.Plain(), other.Plain()) {
		return n
	}
	return nil
}
