package world

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/google/go-cmp/cmp"
)

// TestLog: the latest changes are told in their order, however often the log has come
// round.
func TestLog(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	l := &log{}
	for seq := uint64(1); seq <= 3*logSize; seq++ {
		l.record(seq, Change{Name: fmt.Sprint(seq)})
		if random.IntN(20) > 0 {
			continue
		}
		since := seq - min(seq, random.Uint64N(logSize/2+1))
		var want []Change
		for at := since + 1; at <= seq; at++ {
			want = append(want, Change{Name: fmt.Sprint(at)})
		}
		got, ok := l.between(since, seq)
		if !ok || len(want)+len(got) > 0 && !cmp.Equal(want, got) {
			t.Fatalf("between %d and %d: %v, %v", since, seq, got, ok)
		}
	}
}

// TestLogIsSmall: a source of few objects has few changes to remember.
func TestLogIsSmall(t *testing.T) {
	t.Parallel()
	l := &log{}
	if size := unsafe.Sizeof(*l); size > 1024 {
		t.Errorf("a log takes %d bytes before anything has changed", size)
	}
	for _, step := range []struct {
		changes uint64
		pages   int
	}{{1, 1}, {pageSize - 1, 1}, {pageSize + 1, 2}, {10 * logSize, logSize / pageSize}} {
		for seq := range step.changes {
			l.record(seq+1, Change{Name: "a"})
		}
		if pages := l.count(); pages != step.pages {
			t.Errorf("%d pages after %d changes, want %d", pages, step.changes, step.pages)
		}
	}
}

func (l *log) count() (pages int) {
	for _, p := range l.pages {
		if p != nil {
			pages++
		}
	}
	return pages
}
