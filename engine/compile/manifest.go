package compile

import (
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
)

// mapping makes one template node of the entries of a mapping.
func mapping(entries []v1alpha1.Entry[v1alpha1.Template], at document.Position) *document.Node {
	n := &document.Node{Kind: document.Map, Pos: at}
	for _, e := range entries {
		n.Keys = append(n.Keys, e.Key.Node)
		n.Values = append(n.Values, e.Value.Node)
	}
	return n
}

// literal returns a field of a mapping that is written out.
func literal(n *document.Node, field string) string {
	if n == nil || n.Get(field) == nil || strings.Contains(n.Get(field).Text, "${") {
		return ""
	}
	return n.Get(field).Text
}
