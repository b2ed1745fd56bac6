package simulate

import (
	"testing"
	"time"
)

// tells follows a Widget's phase: one change in ten seconds for each team.
const tells = `
  for: {apiVersion: example.com/v1, kind: Widget}
  rules:
    - name: remember
      do: [{remember: {name: phase, value: "${object.spec.phase}"}}]
    - name: tell
      when: memory.get("phase").hasValue() && memory.get("phase").value() != object.spec.phase
      debounce: {key: "${object.spec.team}", window: 10s}
      do: [{event: {type: Normal, reason: Changed, message: "${object.spec.team} is ${object.spec.phase} at ${string(now)}"}}]
`

func teamed(team, phase string) Object {
	return manifest("a", Object{"spec": Object{"team": team, "phase": phase}})
}

// changed is the line of an event of the policy above.
func changed(after, message string) string {
	return "+" + after + " p1 tell: event a/ {\"message\":\"" + message + "\",\"reason\":\"Changed\",\"type\":\"Normal\"}"
}

func stamp(after time.Duration) string { return start.Add(after).Format(time.RFC3339) }

// TestPutOffAndMoved: what was put off under a key that the object has left
// since is run once, for the object as it was, beside what it is now.
func TestPutOffAndMoved(t *testing.T) {
	t.Parallel()
	put := func(at time.Duration, team, phase string) Entry {
		return Entry{At: Duration{at}, Apply: teamed(team, phase)}
	}
	gone := Entry{At: Duration{5 * time.Second}, Delete: &Reference{APIVersion: "example.com/v1", Kind: "Widget", Name: "a"}}
	for _, test := range []struct {
		name    string
		entries []Entry
		want    []string
	}{
		{"moved while it waits", []Entry{put(1*time.Second, "x", "2"), put(2*time.Second, "x", "3"), put(3*time.Second, "y", "4")}, []string{
			changed("1s", "x is 2 at "+stamp(time.Second)),
			changed("3s", "y is 4 at "+stamp(3*time.Second)),
			changed("11s", "x is 3 at "+stamp(11*time.Second)),
		}},
		{"moved and gone", []Entry{put(1*time.Second, "x", "2"), put(2*time.Second, "x", "3"), put(3*time.Second, "y", "4"), put(4*time.Second, "y", "5"), gone}, []string{
			changed("1s", "x is 2 at "+stamp(time.Second)),
			changed("3s", "y is 4 at "+stamp(3*time.Second)),
			changed("11s", "x is 3 at "+stamp(11*time.Second)),
			changed("13s", "y is 5 at "+stamp(13*time.Second)),
		}},
		{"moved and back", []Entry{put(1*time.Second, "x", "2"), put(2*time.Second, "x", "3"), put(3*time.Second, "y", "3"), put(4*time.Second, "x", "6")}, []string{
			changed("1s", "x is 2 at "+stamp(time.Second)),
			changed("11s", "x is 6 at "+stamp(11*time.Second)),
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			s := simulation(t, []Object{teamed("x", "1")}, tells)
			s.Run(t.Context(), test.entries, time.Minute)
			wantSame(t, "what was done", test.want, told(s.Result()))
		})
	}
}

// TestMemoryInTrace: a trace shows what the key remembers.
func TestMemoryInTrace(t *testing.T) {
	t.Parallel()
	b := loaded(t, tells)
	s := New(t.Context(), Options{Policies: b.Policies, Schemas: b.Schemas, Objects: []Object{teamed("x", "1")}, Start: start, KeepTraces: true})
	s.Run(t.Context(), nil, -1)
	traces := s.Result().Traces
	wantSame(t, "what is remembered", map[string]any{"phase": "1"}, traces[len(traces)-1].Remembered)
}
