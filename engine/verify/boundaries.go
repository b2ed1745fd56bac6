package verify

import (
	"regexp"
	"slices"

	"github.com/edict-dev/edict/engine/schema"
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
		return a.numbers(p)
	case schema.Time:
		return a.world.times
	case schema.String:
		return a.texts(p)
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
		return a.numbers(p)
	case string:
		if amount.MatchString(now) {
			return []any{"0", "1Gi"}
		}
		return a.texts(p)
	case nil:
		return anys(a.world.constants.texts[p.name()])
	}
	return nil
}

func (a *alphabet) numbers(p place) (out []any) {
	for _, n := range a.world.constants.numbers[p.name()] {
		out = append(out, n)
	}
	now, _ := p.now.(int64)
	return append(out, int64(0), now+1)
}

func (a *alphabet) texts(p place) []any {
	now, _ := p.now.(string)
	out := slices.Concat(anys(a.world.others[now]), anys(a.world.constants.texts[p.name()]), anys(a.world.siblings[siblingKey(p)]))
	if now == "" || len(out) <= 1 {
		out = append(out, "a")
	}
	return out
}

// refused reports whether the API server takes no such value at a place.
func refused(t *schema.Type, v any) bool {
	if t == nil || v == nil {
		return false
	}
	reason, _ := t.Refused(v)
	return reason != ""
}
