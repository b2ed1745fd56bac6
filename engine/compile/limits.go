package compile

import (
	"slices"
	"strings"
	"time"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/value"
)

// What a limit says that does not say it.
const (
	limitWindow  = time.Minute
	limitAtLeast = 10
)

// The bounds of a limit.
const (
	minLimitWindow = time.Second
	maxLimitWindow = 24 * time.Hour
	maxLimit       = 1_000_000_000
)

// limits compiles spec.limits.
type limits struct {
	constants *constants
	inputs    []*plan.Input
	problems  *findings
}

func (ls *limits) all(doc v1alpha1.Limits) plan.Limits {
	return plan.Limits{Changes: ls.limit(doc.Changes), Removals: ls.limit(doc.Removals)}
}

func (ls *limits) limit(doc *v1alpha1.Limit) *plan.Limit {
	if doc == nil {
		return nil
	}
	ls.problems.enter(doc.Pos)
	if !doc.PerWindow.Set() {
		ls.problems.Hintf(doc.Pos, "such as {perWindow: 100, window: 1m}", "a limit needs perWindow")
		return nil
	}
	out := &plan.Limit{PerWindow: ls.number(doc.PerWindow), Window: ls.window(doc.Window), Input: -1}
	if !doc.PerCentOf.Set() {
		if doc.AtLeast.Set() {
			ls.problems.Errorf(doc.AtLeast.Pos(), "atLeast is for a limit with perCentOf")
		}
		return out
	}
	out.PerCentOf, out.Input = ls.perCentOf(doc.PerCentOf)
	out.AtLeast = limitAtLeast
	if doc.AtLeast.Set() {
		out.AtLeast = ls.number(doc.AtLeast)
	}
	return out
}

func (ls *limits) number(t v1alpha1.Template) int64 {
	v := ls.constants.value(t)
	n, ok := value.Int(v)
	if v != nil && (!ok || n < 0 || n > maxLimit) {
		ls.problems.Errorf(t.Pos(), "a limit must be a whole number from 0 to %d", maxLimit)
	}
	return n
}

func (ls *limits) window(t v1alpha1.Template) time.Duration {
	if !t.Set() {
		return limitWindow
	}
	v := ls.constants.value(t)
	d, ok := value.Duration(v)
	if text, isText := value.Str(v); !ok && isText {
		parsed, err := time.ParseDuration(text)
		d, ok = parsed, err == nil
	}
	if v != nil && (!ok || d < minLimitWindow || d > maxLimitWindow) {
		ls.problems.Errorf(t.Pos(), "the window of a limit must be a duration from %s to %s", minLimitWindow, maxLimitWindow)
	}
	return d
}

// perCentOf finds what a limit is a percentage of.
func (ls *limits) perCentOf(t v1alpha1.Text) (string, int) {
	if t.Value == plan.ObjectsOfPolicy {
		return t.Value, -1
	}
	known := []string{plan.ObjectsOfPolicy}
	for _, in := range ls.inputs {
		known = append(known, analyze.InputRef(in.Name).String())
	}
	at := slices.Index(known, t.Value) - 1
	if at < 0 {
		ls.problems.Hintf(t.Pos(), document.DidYouMean(t.Value, known), "perCentOf must be one of %s", strings.Join(known, ", "))
	}
	return t.Value, at
}
