package compile

import (
	"fmt"
	"reflect"

	"github.com/edict-dev/edict/engine/document"
)

// Limits of a document.
const (
	// MaxRules is how many rules a policy may have.
	MaxRules = 200
	// MaxVariables is how many variables a policy may have, and how many a rule
	// or a collection may.
	MaxVariables = 500
	// MaxRuleBytes is how much text a rule may have.
	MaxRuleBytes = 16 << 10
)

// textSize counts the bytes of all texts in a part of a document.
func textSize(part any) int {
	size := 0
	walkNodes(reflect.ValueOf(part), func(n *document.Node) { size += nodeSize(n) })
	return size
}

func nodeSize(n *document.Node) int {
	size := len(n.Text)
	for _, k := range n.Keys {
		size += nodeSize(k)
	}
	for _, v := range n.Values {
		size += nodeSize(v)
	}
	return size
}

var nodePointer = reflect.TypeFor[*document.Node]()

// walkNodes visits every node that the types of a document hold.
func walkNodes(v reflect.Value, visit func(*document.Node)) {
	switch {
	case v.Type() == nodePointer:
		if !v.IsNil() {
			visit(v.Interface().(*document.Node))
		}
	case v.Kind() == reflect.Pointer:
		if !v.IsNil() {
			walkNodes(v.Elem(), visit)
		}
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			walkNodes(v.Index(i), visit)
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			if derived := v.Type().Field(i).Tag.Get("yaml") == "-" && v.Field(i).Kind() == reflect.Bool; !derived {
				walkNodes(v.Field(i), visit)
			}
		}
	case v.Kind() == reflect.Bool:
		visit(&document.Node{Kind: document.Bool, Text: fmt.Sprint(v.Bool())})
	}
}
