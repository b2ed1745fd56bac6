package run

import (
	"fmt"
	"path"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/edict-dev/edict/engine/brake"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// brakeNote is what the brakes do about a policy, in the lines of a ConfigMap.
type brakeNote struct {
	// paused and contested are statuses of their own; failing counts with what
	// fails, and holds is worth a look.
	paused, contested, failing, holds []string
}

// maxListed bounds what one line lists.
const maxListed = 3

// brakeNoteOf puts the state of the brakes into words; nil is nothing.
func brakeNoteOf(s *brake.State) (n brakeNote) {
	if s == nil {
		return n
	}
	for i := range s.Pauses {
		n.paused = append(n.paused, s.Pauses[i].String())
	}
	if len(s.Contested) > 0 {
		n.contested = []string{"somebody else writes what it writes, so each is written once in ten seconds: " + listed(s.Contested)}
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
func (n *brakeNote) text() string {
	var out []string
	for _, lines := range [][]string{n.paused, n.contested, n.failing, n.holds} {
		out = append(out, strings.Join(lines, "\n"))
	}
	return strings.Trim(strings.Join(out, "\n"), "\n")
}

// braked is what the brakes do about a policy.
func (t *term) braked(id string) brakeNote {
	if t.brakes == nil {
		return brakeNote{}
	}
	return brakeNoteOf(t.brakes.state(id))
}

// brake adds what the brakes do about a policy.
func (t *tally) brake(id string, n brakeNote) {
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

// braking tells of what the brakes did, in Events about the ConfigMaps.
func (l *library) braking(c *source.Catalog) {
	for _, n := range l.brakes.take() {
		name := path.Base(l.originOf(c, n.Policy))
		if name == "." {
			continue // it is gone
		}
		kind := corev1.EventTypeWarning
		switch n.Kind {
		case brake.Resumed, brake.HoldBegun, brake.HoldEnded:
			kind = corev1.EventTypeNormal
		}
		object := &corev1.ObjectReference{APIVersion: "v1", Kind: "ConfigMap", Namespace: l.PolicyNamespace, Name: name, UID: types.UID(l.uids[name])}
		l.told.events.add(object, kind, string(n.Kind), value.Cut(n.Text, maxText), time.Now())
	}
}
