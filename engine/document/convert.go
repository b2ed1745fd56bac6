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

// booleans are the booleans of YAML 1.1, which kubectl reads and v3 of the library does not. The
// letters y and n are texts, as all names of fields are: kubectl refuses most of them.
var booleans = map[string]bool{
	"yes": true, "Yes": true, "YES": true, "on": true, "On": true, "ON": true,
	"no": false, "No": false, "NO": false, "off": false, "Off": false, "OFF": false,
}

func (n *Node) scalar() any {
	switch n.Kind {
	case Null:
		return nil
	case Bool:
		return booleans[n.Text] || strings.EqualFold(n.Text, "true")
	case Int:
		if i, err := strconv.ParseInt(strings.ReplaceAll(n.Text, "_", ""), 0, 64); err == nil {
			return i
		}
	case Float:
		if f, err := strconv.ParseFloat(strings.ReplaceAll(n.Text, "_", ""), 64); err == nil {
			return f
		}
	}
	return n.Text
}
