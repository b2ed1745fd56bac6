package brake

import (
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
func (f *fighters) write(policy, name string) {
	target, p := widget, f.brakes.Policy(policy)
	target.Name = name
	e := patch(object{"owner": f.values[name]}, object{"owner": policy})
	e.Target = target
	ruling := p.Admit(Request{Key: eval.Key{Namespace: "ns", Name: name}, Now: noon, World: ten{}, Effects: []*eval.Effect{e}})
	for _, allowed := range ruling.Allowed {
		f.values[name] = policy
		p.Settle(ruling, []Done{{Effect: allowed, Written: true, Version: "1"}}, noon)
	}
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
