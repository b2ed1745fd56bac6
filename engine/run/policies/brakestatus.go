package policies

import (
	"fmt"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/brake"
)

// brakeStatus is what the brakes do about a policy, as lines of a status.
type brakeStatus struct {
	// paused and contested are statuses of their own; failing counts with what
	// fails, and holds is worth a look.
	paused, contested, failing, holds []string
}

// maxListed bounds what one line lists.
const maxListed = 3

// brakeStatusOf returns the state of the brakes of a policy in a namespace as text; nil is
// nothing.
func brakeStatusOf(s *brake.State, namespace string) (n brakeStatus) {
	if s == nil {
		return n
	}
	for i := range s.Pauses {
		n.paused = append(n.paused, s.Pauses[i].Text(namespace))
	}
	if len(s.Contested) > 0 {
		n.contested = []string{"another writer writes the same fields, so each is written once in ten seconds: " + listed(s.Contested)}
	}
	if len(s.Slowed) > 0 {
		n.failing = append(n.failing, "slowed down for "+plural(len(s.Slowed), "object")+", such as: "+s.Slowed[0])
	}
	if k := s.Kept[brake.Uncertain]; k > 0 {
		n.failing = append(n.failing, "nothing is removed, because what it reads may be out of date: that concerns "+plural(k, "object"))
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

func listed(all []string) string {
	if len(all) <= maxListed {
		return strings.Join(all, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(all[:maxListed], "; "), len(all)-maxListed)
}

// text is all of it, to see whether it has changed.
func (n *brakeStatus) text() string {
	var out []string
	for _, lines := range [][]string{n.paused, n.contested, n.failing, n.holds} {
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
	add(&t.contested, n.contested)
	add(&t.failing, n.failing)
	add(&t.held, n.holds)
	for _, lines := range [][]string{n.paused, n.contested, n.failing} {
		if len(lines) > 0 {
			t.reasons = append(t.reasons, id+": "+lines[0])
		}
	}
}
