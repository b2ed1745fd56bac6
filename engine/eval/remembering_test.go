package eval

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/budget"
)

// plainKeeps says whether a value may be remembered, by adding up all there is.
func plainKeeps(news, before map[string]value.Value, others int, name string, v value.Value) error {
	news = maps.Clone(news)
	news[name] = v
	size, own := 0, 0
	for name, v := range news {
		size += RememberedBytes(name, v)
	}
	for name, v := range before {
		if _, replaced := news[name]; !replaced {
			own += RememberedBytes(name, v)
		}
	}
	return hasRoom(size, own, own+others)
}

// randomly is a value to be remembered: often a large one, sometimes none.
func randomly(r *rand.Rand) value.Value {
	if r.IntN(4) == 0 {
		return value.Null
	}
	return value.OfString(strings.Repeat("x", r.IntN(MaxRemembered/3)))
}

// TestRemembering: what may be remembered, and what is after items that have failed, is
// what adding up all values says.
func TestRemembering(t *testing.T) {
	t.Parallel()
	refused := map[error]int{}
	for seed := range uint64(budget.Of(60, 200)) {
		r := rand.New(rand.NewPCG(seed, 1))
		before, bytes := map[string]value.Value{}, 0
		for i := range r.IntN(4) {
			v := value.OfString(strings.Repeat("y", r.IntN(MaxRemembered/4)))
			before[fmt.Sprint(i)] = v
			bytes += RememberedBytes(fmt.Sprint(i), v)
		}
		others := []int{0, MaxRememberedAll - r.IntN(MaxRemembered)}[r.IntN(2)]
		ev := &evaluation{decision: &Decision{}, in: Input{Remembered: func(name string) (own, all, named int) {
			return bytes, bytes + others, RememberedBytes(name, before[name])
		}}}
		model := map[string]value.Value{}
		for range 10 {
			ev.remembering.save()
			saved := maps.Clone(model)
			for range r.IntN(4) {
				name, v := fmt.Sprint(r.IntN(6)), randomly(r)
				want := plainKeeps(model, before, others, name, v)
				if got := ev.keeps(name, v); !errors.Is(got, want) {
					t.Fatalf("seed %d: %v, not %v", seed, got, want)
				}
				if refused[want]++; want == nil {
					model[name] = v
				}
			}
			if r.IntN(3) == 0 {
				ev.remembering.restore(ev.decision.Remember)
				model = saved
			}
			if !maps.Equal(model, ev.decision.Remember) {
				t.Fatalf("seed %d: %v is remembered, not %v", seed, ev.decision.Remember, model)
			}
		}
	}
	if refused[errRemembered] == 0 || refused[errRememberedAll] == 0 || refused[nil] == 0 {
		t.Errorf("not all answers were given: %v", refused)
	}
}
