package policies

import (
	"fmt"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/brake"
)

// brakeStatus is what the brakes do about a policy, as lines of a status.
type brakeStatus struct {
	// paused is a status of its own; failing counts with what fails, and holds is worth
	// a look.
	paused, failing, holds []string
}

// brakeStatusOf returns what the brakes do about a policy in a namespace as text; nothing if
// s is nil.
func brakeStatusOf(s *brake.State, namespace string) (n brakeStatus) {
	if s == nil {
		return n
	}
	if paced := len(s.Paced); paced > 0 {
		n.failing = append(n.failing, "at its pace for ten minutes about "+plural(paced, "object")+", such as: "+s.Paced[0].String())
	}
	if uncertain := s.Kept[brake.Uncertain]; uncertain > 0 {
		n.failing = append(n.failing, "nothing is removed, because what it reads may be out of date: that concerns "+plural(uncertain, "object"))
	}
	for i := range s.Pauses {
		n.paused = append(n.paused, s.Pauses[i].Text(namespace))
	}
	for i := range s.Holds {
		h := &s.Holds[i]
		n.holds = append(n.holds, fmt.Sprintf("%s is held until %s by %s: %s", h, h.Until.UTC().Format(time.RFC3339), h.By, h.Reason))
	}
	return n
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// text is all of it, to see whether it has changed.
func (n *brakeStatus) text() string {
	var out []string
	for _, lines := range [][]string{n.paused, n.failing, n.holds} {
		out = append(out, strings.Join(lines, "\n"))
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// addBrakes adds what the brakes do about a policy.
func (t *tally) addBrakes(id string, n brakeStatus) {
	add := func(to *[]string, lines []string) {
		for _, line := range lines {
			*to = append(*to, id+": "+line)
		}
	}
	add(&t.paused, n.paused)
	add(&t.failing, n.failing)
	add(&t.warnings, n.holds)
	for _, lines := range [][]string{n.paused, n.failing} {
		if len(lines) > 0 {
			t.reasons = append(t.reasons, id+": "+lines[0])
		}
	}
}
