package policytest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
)

// pair is what a row has asked for, and what it should ask for.
type pair struct{ old, wanted any }

// agreement finds a value that is right for all rows.
type agreement struct {
	names []string
	rows  []pair
	// values are those of the rows, by what stands for them.
	values []map[string]*document.Node
	// differ says what the rows want where they do not agree.
	differ string
}

// value returns what is to be written in the place of what is written, which may have
// names of the matrix in it: it stays where it is right for every row.
func (a *agreement) value(written any, rows []pair) (any, bool) {
	if all(rows, func(p pair) bool { return sameItem(p.old, p.wanted) }) {
		return written, true
	}
	if m, ok := a.mapping(written, rows); ok || a.differ != "" {
		return m, ok
	}
	if l, ok := a.list(written, rows); ok || a.differ != "" {
		return l, ok
	}
	if all(rows, func(p pair) bool { return sameItem(p.wanted, rows[0].wanted) }) {
		return rows[0].wanted, true
	}
	if v, ok := a.named(rows); ok {
		return v, true
	}
	a.differ = a.wants(rows)
	return nil, false
}

// mapping agrees on the fields of mappings with the same names.
func (a *agreement) mapping(written any, rows []pair) (any, bool) {
	w, ok := written.(map[string]any)
	if !ok && written != nil || slices.ContainsFunc(slices.Collect(maps.Keys(w)), func(k string) bool { return strings.Contains(k, "$(") }) {
		return nil, false
	}
	first, ok := rows[0].wanted.(map[string]any)
	alike := func(p pair) bool {
		old, was := p.old.(map[string]any)
		wanted, is := p.wanted.(map[string]any)
		return (was || p.old == nil) && is && len(old) == len(w) && maps.EqualFunc(wanted, first, func(any, any) bool { return true })
	}
	if !ok || !all(rows, alike) {
		return nil, false
	}
	out := map[string]any{}
	for _, k := range slices.Sorted(maps.Keys(first)) {
		if out[k], ok = a.value(w[k], each(rows, func(v any) any { return field(v, k) })); !ok {
			return nil, false
		}
	}
	return out, true
}

// list agrees on the items of lists of one length.
func (a *agreement) list(written any, rows []pair) (any, bool) {
	w, ok := written.([]any)
	first, is := rows[0].wanted.([]any)
	alike := func(p pair) bool {
		old, was := p.old.([]any)
		wanted, is := p.wanted.([]any)
		return (was || p.old == nil) && is && len(old) == len(w) && len(wanted) == len(first)
	}
	if !ok && written != nil || !is || !all(rows, alike) {
		return nil, false
	}
	out := make([]any, len(first))
	for i := range first {
		if out[i], ok = a.value(item(w, i), each(rows, func(v any) any { return item(v, i) })); !ok {
			return nil, false
		}
	}
	return out, true
}

// field and item return nil for what is not there.
func field(v any, name string) any {
	m, _ := v.(map[string]any)
	return m[name]
}

func item(v any, i int) any {
	if list, _ := v.([]any); i < len(list) {
		return list[i]
	}
	return nil
}

func each(rows []pair, get func(any) any) []pair {
	out := make([]pair, len(rows))
	for i, p := range rows {
		out[i] = pair{get(p.old), get(p.wanted)}
	}
	return out
}

func all(rows []pair, is func(pair) bool) bool {
	return !slices.ContainsFunc(rows, func(p pair) bool { return !is(p) })
}

// wants says what each row wants.
func (a *agreement) wants(rows []pair) string {
	out := make([]string, len(rows))
	for i, p := range rows {
		text, err := json.Marshal(p.wanted)
		if err != nil {
			text = []byte(err.Error())
		}
		out[i] = fmt.Sprintf("%q has %s", a.names[i], text)
	}
	return strings.Join(out, ", ")
}
