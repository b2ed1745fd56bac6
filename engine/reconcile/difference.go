package reconcile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// differences says, field by field, what a decision would come to that another
// does not: "+" is done only by it, "-" only by the other, "~" is done by both
// or leads to another value.
func differences(enforced, shadow *eval.Decision) (out []string) {
	ours, theirs := byTarget(enforced), byTarget(shadow)
	names := map[string]bool{}
	for name := range ours {
		names[name] = true
	}
	for name := range theirs {
		names[name] = true
	}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		out = append(out, effectDifferences(name, ours[name], theirs[name])...)
	}
	was, now := problemTexts(enforced), problemTexts(shadow)
	for _, text := range was {
		if !slices.Contains(now, text) {
			out = append(out, "- "+text)
		}
	}
	for _, text := range now {
		if !slices.Contains(was, text) {
			out = append(out, "+ "+text)
		}
	}
	return out
}

// byTarget names the effects of a decision by what they are about. Several of one
// name are numbered.
func byTarget(d *eval.Decision) map[string]*eval.Effect {
	out := map[string]*eval.Effect{}
	if d == nil {
		return out
	}
	for _, e := range d.Effects {
		title := effectTitle(e)
		name := title
		for n := 2; out[name] != nil; n++ {
			name = fmt.Sprintf("%s #%d", title, n)
		}
		out[name] = e
	}
	return out
}

func problemTexts(d *eval.Decision) (out []string) {
	if d == nil {
		return nil
	}
	for _, p := range d.Problems {
		out = append(out, strings.TrimSpace("fails: rule "+p.Rule+" "+p.Item))
	}
	return out
}

func effectTitle(e *eval.Effect) string {
	title := fmt.Sprintf("%s %s %s", e.Verb, e.Target.Kind(), name(e.Target))
	if e.Subresource != "" {
		title += " (" + e.Subresource + ")"
	}
	return title
}

// effectDifferences compares what two effects lead to; either may be nil.
func effectDifferences(title string, ours, theirs *eval.Effect) []string {
	sign, one := "~ ", theirs
	switch {
	case ours == nil:
		sign = "+ "
	case theirs == nil:
		sign, one = "- ", ours
	}
	if one.Patch == nil || one.Verb != eval.VerbPatch {
		if sign == "~ " && effectText(ours) == effectText(theirs) {
			return nil
		}
		return []string{sign + effectText(one)}
	}
	var d diff
	d.maps("", patchOf(ours), patchOf(theirs), one.Before)
	for i, line := range d.lines {
		d.lines[i] = sign + title + ": " + line
	}
	return d.lines
}

func patchOf(e *eval.Effect) *value.Map {
	if e == nil {
		return nil
	}
	return e.Patch
}

// diff collects the fields that differ.
type diff struct{ lines []string }

// maps compares merge patches of an object: what one does not mention stays as
// it was before.
func (d *diff) maps(path string, ours, theirs, before *value.Map) {
	for _, key := range keysOf(ours, theirs) {
		was := lookup(before, key)
		d.values(strings.TrimPrefix(path+"."+key, "."), patched(ours, key, was), patched(theirs, key, was), was)
	}
}

func (d *diff) values(path string, ours, theirs, before value.Value) {
	a, aMap := ours.(*value.Map)
	b, bMap := theirs.(*value.Map)
	x, aList := ours.(*value.List)
	y, bList := theirs.(*value.List)
	switch {
	case aMap && bMap:
		was, _ := before.(*value.Map)
		d.maps(path, a, b, was)
	case aList && bList:
		d.lists(path, x.Items(), y.Items())
	case text(ours) == text(theirs):
	case absent(ours):
		d.add(path, "added: "+text(theirs))
	case absent(theirs):
		d.add(path, "removed")
	default:
		d.add(path, text(ours)+" -> "+text(theirs))
	}
}

// lists compares lists by the field that tells their items apart.
func (d *diff) lists(path string, ours, theirs []value.Value) {
	key := itemKey(slices.Concat(ours, nil), theirs)
	index := func(items []value.Value) map[string]value.Value {
		out := map[string]value.Value{}
		for i, item := range items {
			out[itemName(key, i, item)] = item
		}
		return out
	}
	a, b := index(ours), index(theirs)
	before := len(d.lines)
	for _, name := range slices.Sorted(maps.Keys(a)) {
		if item, there := b[name]; there {
			d.values(path+name, a[name], item, nil)
		} else {
			d.add(path+name, "removed")
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b)) {
		if _, there := a[name]; !there {
			d.add(path+name, "added: "+text(b[name]))
		}
	}
	if len(d.lines) == before && text(value.NewList(ours)) != text(value.NewList(theirs)) {
		d.add(path, "another order")
	}
}

// itemName names an item: by its key, by its value, or by its place.
func itemName(key string, i int, item value.Value) string {
	m, isMap := item.(*value.Map)
	switch {
	case key != "" && isMap:
		return "[" + key + "=" + value.StringAt(m, key) + "]"
	case !isMap && key == "":
		if _, isList := item.(*value.List); !isList {
			return "[" + text(item) + "]"
		}
	}
	return fmt.Sprintf("[%d]", i)
}

// usualKeys are fields by which lists are often told apart.
var usualKeys = []string{"name", "type", "key", "uid", "id", "ip"}

// itemKey finds the field whose text tells the items of both lists apart; "" if
// there is none.
func itemKey(lists ...[]value.Value) string {
	var candidates []string
	for _, list := range lists {
		for _, item := range list {
			m, isMap := item.(*value.Map)
			if !isMap {
				return ""
			}
			candidates = append(candidates, keysOf(m, nil)...)
		}
	}
	candidates = slices.Compact(slices.Sorted(slices.Values(candidates)))
	for _, key := range slices.Concat(usualKeys, candidates) {
		if slices.Contains(candidates, key) && !slices.ContainsFunc(lists, func(list []value.Value) bool { return !distinct(list, key) }) {
			return key
		}
	}
	return ""
}

// distinct reports whether every item has another text in a field.
func distinct(list []value.Value, key string) bool {
	seen := map[string]bool{}
	for _, item := range list {
		m, _ := item.(*value.Map)
		s, ok := value.Str(lookup(m, key))
		if !ok || seen[s] {
			return false
		}
		seen[s] = true
	}
	return true
}

func (d *diff) add(path, what string) { d.lines = append(d.lines, path+": "+what) }

func keysOf(a, b *value.Map) (out []string) {
	for _, m := range []*value.Map{a, b} {
		if m == nil {
			continue
		}
		for i := range m.Len() {
			key, _ := m.At(i)
			out = append(out, key)
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(out)))
}

func lookup(m *value.Map, key string) value.Value {
	if m == nil {
		return nil
	}
	return m.Lookup(key)
}

// patched is what a field is after a merge patch.
func patched(patch *value.Map, key string, before value.Value) value.Value {
	now := lookup(patch, key)
	if now == nil {
		return before
	}
	return now
}

func absent(v value.Value) bool { return v == nil || value.IsNull(v) }

// text writes a value on one line.
func text(v value.Value) string {
	if absent(v) {
		return "nothing"
	}
	out, err := value.JSON(v)
	if err != nil {
		return fmt.Sprint(value.Plain(v))
	}
	return string(out)
}
