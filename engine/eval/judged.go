package eval

import (
	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/expr/cel"
	"github.com/edict-dev/edict/engine/value"
)

// judged tells what the parts of a condition come to, if somebody wants to know. It
// costs the policy nothing.
func (ev *evaluation) judged(p *cel.Program, f *frame) {
	if ev.in.Judged == nil || !p.Type().IsExactType(cel.BoolType) {
		return
	}
	meter := expr.NewMeter(ev.meter.Parent())
	defer meter.Close()
	analyze.ConditionOf(p).Judge(func(part *cel.Program) (holds, ok bool) {
		v, err := part.Eval(f, meter)
		if err != nil {
			return false, false
		}
		holds = value.IsTrue(v)
		ev.in.Judged(part, holds)
		return holds, true
	})
}
