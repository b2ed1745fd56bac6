package policytest

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/world"
)

// unlike reports the fields of an object that have a value that they must not have.
func (c *caseRun) unlike(n *document.Node) {
	want, got, ok := c.there(n, c.spelling.written)
	if !ok {
		return
	}
	fields := fieldsOf(want)
	if len(fields) == 0 {
		c.failf(n.Pos, "not says nothing of %s %s: name a field with a value that it must not have, null for one that must be set", simulate.ID(want).Kind(), simulate.ID(want).Name())
		return
	}
	alike("", fields, any(got), func(path string, value any) {
		c.failf(n.Pos, "%s of %s %s is %s", path, simulate.ID(want).Kind(), simulate.ID(want).Name(), plainText(value))
	})
}

// fieldsOf returns an object without what identifies it.
func fieldsOf(o simulate.Object) map[string]any {
	out := maps.Clone(o)
	delete(out, "apiVersion")
	delete(out, "kind")
	if metadata, ok := o["metadata"].(map[string]any); ok {
		metadata = maps.Clone(metadata)
		delete(metadata, "name")
		delete(metadata, "namespace")
		if out["metadata"] = metadata; len(metadata) == 0 {
			delete(out, "metadata")
		}
	}
	return out
}

// alike finds the fields that have the values of want. Entries with a type are those of
// that type; any other list is a value.
func alike(path string, want, got any, found func(path string, value any)) {
	entries, isList := want.([]any)
	fields, isMap := want.(map[string]any)
	switch {
	case isMap && len(fields) > 0:
		for _, k := range slices.Sorted(maps.Keys(fields)) {
			alike(strings.TrimPrefix(path+"."+k, "."), fields[k], field(got, k), found)
		}
	case isList && byType(entries):
		for _, e := range entries {
			of, e := field(e, "type"), maps.Clone(e.(map[string]any))
			delete(e, "type")
			alike(fmt.Sprintf("%s[%v]", path, of), e, ofType(got, of), found)
		}
	case meets(want, got):
		found(path, got)
	}
}

// ofType returns the first entry of a list with a type; nil if there is none.
func ofType(list, of any) any {
	entries, _ := list.([]any)
	for _, e := range entries {
		if field(e, "type") == of {
			return e
		}
	}
	return nil
}

// count is how often fields of an object have changed.
type count struct {
	id         world.ID
	want, have any
}

// beginCounts begins to count what the expectations of a case ask for.
func (c *caseRun) beginCounts() {
	c.counts = map[*document.Node]*count{}
	for _, n := range c.doc.Changes() {
		if want, err := object(n); err == nil { // an error is that of the expectation
			c.counts[n] = &count{simulate.ID(want), fieldsOf(want), changes(fieldsOf(want), nil, nil, nil)}
		}
	}
}

// count notes what a write of a policy changes.
func (c *caseRun) count(id world.ID, old, now simulate.Object) {
	for _, of := range c.counts {
		if of.id == id && !c.own {
			of.have = changes(of.want, of.have, any(old), any(now))
		}
	}
}

// changes adds to counts, of the form of what is wanted, where a field has another value.
func changes(want, have, old, now any) any {
	switch w := want.(type) {
	case map[string]any:
		out := map[string]any{}
		for k := range w {
			out[k] = changes(w[k], field(have, k), field(old, k), field(now, k))
		}
		return out
	case []any:
		out := make([]any, len(w))
		for i, e := range w {
			of := field(e, "type")
			counts, _ := changes(e, item(have, i), ofType(old, of), ofType(now, of)).(map[string]any)
			if out[i] = counts; counts != nil {
				counts["type"] = of
			}
		}
		return out
	}
	n, _ := have.(int64)
	if !sameItem(old, now) {
		n++
	}
	return n
}

// changed compares how often fields have changed with what is wanted.
func (c *caseRun) changed(n *document.Node) {
	if want, _, ok := c.there(n, c.spelling.counted); ok {
		c.diff(n.Pos, "changes of "+simulate.ID(want).Kind()+" "+simulate.ID(want).Name(), fieldsOf(want), c.counts[n].have)
	}
}
