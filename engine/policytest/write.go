package policytest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// widest is how long a value in one line may be, without its indentation.
const widest = 110

// first are the keys with which mappings begin.
var first = []string{"apiVersion", "kind", "policy", "rule", "key", "verb", "subresource", "target", "namespace", "name", "metadata", "builtin", "request"}

// write returns a value as it stands at a place.
func (p *place) write(v any) string {
	if line := oneLine(v); p.inside || p.flow() && len(line) <= widest {
		return line
	}
	if p.flow() {
		indent := strings.Repeat(" ", p.deeper)
		return "\n" + indent + strings.Join(block(v), "\n"+indent)
	}
	if lines := block(v); lines != nil {
		return strings.Join(lines, "\n"+strings.Repeat(" ", p.node.Column-1))
	}
	return oneLine(v)
}

// block returns a list or mapping, item by item and field by field; nil when it is
// empty or something else.
func block(v any) (out []string) {
	switch v := v.(type) {
	case []any:
		for _, item := range v {
			out = append(out, nested("- ", item, true)...)
		}
	case map[string]any:
		for _, k := range keysOf(v) {
			out = append(out, nested(oneLine(k)+": ", v[k], false)...)
		}
	}
	return out
}

// nested returns a value behind a key or the mark of an item: in the same line if it
// fits.
func nested(head string, v any, beside bool) []string {
	lines := block(v)
	if line := oneLine(v); lines == nil || len(head)+len(line) <= widest {
		return []string{head + line}
	}
	for i, line := range lines {
		lines[i] = strings.Repeat(" ", step) + line
	}
	if beside {
		lines[0] = head + lines[0][step:]
		return lines
	}
	return append([]string{strings.TrimRight(head, " ")}, lines...)
}

// keysOf returns the keys of a mapping in the order in which they are written.
func keysOf(m map[string]any) []string {
	rank := func(k string) int {
		if i := slices.Index(first, k); i >= 0 {
			return i
		}
		return len(first)
	}
	return slices.SortedFunc(maps.Keys(m), func(a, b string) int { return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b)) })
}

// oneLine returns a value in one line.
func oneLine(v any) string {
	text, err := yaml.Marshal(flowOf(v))
	if err != nil {
		panic(err) // it is plain values
	}
	return strings.TrimSuffix(string(text), "\n")
}

func flowOf(v any) *yaml.Node {
	n := &yaml.Node{Style: yaml.FlowStyle}
	switch v := v.(type) {
	case []any:
		n.Kind = yaml.SequenceNode
		for _, item := range v {
			n.Content = append(n.Content, flowOf(item))
		}
	case map[string]any:
		n.Kind = yaml.MappingNode
		for _, k := range keysOf(v) {
			n.Content = append(n.Content, flowOf(k), flowOf(v[k]))
		}
	default:
		return scalarOf(v)
	}
	return n
}

// scalarOf returns a scalar. A text of several lines is in quotes.
func scalarOf(v any) *yaml.Node {
	n := &yaml.Node{}
	if s, ok := v.(string); ok && strings.ContainsAny(s, "\n\r\t") {
		text, err := json.Marshal(s)
		if err == nil && yaml.Unmarshal(text, n) == nil && len(n.Content) == 1 {
			return n.Content[0]
		}
	}
	if err := n.Encode(v); err != nil {
		panic(err) // it is plain values
	}
	return n
}
