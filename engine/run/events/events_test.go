package events

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
)

// TestEvents: a few are recorded at once, of what follows closely the last, with
// how many there were; that all is well again takes no place of what was wrong.
func TestEvents(t *testing.T) {
	t.Parallel()
	recorder := record.NewFakeRecorder(100)
	e := NewRecorder(recorder)
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	m := &corev1.ObjectReference{Name: "m"}
	for i := range 40 {
		e.Add(m, "Normal", "PoliciesActive", fmt.Sprint("revision ", i), at)
	}
	e.Add(m, "Warning", "PoliciesRefused", "wrong", at)
	if n := len(recorder.Events); n != eventBurst+1 {
		t.Errorf("%d events at once", n)
	}
	e.Flush(at.Add(eventPause / 2))
	e.Flush(at.Add(eventPause))
	e.Flush(at.Add(100 * eventPause))
	close(recorder.Events)
	var last string
	n := 0
	for text := range recorder.Events {
		last = text
		n++
	}
	if want := "Normal PoliciesActive revision 39 (and 29 changes before it)"; last != want || n != eventBurst+2 || len(e.pace)+len(e.held) != 0 {
		t.Errorf("%d events, the last is %q, want %q; %v, %v", n, last, want, e.pace, e.held)
	}
}
