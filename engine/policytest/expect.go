package policytest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/value"
)

// expect compares the world with an expectation. Errors that it does not
// mention are failures, too.
func (c *caseRun) expect(e *v1alpha1.Expectation) {
	got := c.sim.Result()
	if e.Effects != nil {
		c.compare(e.Effects, "effects", generic(got.Effects[c.effects:]))
	}
	c.quiet = nil
	c.wantErrors(e, got.Errors[c.errors:])
	if e.Calls != nil {
		c.compare(e.Calls, "calls", generic(got.Calls[c.calls:]))
	}
	c.effects, c.errors, c.calls = len(got.Effects), len(got.Errors), len(got.Calls)
	if e.Requeue != nil {
		c.requeue(e.Requeue, got.Requeue)
	}
	for _, n := range e.Objects {
		c.object(n)
	}
	for _, n := range e.Not {
		c.unlike(n)
	}
	for _, n := range e.Changed {
		c.changed(n)
	}
	for _, r := range e.Absent {
		if c.sim.Get(identity(r)) != nil {
			c.failf(r.Name.Pos(), "%s %s should not exist", r.Kind.Value, r.Name.Value)
		} else if err := c.spelling.absent(identity(r), c.sim.Objects()); err != nil {
			c.failf(r.Name.Pos(), "%s %s %v", r.Kind.Value, r.Name.Value, err)
		}
	}
}

// Bounds of what is shown of failures: longer texts are cut, larger values are not written
// out, and of errors that were not expected only so many are named.
const (
	maxFailure = 256 << 10
	maxShown   = 1 << 20
	maxErrors  = 20
)

func (c *caseRun) failf(at document.Position, format string, args ...any) {
	c.failures = append(c.failures, at.String()+": "+value.Cut(fmt.Sprintf(format, args...), maxFailure))
}

// compare matches a list in part and shows a diff in the shape of what was
// wanted.
func (c *caseRun) compare(want *document.Node, what string, got []any) {
	wanted, ok := want.Plain().([]any)
	if !ok {
		c.failf(want.Pos, "%s must be a list", what)
		return
	}
	shaped := any(got)
	if len(wanted) == len(got) {
		c.documentsOf(wanted, got)
		shaped = shape(wanted, got)
	}
	switch {
	case equal(normal(any(wanted)), normal(shaped)):
		c.holds(want.Pos, wanted)
		return
	case what == "effects":
		c.effectsDiffer(want.Pos, wanted, got)
	default:
		c.diff(want.Pos, what, wanted, shaped)
	}
	c.differs(want.Pos, wanted, wantedOf(wanted, got))
}

// documentsOf names the document in place of a policy where that is what is wanted: a
// document for several kinds is several policies.
func (c *caseRun) documentsOf(wanted, got []any) {
	for i := range wanted {
		w, _ := wanted[i].(map[string]any)
		g, _ := got[i].(map[string]any)
		if name, _ := g["policy"].(string); name != "" && w["policy"] == c.documents[name] {
			g["policy"] = w["policy"]
		}
	}
}

// diff reports whether two values differ, which is a failure.
func (c *caseRun) diff(at document.Position, what string, want, got any) bool {
	if equal(normal(want), normal(got)) {
		return false
	}
	if simulate.Size(got) > maxShown {
		c.failf(at, "%s differ; what there is takes more than %d MiB and is not shown", what, maxShown>>20)
		return true
	}
	c.failf(at, "%s differ (-want +got):\n%s", what, yamlDiff(want, got))
	return true
}

func equal(a, b any) bool { return cmp.Equal(a, b) }

// there returns an object that is asked for, and the one that there is; false if that fails.
func (c *caseRun) there(n *document.Node, check func(*document.Node, simulate.Object) error) (want, got simulate.Object, ok bool) {
	want, err := object(n)
	if err != nil {
		c.failures = append(c.failures, err.Error())
		return nil, nil, false
	}
	c.wanted = append(c.wanted, want)
	id := simulate.ID(want)
	if got = c.sim.Get(id); got == nil {
		c.failf(n.Pos, "%s", missing(id, c.sim.Objects()))
		return nil, nil, false
	}
	if err := check(n, want); err != nil { // what no object has is always absent
		c.failures = append(c.failures, err.Error())
		return nil, nil, false
	}
	return want, got, true
}

func (c *caseRun) object(n *document.Node) {
	want, got, ok := c.there(n, c.spelling.written)
	if !ok {
		return
	}
	id, shaped := simulate.ID(want), shape(want, any(got))
	if c.diff(n.Pos, id.Kind()+" "+id.Name(), want, shaped) {
		c.differs(n.Pos, want, asWritten(want, shaped))
	} else {
		c.holds(n.Pos, want)
	}
}

func (c *caseRun) wantErrors(e *v1alpha1.Expectation, got []simulate.Error) {
	var want []any
	at := e.Pos
	if e.Errors != nil {
		if wrong := noText(e.Errors); wrong != nil {
			c.failf(wrong.Pos, "errors must be a list of texts, each a part of an error's message, not %s", wrong.Kind)
			return
		}
		want, _ = e.Errors.Plain().([]any)
		at = e.Errors.Pos
	}
	failures := len(c.failures)
	both, met := min(len(got), len(want)), []simulate.Error{}
	for i, g := range got[:both] {
		if text := fmt.Sprint(want[i]); strings.Contains(g.Message, text) {
			met = append(met, g)
		} else {
			c.failf(at, "error %d should contain %q: %s", i+1, text, g.Message)
		}
	}
	c.unexpected(at, got[both:], met)
	for i, w := range want[both:] {
		again := ""
		if slices.Contains(want[:both+i], w) {
			again = fmt.Sprintf(" as error %d: it is expected more often than it came", both+i+1)
		}
		c.failf(at, "no error with %q came%s", fmt.Sprint(w), again)
	}
	switch {
	case e.Errors == nil:
	case len(c.failures) == failures:
		c.holds(at, e.Errors.Plain())
	default:
		texts := make([]string, len(got))
		for i, g := range got {
			texts[i] = g.Message
		}
		c.differs(at, e.Errors.Plain(), errorsOf(want, texts))
	}
}

func (c *caseRun) requeue(want *document.Node, got []simulate.Requeue) {
	times := make([]string, len(got))
	for i, q := range got {
		times[i] = q.At.Format(time.RFC3339Nano)
	}
	slices.Sort(times)
	list := make([]any, len(times))
	for i, t := range times {
		list[i] = t
	}
	if c.diff(want.Pos, "requeue", want.Plain(), list) {
		c.differs(want.Pos, want.Plain(), list)
	} else {
		c.holds(want.Pos, want.Plain())
	}
}

// generic returns values as plain JSON values.
func generic[T any](list []T) []any {
	out := make([]any, len(list))
	for i := range list {
		out[i] = apiserver.Generic(list[i])
	}
	return out
}

// quiet is a step without an expectation, with the number of effects after it. The
// beginning of the case has no position.
type quiet struct {
	at      document.Position
	effects int
}

// effectsDiffer reports the first difference of the effects in words, and a line for each
// effect.
func (c *caseRun) effectsDiffer(at document.Position, want, got []any) {
	var out strings.Builder
	fmt.Fprintf(&out, "effects differ: want %d, got %d%s\n%s\n", len(want), len(got), c.origins(len(got)), firstDifference(want, got))
	lines(&out, "got", got, effectLine)
	lines(&out, "want", want, plainText)
	c.failf(at, "%s", out.String())
}

// origins names the steps without an expectation to which the first effects belong.
func (c *caseRun) origins(got int) string {
	var lines []string
	n := 0
	for _, q := range c.quiet {
		if q.effects == c.effects+n {
			continue
		}
		n = q.effects - c.effects
		place := "the beginning of the case"
		if q.at.Line > 0 {
			place = fmt.Sprintf("the step at line %d", q.at.Line)
		}
		lines = append(lines, place)
	}
	if n == 0 || len(c.quiet) == 1 && n == got && c.quiet[0].at.Line == 0 {
		return ""
	}
	return fmt.Sprintf("; the first %d %s from %s, which %s nothing", n, plural(n, "is", "are"), strings.Join(lines, " and "), plural(len(lines), "expects", "expect"))
}
