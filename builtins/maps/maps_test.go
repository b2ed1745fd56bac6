package maps

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/value"
)

func TestMerge(t *testing.T) {
	t.Parallel()
	m := func(list ...string) value.Value {
		out := map[string]value.Value{}
		for i := 0; i < len(list); i += 2 {
			out[list[i]] = value.OfString(list[i+1])
		}
		return value.FromMap(out)
	}
	do := Functions()[0].Do
	for name, tc := range map[string]struct{ a, b, want value.Value }{
		"empty":  {m(), m(), m()},
		"apart":  {m("a", "1"), m("b", "2"), m("a", "1", "b", "2")},
		"shared": {m("a", "1", "c", "3"), m("a", "2"), m("a", "2", "c", "3")},
	} {
		got, err := do(nil, []value.Value{tc.a, tc.b})
		if err != nil || !value.IsTrue(got.Equal(tc.want)) {
			t.Errorf("%s: %v, %v", name, cmp.Diff(value.Plain(tc.want), value.Plain(got)), err)
		}
	}
	if got, err := do(nil, []value.Value{m(), value.OfInt(1)}); err == nil {
		t.Errorf("a map and a number: %v, want an error", got)
	}
}
