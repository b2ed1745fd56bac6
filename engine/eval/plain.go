package eval

import (
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// plainReader computes every value each time it is asked for, looking at
// every object. It is the oracle that the reader with a memory is held
// against.
type plainReader struct{ ev *evaluation }

func (r *plainReader) input(i int) (value.Value, error) {
	in := r.ev.in.Policy.Inputs[i]
	table := r.ev.in.World.Table(in.Source)
	if in.Shape == plan.One {
		if in.Off {
			return value.Null, nil
		}
		return search{ev: r.ev, in: in, table: table}.one()
	}
	var members []*member
	if err := r.ev.certain(in, func() { members = r.members(in, table) }); err != nil {
		return nil, err
	}
	return inputValue(in, members)
}

func (r *plainReader) members(in *plan.Input, table *world.Table) (members []*member) {
	if in.Off {
		return nil
	}
	for _, o := range (search{ev: r.ev, in: in, table: table}).every() {
		if m := (search{ev: r.ev, in: in}).judge(o, r.ev.frame()); m != nil {
			members = append(members, m)
		}
	}
	return members
}

func (r *plainReader) variable(i int) (value.Value, error) {
	return computation{r.ev}.plainVariable(r.ev.in.Policy.Variables[i], r.ev.frame())
}

func (r *plainReader) changed()                                   {}
func (r *plainReader) flip(time.Time)                             {}
func (r *plainReader) recalled(string, value.Value)               {}
func (r *plainReader) view(_ plan.Slot, m *value.Map) value.Value { return m }
func (r *plainReader) saw(plan.Slot, value.Value)                 {}
func (r *plainReader) named(int, string)                          {}
func (r *plainReader) done()                                      {}
