package value

import (
	"strings"

	"github.com/edict-dev/edict/engine/schema"
)

// plan is what the fields of objects of a shape are decoded with.
type plan struct {
	shape *shape
	names []string
	spots []spot
	// deep is what Deep returns of such an object, less its values.
	deep int
	// steps are the fields of such an object as they stood in a text, with those that
	// nobody asks for; nil if they are not known. tries is how often they were noted.
	steps []step
	tries int
}

// step is a field that is expected in a text: its name with what stands around it, and
// where the name stands in the plan; -1 if it does not.
type step struct {
	text  string
	place int
}

// maxTries is how often the steps of a plan are noted: there may be no order in them.
const maxTries = 8

type planKey struct {
	shape *shape
	mask  *Mask
	t     *schema.Type
}

// plan returns the plan of objects of a shape.
func (d *decoder) plan(s *shape, at *spot) *plan {
	if at.last == nil || at.last.shape != s {
		at.last = d.planOf(planKey{s, at.mask, at.t}, at)
	}
	return at.last
}

func (d *decoder) planOf(key planKey, at *spot) *plan {
	if known, ok := d.plans[key]; ok {
		return known
	}
	names := key.shape.keys
	p := &plan{shape: key.shape, names: names, spots: make([]spot, len(names)), deep: HolderBytes}
	for i, name := range names {
		p.spots[i] = at.field(name)
		p.deep += ScalarBytes + len(name)
	}
	d.plans[key] = p
	return p
}

// find returns where a name stands in a plan, or -1. Names come mostly in the order
// of the plan: guess is where it is looked for first.
func (p *plan) find(raw []byte, guess int) int {
	if p == nil {
		return -1
	}
	if guess < len(p.names) && p.names[guess] == string(raw) {
		return guess
	}
	for i := range p.names {
		if p.names[i] == string(raw) {
			return i
		}
	}
	return -1
}

// value returns the field of an object that stands at a place of the plan, if it
// does.
func (p *plan) value(of *Map, place int, name string) Value {
	if place >= 0 && of != nil && of.shape == p.shape {
		return of.vals[place]
	}
	return of.Lookup(name)
}

// learns reports whether the steps of a plan are worth noting: names of data come once.
func (p *plan) learns() bool { return p != nil && p.tries < maxTries && len(p.names) <= maxShared }

// learn notes in which order an object had the fields of the plan.
func (p *plan) learn(order []taken) {
	placed, size := 0, 0
	for _, t := range order {
		size += len(t.name) + len(`"":`)
		if t.place >= 0 {
			placed++
		}
	}
	if placed != len(p.names) {
		return // one of them came again
	}
	var text strings.Builder
	text.Grow(size)
	p.steps, p.tries = make([]step, len(order)), p.tries+1
	for i, t := range order {
		from := text.Len()
		text.WriteByte('"')
		text.Write(t.name)
		text.WriteString(`":`)
		p.steps[i] = step{text.String()[from:], t.place}
	}
}

// taken is a field that was taken from a text: its name there, and where that stands in
// the plan; passed if it does not.
type taken struct {
	name  []byte
	place int
}

// Places of names that do not stand in the plan: of fields that nobody asks for, and of
// others.
const (
	passed  = -1
	unknown = -2
)

// takenOf returns the fields that were taken by steps.
func takenOf(steps []step) (out []taken) {
	for _, s := range steps {
		out = append(out, taken{[]byte(s.text[len(`"`) : len(s.text)-len(`":`)]), s.place})
	}
	return out
}
