package direct

import (
	"slices"
	"sync"

	"github.com/google/cel-go/common/types/ref"

	"github.com/edict-dev/edict/engine/expr"
)

// Frame is one evaluation of a program.
type Frame struct {
	Scope
	meter *expr.Meter
	// vars are the variables of the loops under way.
	vars []ref.Val
	// cost and bytes are what was charged, to be given back; rounds are those of all
	// loops.
	cost   uint64
	bytes  int
	rounds int
	// lifted are parts of the program that were computed for all rows, of which this
	// evaluation is one; nil when none were.
	lifted []vec
	row    int
	// stack has the arguments of the calls under way, of which there are so many.
	stack [maxCalls]Args
	calls int
}

// maxCalls is how many calls within one another need no memory of their own.
const maxCalls = 6

// args returns place for the arguments of a call, until free is called.
func (f *Frame) args() *Args {
	if f.calls++; f.calls > maxCalls {
		return &Args{}
	}
	return &f.stack[f.calls-1]
}

// free ends the last call.
func (f *Frame) free() {
	if f.calls--; f.calls < maxCalls {
		f.stack[f.calls] = Args{}
	}
}

var frames = sync.Pool{New: func() any { return &Frame{} }}

func take(scope Scope, meter *expr.Meter, vars int) *Frame {
	f := frames.Get().(*Frame)
	f.Scope, f.meter = scope, meter
	if vars > 0 {
		f.vars = slices.Grow(f.vars[:0], vars)[:vars]
	}
	return f
}

// end frees a frame. What an evaluation without an answer was charged is given back:
// the interpreter charges it again.
func (f *Frame) end(answered bool) {
	if !answered && f.meter != nil {
		f.meter.Refund(f.cost, f.bytes)
	}
	clear(f.vars)
	for f.calls > 0 { // a call has panicked
		f.free()
	}
	f.Scope, f.meter, f.vars, f.lifted = nil, nil, f.vars[:0], nil
	f.cost, f.bytes, f.rounds = 0, 0, 0
	frames.Put(f)
}

// roundsUnwatched is how many rounds loops make before somebody looks whether the
// evaluation was cancelled, or has taken too long.
const roundsUnwatched = 256

// round charges a round of a loop, and reports whether it may be made.
func (f *Frame) round(cost uint64) bool {
	before := f.meter.Spent()
	err := f.meter.Step(cost)
	f.cost += f.meter.Spent() - before
	if f.rounds++; f.rounds%roundsUnwatched == 0 && err == nil {
		err = f.meter.Context().Err()
	}
	return err == nil
}

// What a call may take without being charged: what the expression costs by its
// text covers it.
const (
	freeWork  = 3
	freeBytes = 64
)

// Free reports whether a call takes too little to be charged.
func Free(need expr.Need) bool {
	return need.Work <= freeWork && need.Bytes <= freeBytes && need.Text <= freeBytes && need.Scratch <= expr.ScratchBytes
}

// charge charges a call, and reports whether it may be made.
func (f *Frame) charge(need expr.Need) bool {
	if Free(need) {
		return true
	}
	cost, bytes := f.meter.Spent(), f.meter.Allocated()
	err := f.meter.Charge("", need)
	f.cost += f.meter.Spent() - cost
	f.bytes += f.meter.Allocated() - bytes
	return err == nil
}
