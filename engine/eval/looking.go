package eval

import (
	"context"
	"sync"

	"github.com/edict-dev/edict/engine/expr"
)

// looking is an evaluation with a memory, in one piece.
type looking struct {
	memoReader
	ev    evaluation
	meter expr.Meter
	// checked takes what the check of a settled decision notes.
	checked Decision
}

// lookings are those of which nothing is used any more. Most keys are looked at without
// anything to do, and then nothing but the decision leaves the evaluation.
var lookings = sync.Pool{New: func() any { return &looking{} }}

func (l *looking) begin(ctx context.Context, in Input, memo *Memo) {
	l.meter.Start(ctx)
	l.ev.meter, l.ev.scratch, l.ev.reader, l.ev.decision = &l.meter, scratches.Get().(*scratch), &l.memoReader, &l.checked
	l.checked.Revision = in.Policy.Revision
	l.ev.begin(in)
	l.memoReader.begin(&l.ev, memo)
}
