package brake

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

func (ten) UID(world.ID) string { return "1" }

// fighters are two policies that write one field of several objects in turn.
type fighters struct {
	brakes *Brakes
	values map[string]string
}

func newFighters() *fighters {
	f := &fighters{brakes: New(Settings{}, nil), values: map[string]string{}}
	for _, policy := range []string{"a", "b"} {
		f.brakes.Policy(policy).Adopt(&plan.Policy{Name: policy, Revision: "1"})
	}
	return f
}

// write lets a policy write its name into the field of an object.
func (f *fighters) write(policy, name string) { f.begin(policy, name)() }

// begin is write up to where the API server answers, and returns the rest: a write is seen by
// others before its answer is there.
func (f *fighters) begin(policy, name string) (end func()) {
	target, p := widget, f.brakes.Policy(policy)
	target.Name = name
	e := patch(object{"owner": f.values[name]}, object{"owner": policy})
	e.Target = target
	ruling := p.Admit(Request{Key: eval.Key{Namespace: "ns", Name: name}, Now: noon, World: ten{}, Effects: []*eval.Effect{e}})
	if len(ruling.Allowed) == 0 {
		return func() {}
	}
	f.values[name] = policy
	return func() { p.Settle(ruling, []Done{{Effect: ruling.Allowed[0], Written: true, Version: "1"}}, noon) }
}

// fight lets both write until the field of one object was written back too often, and
// that of another object once less.
func (f *fighters) fight() {
	turns := []string{"a", "b", "a", "b", "a", "b"} // the third is the first one back
	for _, policy := range turns {
		f.write(policy, "other")
	}
	for _, policy := range append(turns, "a") {
		f.write(policy, "one")
	}
}

// TestFightsCountAfresh: once the fight is ended by a person or an edit, the writes
// before count no more, also those to other objects than the one that ended it.
func TestFightsCountAfresh(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*fighters){
		"resumed": func(f *fighters) { f.brakes.Resume("a", "somebody", noon.Add(time.Second)) },
		"edited":  func(f *fighters) { f.brakes.Policy("a").Adopt(&plan.Policy{Name: "a", Revision: "2"}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFighters()
			f.fight()
			if len(f.brakes.Pauses("a")) == 0 {
				t.Fatal("nothing is paused")
			}
			end(f)
			for _, object := range []string{"one", "other"} {
				f.write("a", object)
			}
			if pauses := f.brakes.Pauses("a"); len(pauses) > 0 || f.values["other"] != "a" {
				t.Errorf("paused again: %+v", pauses)
			}
		})
	}
}

// TestFightsWithLateAnswers: the answer to a write of one policy may arrive after the other
// has written the field back. That is a fight of both all the same, and nobody else is told
// of. Each policy waits for an answer before it writes again.
func TestFightsWithLateAnswers(t *testing.T) {
	t.Parallel()
	for seed := range uint64(500) {
		random := rand.New(rand.NewPCG(seed, 0))
		f := newFighters()
		under := map[string]func(){}
		for range 100 {
			policy := []string{"a", "b"}[random.IntN(2)]
			if end := under[policy]; end != nil {
				end()
				under[policy] = nil
			} else if f.values["one"] != policy {
				under[policy] = f.begin(policy, "one")
			}
		}
		states := f.brakes.States(noon)
		for _, policy := range []string{"a", "b"} {
			s := states[policy]
			if len(s.Contested) > 0 || len(s.Pauses) != 1 || s.Pauses[0].Reason != Fight {
				t.Fatalf("%d, %s: contested %v, pauses %+v, want one of a fight", seed, policy, s.Contested, s.Pauses)
			}
		}
	}
}

// TestSomebodyElseAfterAnotherPolicy: what another policy has written once, somebody else
// writes from then on. That policy is not paused for it.
func TestSomebodyElseAfterAnotherPolicy(t *testing.T) {
	t.Parallel()
	f := newFighters()
	f.write("b", "one")
	for range 2 * maxFlips {
		f.write("a", "one")
		f.values["one"] = "b"
	}
	states := f.brakes.States(noon)
	if s := states["b"]; s != nil && len(s.Pauses) > 0 {
		t.Errorf("the other policy is paused: %+v", s.Pauses)
	}
	if s := states["a"]; s == nil || len(s.Pauses) > 0 || len(s.Contested) != 1 {
		t.Errorf("%+v, want one contested field", s)
	}
}
