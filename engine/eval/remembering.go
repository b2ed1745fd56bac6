package eval

import (
	"slices"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// remembering counts what an evaluation remembers, one name after the other: items may
// remember thousands.
type remembering struct {
	// size is how many bytes the values have that are remembered, replaced how many
	// those had that earlier evaluations have remembered under their names.
	size, replaced int
	// undo are the values that were remembered since the last save, as they were.
	undo []rememberedBefore
}

// rememberedBefore is what was remembered under a name, and how much altogether, before a
// value was.
type rememberedBefore struct {
	name           string
	v              value.Value
	known          bool
	size, replaced int
}

// remember keeps a value for later evaluations of the key, whatever becomes of
// the writes of this one.
func (x acting) remember(a *plan.Remember, f *frame) error {
	name, err := x.run.ev.text(a.Name, f)
	if err != nil {
		return err
	}
	v, err := x.run.ev.build(a.Value, f)
	if err != nil {
		return err
	}
	if err := x.run.ev.keeps(name, v); err != nil {
		return &expr.Failure{At: a.Pos, Err: err}
	}
	return nil
}

// keeps remembers a value, unless there is no room for it or a record could not show it.
func (ev *evaluation) keeps(name string, v value.Value) error {
	if err := finite(v); err != nil {
		return err
	}
	was, known := ev.decision.Remember[name]
	size, replaced, own, all := ev.remembering.size, ev.remembering.replaced, 0, 0
	if ev.in.Remembered != nil {
		var same int
		if own, all, same = ev.in.Remembered(name); !known {
			replaced += same
		}
	}
	if known {
		size -= RememberedBytes(name, was)
	}
	size += RememberedBytes(name, v)
	if err := hasRoom(size, own-replaced, all-replaced); err != nil {
		return err
	}
	ev.remembering.note(rememberedBefore{name: name, v: was, known: known}, size, replaced)
	if ev.decision.Remember == nil {
		ev.decision.Remember = map[string]value.Value{}
	}
	ev.decision.Remember[name] = v
	return nil
}

// hasRoom refuses values of a size, beside what the key and all keys remember.
func hasRoom(size, own, all int) error {
	switch {
	case size > 0 && own+size > MaxRemembered:
		return errRemembered
	case size > 0 && all+size > MaxRememberedAll:
		return errRememberedAll
	}
	return nil
}

func (m *remembering) note(was rememberedBefore, size, replaced int) {
	was.size, was.replaced = m.size, m.replaced
	m.undo = append(m.undo, was)
	m.size, m.replaced = size, replaced
}

// save begins what restore takes back.
func (m *remembering) save() {
	clear(m.undo)
	m.undo = m.undo[:0]
}

// restore makes what is remembered what it was when it was saved last.
func (m *remembering) restore(values map[string]value.Value) {
	for _, was := range slices.Backward(m.undo) {
		if was.known {
			values[was.name] = was.v
		} else {
			delete(values, was.name)
		}
		m.size, m.replaced = was.size, was.replaced
	}
	m.save()
}
