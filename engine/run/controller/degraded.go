package controller

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/reconcile"
	"github.com/edict-dev/edict/engine/watch"
)

// Degraded is what fails of a policy that runs.
type Degraded struct {
	// Reason names what fails; it stays the same while only the numbers change.
	Reason string
	Text   string
	// Objects is how many objects fail.
	Objects int64
}

// add adds what fails, unless it is known.
func (d *Degraded) add(reason, text string) {
	if lines := strings.Split(d.Text, "\n"); text == "" || slices.Contains(lines, text) {
		return
	}
	if d.Text != "" {
		d.Reason, d.Text = d.Reason+" ", d.Text+"\n"
	}
	d.Reason, d.Text = d.Reason+reason, d.Text+text
}

// report sums up what fails; it returns nil if nothing does, or not for long enough.
func (h *health) report(now time.Time, watches func(*reconcile.Controller) string) *Degraded {
	h.mu.Lock()
	c, blocked := h.controller, h.blocked
	first, n := h.first(now)
	example, wait := h.failing[first], ""
	h.mu.Unlock()
	var out Degraded
	if blocked != "" {
		out.add("writes are stopped", "writes are stopped: "+blocked)
	}
	if c == nil {
		return out.orNil()
	}
	for text := range strings.Lines(watches(c)) {
		text = strings.TrimSuffix(text, "\n")
		out.add(text, text)
	}
	out.Objects = int64(n)
	if n > 0 && blocked == "" {
		if waiting := h.waiting.Load(); example.busy && waiting > 0 {
			wait = fmt.Sprintf(", and %d wait in the queue", waiting)
		}
		out.add(strings.ReplaceAll(example.text, first.Name, ""),
			fmt.Sprintf("%d of %d objects fail%s: %s %s: %s", n, max(n, c.Count()), wait, c.Policy.Primary.Source.Kind, first, example.text))
	}
	return out.orNil()
}

func (d *Degraded) orNil() *Degraded {
	if d.Text == "" {
		return nil
	}
	return d
}

// Degraded returns what fails of a policy; nil if nothing does.
func (r *Runtime) Degraded(id string) *Degraded {
	c := r.controller(id)
	if c == nil {
		return nil
	}
	now := time.Now()
	return c.health.report(now, func(of *reconcile.Controller) string { return r.informers.Problems(of, now) })
}

// Unselected returns a warning with the first object for which a call left no candidate, or
// "". A metric has their number.
func (r *Runtime) Unselected(id string) string {
	if c := r.controller(id); c != nil {
		return c.health.withoutCandidate()
	}
	return ""
}

func (h *health) withoutCandidate() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.unselected) == 0 {
		return ""
	}
	first := slices.MinFunc(slices.Collect(maps.Keys(h.unselected)), watch.CompareKeys)
	return fmt.Sprintf("a call leaves no candidate, such as for %s %s; it is made again every minute", h.controller.Policy.Primary.Source.Kind, first)
}
