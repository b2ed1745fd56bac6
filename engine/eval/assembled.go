package eval

import "github.com/edict-dev/edict/engine/value"

// pairs are values with a key each, in the order in which they were found.
type pairs struct {
	keys []string
	vals []value.Value
}

func newPairs(n int) *pairs { return &pairs{make([]string, 0, n), make([]value.Value, 0, n)} }

func (p *pairs) add(key string, v value.Value) {
	p.keys, p.vals = append(p.keys, key), append(p.vals, v)
}

// keyed makes a map of the values; twice is the first key that another has before.
func (p *pairs) keyed() (m *value.Map, twice *string) {
	if p.sorted(false) {
		return value.NewMap(p.keys, p.vals), nil
	}
	out := make(map[string]value.Value, len(p.keys))
	for i, key := range p.keys {
		if _, dup := out[key]; dup {
			return nil, &p.keys[i]
		}
		out[key] = p.vals[i]
	}
	return value.FromMap(out), nil
}

// grouped makes a map of lists of the values that have the same key.
func (p *pairs) grouped() *value.Map {
	if p.sorted(true) {
		return p.runs()
	}
	groups := map[string][]value.Value{}
	for i, key := range p.keys {
		groups[key] = append(groups[key], p.vals[i])
	}
	out := make(map[string]value.Value, len(groups))
	for key, group := range groups {
		out[key] = value.NewList(group)
	}
	return value.FromMap(out)
}

// runs is grouped for keys that are sorted.
func (p *pairs) runs() *value.Map {
	n := 0
	for i, key := range p.keys {
		if i == 0 || key != p.keys[i-1] {
			n++
		}
	}
	keys, lists := make([]string, 0, n), make([]value.Value, 0, n)
	for from := 0; from < len(p.keys); {
		to := from + 1
		for to < len(p.keys) && p.keys[to] == p.keys[from] {
			to++
		}
		keys, lists = append(keys, p.keys[from]), append(lists, value.NewList(p.vals[from:to:to]))
		from = to
	}
	return value.NewMap(keys, lists)
}

// sorted reports whether the keys are, and whether all differ unless they may be equal.
func (p *pairs) sorted(equal bool) bool {
	for i := 1; i < len(p.keys); i++ {
		if p.keys[i] < p.keys[i-1] || !equal && p.keys[i] == p.keys[i-1] {
			return false
		}
	}
	return true
}
