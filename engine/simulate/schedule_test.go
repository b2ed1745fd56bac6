package simulate

import (
	"fmt"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/eval"
)

// TestSchedule: the earliest first, each item once, at the time given last.
func TestSchedule(t *testing.T) {
	t.Parallel()
	s := newSchedule()
	name := func(n int) item { return item{"p", eval.Key{Name: fmt.Sprint(n)}} }
	for n := range 100 {
		s.set(name(n), start.Add(time.Duration(n*37%100)*time.Second)) // each second once
	}
	s.set(name(0), start.Add(200*time.Second)) // moved from 0 s
	s.remove(name(1))                          // 37 s
	s.remove(name(1))
	if got := s.first(); !got.Equal(start.Add(time.Second)) || len(s.list) != 99 || len(s.all()) != 99 {
		t.Fatalf("first %v, %d items", got, len(s.list))
	}
	last, taken := time.Duration(0), 0
	for second := range 201 {
		now := time.Duration(second) * time.Second
		for i, ok := s.take(start.Add(now)); ok; i, ok = s.take(start.Add(now)) {
			var n int
			if _, err := fmt.Sscan(i.key.Name, &n); err != nil {
				t.Fatal(err)
			}
			if want := time.Duration(n*37%100) * time.Second; n != 0 && now != want || n == 0 && second != 200 {
				t.Errorf("%d was taken at %v", n, now)
			}
			last, taken = now, taken+1
		}
	}
	if taken != 99 || last != 200*time.Second || len(s.list) != 0 || !s.first().IsZero() {
		t.Errorf("%d taken, the last at %v, %d left", taken, last, len(s.list))
	}
}
