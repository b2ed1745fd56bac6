package selector

import (
	"k8s.io/apimachinery/pkg/selection"

	"github.com/edict-dev/edict/engine/value"
)

// anything is the index key that every object has.
const anything = "*"

// Anchors returns index keys of which every matching object has at least one
// (see LabelKeys): the key=value pairs of one equality, else the key of one
// existence, else the key that all objects have.
func (s *Selector) Anchors() []string {
	if !s.selectable {
		return nil
	}
	exists := ""
	for i := range s.requirements {
		r := &s.requirements[i]
		switch r.Operator() {
		case selection.In, selection.Equals, selection.DoubleEquals:
			var out []string
			for _, v := range r.ValuesUnsorted() {
				out = append(out, r.Key()+"="+v)
			}
			return out
		case selection.Exists:
			exists = r.Key()
		}
	}
	if exists != "" {
		return []string{exists}
	}
	return []string{anything}
}

// LabelKeys returns all index keys of an object with these labels.
func LabelKeys(labels value.Value) []string {
	m, ok := value.Unwrap(labels).(*value.Map)
	if !ok {
		return []string{anything}
	}
	out := make([]string, 0, 1+2*m.Len())
	out = append(out, anything)
	for i := range m.Len() {
		key, v := m.At(i)
		text, _ := value.Str(v)
		out = append(out, key, key+"="+text)
	}
	return out
}

// MapAnchors returns index keys of which every object has one whose labels have
// all the keys and values of a map: those of its first entry. An absent or empty
// map has none, because it matches nothing.
func MapAnchors(labels value.Value) []string {
	m, ok := value.Unwrap(labels).(*value.Map)
	if !ok || m.Len() == 0 {
		return nil
	}
	key, v := m.At(0)
	text, _ := value.Str(v)
	return []string{key + "=" + text}
}
