package verify

import (
	"regexp"
	"slices"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
)

// maxValues bounds the values of one field.
const maxValues = 4

var amount = regexp.MustCompile(`^[0-9.]+([KMGTPE]i?|m)?$`)

// values returns what a field may be instead of what it is; nil is absent.
func (a *alphabet) values(p place) (out []any) {
	var all []any
	if !p.required && p.now != nil {
		all = append(all, nil)
	}
	for _, v := range append(all, a.boundaries(p)...) {
		if text(v) != text(p.now) && len(out) < maxValues && !refused(p.typ, v) {
			out = append(out, v)
		}
	}
	return out
}

// boundaries returns values at which decisions may change.
func (a *alphabet) boundaries(p place) []any {
	if p.typ == nil || p.typ.Kind == schema.Dyn && !p.typ.Quantity {
		return a.untyped(p)
	}
	switch {
	case len(p.typ.Enum) > 0:
		return anys(p.typ.Enum)
	case p.typ.Quantity:
		return []any{"0", "1Gi"}
	}
	switch p.typ.Kind {
	case schema.Bool:
		return []any{true, false}
	case schema.Int:
		return numbers(p)
	case schema.Time:
		return a.world.times
	case schema.String:
		return a.texts(p.now)
	case schema.List:
		if p.now != nil && !p.required {
			return []any{[]any{}}
		}
	}
	return nil
}

// untyped returns the values of a field of which only the value is known.
func (a *alphabet) untyped(p place) []any {
	switch now := p.now.(type) {
	case bool:
		return []any{!now}
	case int64:
		return numbers(p)
	case string:
		if amount.MatchString(now) {
			return []any{"0", "1Gi"}
		}
		return a.texts(p.now)
	}
	return nil
}

// numbers returns 0 and the number after the one that is there.
func numbers(p place) []any {
	now, _ := p.now.(int64)
	return []any{int64(0), now + 1}
}

// texts returns the names of the other objects of a kind, if the text is the name of one, and a.
func (a *alphabet) texts(now any) (out []any) {
	all := slices.Concat(a.world.objects, a.world.spare)
	for _, o := range all {
		for _, other := range all {
			if id, to := simulate.ID(o), simulate.ID(other).Name(); id.Name() == now && to != now && id.GVK() == gvkOf(other) {
				out = append(out, to)
			}
		}
	}
	return append(out, "a")
}

// refused reports whether the API server takes no such value at a place.
func refused(t *schema.Type, v any) bool {
	if t == nil || v == nil {
		return false
	}
	reason, _ := t.Refused(v)
	return reason != ""
}
