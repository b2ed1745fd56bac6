package cel

import (
	"fmt"
	"testing"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// many are texts, and a few other values among them.
func many(n int) *value.List {
	items := []value.Value{value.OfInt(1), value.OfDouble(2.5), value.Null}
	for i := range n {
		items = append(items, value.OfString(fmt.Sprintf("item-%05d", i)))
	}
	return value.NewList(items)
}

// manyScope has lists that are read: a name, a field and an entry.
func manyScope(n int) names {
	scope := scoped()
	l := many(n)
	scope["l"], scope["s"], scope["n"], scope["d"] = l, value.OfString("item-00002"), value.OfInt(1), value.OfString("b")
	scope["m"] = value.FromMap(map[string]value.Value{"a": l, "b": l})
	return scope
}

// ways runs an expression without the interpreter and with it, and returns what it gives
// and costs.
func ways(t *testing.T, p *Program, scope names) (got value.Value, cost uint64) {
	t.Helper()
	charged, interpreted := expr.NewMeter(t.Context()), expr.NewMeter(t.Context())
	defer charged.Close()
	defer interpreted.Close()
	got = p.directly(scope, charged)
	want, err := p.interpret(scope, interpreted)
	switch {
	case err != nil || got == nil:
		t.Fatalf("%s: %v, directly %v", p.Source(), err, got)
	case !alike(got, want):
		t.Errorf("%s is %s, with the interpreter %s", p.Source(), shown(got), shown(want))
	case charged.Spent() != interpreted.Spent() || charged.Allocated() != interpreted.Allocated():
		t.Errorf("%s costs %d, with the interpreter %d", p.Source(), charged.Spent(), interpreted.Spent())
	}
	return got, charged.Spent()
}

// TestMembersOfLists: looking for each text of one list in another costs in proportion to
// the first, if the other is read; else to both. The interpreter charges the same.
func TestMembersOfLists(t *testing.T) {
	t.Parallel()
	env := accessEnv(t)
	for _, tc := range []struct {
		text   string
		linear bool
	}{
		{"l.filter(x, x in l)", true},
		{"l.filter(x, !(x in m.a))", true},
		{"l.filter(x, x in m[d])", true},
		{"l.all(x, x in l)", true},
		{"l.map(x, [x]).filter(x, x[0] in l)", true},
		{"l.filter(x, x in l.filter(y, y == x))", false}, // each makes a list of its own
		{"[l].all(k, l.filter(x, x in k).size() > 0)", false},
		{"l.filter(x, size([x]) in l)", false}, // numbers are compared
	} {
		p, problem := wrong(env, tc.text)
		if p == nil || p.direct == nil {
			t.Fatalf("%s: %v", tc.text, problem)
		}
		_, few := ways(t, p, manyScope(20))
		_, more := ways(t, p, manyScope(200))
		if linear := more < 12*few; linear != tc.linear {
			t.Errorf("%s costs %d for 20 items, %d for 200", tc.text, few, more)
		}
	}
}

// TestMemberOfRead: what is in a list does not depend on its length or on how it is
// found.
func TestMemberOfRead(t *testing.T) {
	t.Parallel()
	env := accessEnv(t)
	for text, want := range map[string]bool{
		"s in l": true, "d in l": false, "dyn(1.0) in l": true, "n in l": true, "dyn(3) in l": false, "dyn(null) in l": true,
		"dyn([1]) in l": false, "'item-00010' in m.a": true, "'item-99999' in m[d]": false, "dyn(0.0) / dyn(0.0) in l": false,
		"l.exists(x, x in l)": true, "l.all(x, x in l)": true,
	} {
		p, problem := wrong(env, text)
		if p == nil {
			t.Fatalf("%s: %v", text, problem)
		}
		scope := manyScope(100)
		for range 20 {
			if got, _ := ways(t, p, scope); got != value.OfBool(want) {
				t.Fatalf("%s is %v", text, got)
			}
		}
	}
}
