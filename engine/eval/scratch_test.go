package eval

import (
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// TestScratch: what was used since a mark is used again, and what stood there before is
// not touched.
func TestScratch(t *testing.T) {
	t.Parallel()
	ev := &evaluation{scratch: &scratch{}}
	outer := ev.frame()
	outer.push("a", value.OfInt(1))
	mark := ev.scratch.mark()
	for i := range int64(1000) {
		ev.scratch.back(mark)
		inner := outer.extend()
		inner.push("b", value.OfInt(i))
		if v, _ := inner.ResolveName("b"); v != value.OfInt(i) {
			t.Fatalf("b is %v, want %d", v, i)
		}
		if len(outer.locals) != 1 || outer.locals[0].value != value.OfInt(1) {
			t.Fatalf("the outer names are %v", outer.locals)
		}
	}
	if n := len(ev.scratch.locals); n != localsAtOnce {
		t.Errorf("%d names have room", n)
	}
}

// TestScratchGrows: frames that are in use stay as they are when there is no more room.
func TestScratchGrows(t *testing.T) {
	t.Parallel()
	ev := &evaluation{scratch: &scratch{}}
	var all []*frame
	for i := range int64(3 * localsAtOnce) {
		f := ev.frame()
		f.push("i", value.OfInt(i))
		f.push("j", value.OfInt(-i))
		all = append(all, f)
	}
	for i, f := range all {
		if f.locals[0].value != value.OfInt(int64(i)) || f.locals[1].value != value.OfInt(-int64(i)) {
			t.Fatalf("frame %d has %v", i, f.locals)
		}
	}
}

// TestLateReads: what is read through a value that outlives its evaluation is recorded
// nowhere.
func TestLateReads(t *testing.T) {
	t.Parallel()
	r := &memoReader{}
	slot := plan.Slot{Kind: plan.InputSlot}
	late := &view{Map: value.Empty, reader: r, slot: slot}
	late.Find(value.OfString("a"))
	late.Size()
	r.flip(time.Unix(1, 0))
}
