package reconcile

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/value"
)

// modelled is a revision's memories, and what they should be as plain maps.
type modelled struct {
	real  *memories
	model map[eval.Key]map[string]string
}

func newModelled() modelled { return modelled{newMemories(), map[eval.Key]map[string]string{}} }

func (m modelled) check(t *testing.T, step int) {
	t.Helper()
	got, bytes := map[eval.Key]map[string]string{}, 0
	for _, key := range m.real.keys() {
		got[key] = map[string]string{}
		for name, v := range m.real.values(key) {
			got[key][name], _ = value.Str(v)
			bytes += eval.RememberedBytes(name, v)
		}
	}
	if d := cmp.Diff(m.model, got); d != "" {
		t.Fatalf("step %d (-want +got):\n%s", step, d)
	}
	if total := m.real.total(); total != bytes {
		t.Fatalf("step %d: %d bytes are counted of %d", step, total, bytes)
	}
}

func (m modelled) remember(t *testing.T, key eval.Key, name, text string) {
	t.Helper()
	before := len(m.model[key])
	if m.model[key] == nil {
		m.model[key] = map[string]string{}
	}
	var v value.Value
	if m.model[key][name] = text; text == "" {
		delete(m.model[key], name)
	} else {
		v = value.OfString(text)
	}
	if more := m.real.remember(key, map[string]value.Value{name: v}); more != len(m.model[key])-before {
		t.Fatalf("%d values more", more)
	}
}

// TestMemories: whatever two revisions remember, give each other and drop, they know what
// plain maps would, and how many bytes it has. What was read does not change.
func TestMemories(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(3, 4))
	sides := [2]modelled{newModelled(), newModelled()}
	key := func() eval.Key { return eval.Key{Name: fmt.Sprint(random.IntN(6))} }
	for step := range 5000 {
		a, b, k := sides[step%2], sides[1-step%2], key()
		seen := a.real.values(k)
		kept := maps.Clone(seen)
		switch random.IntN(12) {
		default:
			a.remember(t, k, fmt.Sprint(random.IntN(3)), strings.Repeat("x", random.IntN(4)))
		case 0:
			a.real.move(b.real, k)
			if values, ok := b.model[k]; ok {
				a.model[k] = values
				delete(b.model, k)
			}
		case 1:
			a.real.copy(b.real)
			for other, values := range b.model {
				a.model[other] = maps.Clone(values)
			}
		case 2:
			less := a.real.drop(func(other eval.Key) bool { return other == k })
			if less != len(a.model[k]) {
				t.Fatalf("%d values less", less)
			}
			delete(a.model, k)
		}
		if d := cmp.Diff(len(kept), len(seen)); d != "" {
			t.Fatalf("step %d: what was read has changed", step)
		}
		a.check(t, step)
		b.check(t, step)
	}
}
