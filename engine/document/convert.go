package document

import (
	"strconv"
	"strings"
)

// Plain returns the node as plain JSON values: nil, bool, int64, float64,
// string, []any, map[string]any.
func (n *Node) Plain() any {
	if n == nil {
		return nil
	}
	switch n.Kind {
	case Map:
		out := make(map[string]any, len(n.Keys))
		for i, k := range n.Keys {
			out[k.Text] = n.Values[i].Plain()
		}
		return out
	case List:
		out := make([]any, len(n.Values))
		for i, v := range n.Values {
			out[i] = v.Plain()
		}
		return out
	default:
		return n.scalar()
	}
}

func (n *Node) scalar() any {
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return strings.EqualFold(n.Text, "true") || strings.EqualFold(n.Text, "yes") || strings.EqualFold(n.Text, "on")
	case Int:
		if i, err := strconv.ParseInt(strings.ReplaceAll(n.Text, "_", ""), 0, 64); err == nil {
			return i
		}
	case Float:
		if f, err := strconv.ParseFloat(n.Text, 64); err == nil {
			return f
		}
	}
	return n.Text
}
