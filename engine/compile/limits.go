package compile

import (
	"slices"
	"strings"
	"time"

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
func (b *builder) limits() {
	b.plan.Limits = plan.Limits{Changes: b.limit(b.doc.Spec.Limits.Changes), Removals: b.limit(b.doc.Spec.Limits.Removals)}
}

func (b *builder) limit(doc *v1alpha1.Limit) *plan.Limit {
	if doc == nil {
		return nil
	}
	b.compiling = doc.Pos
	if !doc.PerWindow.Set() {
		b.problems.Hintf(doc.Pos, "such as {perWindow: 100, window: 1m}", "a limit needs perWindow")
		return nil
	}
	out := &plan.Limit{PerWindow: b.limitNumber(doc.PerWindow), Window: b.limitWindow(doc.Window), Input: -1}
	if !doc.PerCentOf.Set() {
		if doc.AtLeast.Set() {
			b.problems.Errorf(doc.AtLeast.Pos(), "atLeast is for a limit with perCentOf")
		}
		return out
	}
	out.PerCentOf, out.Input = b.perCentOf(doc.PerCentOf)
	out.AtLeast = limitAtLeast
	if doc.AtLeast.Set() {
		out.AtLeast = b.limitNumber(doc.AtLeast)
	}
	return out
}

func (b *builder) limitNumber(t v1alpha1.Template) int64 {
	v := b.constant(t)
	n, ok := value.Int(v)
	if v != nil && (!ok || n < 0 || n > maxLimit) {
		b.problems.Errorf(t.Pos(), "a limit must be a whole number from 0 to %d", maxLimit)
	}
	return n
}

func (b *builder) limitWindow(t v1alpha1.Template) time.Duration {
	if !t.Set() {
		return limitWindow
	}
	v := b.constant(t)
	d, ok := value.Duration(v)
	if text, isText := value.Str(v); !ok && isText {
		parsed, err := time.ParseDuration(text)
		d, ok = parsed, err == nil
	}
	if v != nil && (!ok || d < minLimitWindow || d > maxLimitWindow) {
		b.problems.Errorf(t.Pos(), "the window of a limit must be a duration from %s to %s", minLimitWindow, maxLimitWindow)
	}
	return d
}

// perCentOf finds what a limit is a percentage of.
func (b *builder) perCentOf(t v1alpha1.Text) (string, int) {
	if t.Value == plan.ObjectsOfPolicy {
		return t.Value, -1
	}
	known := []string{plan.ObjectsOfPolicy}
	for _, in := range b.plan.Inputs {
		known = append(known, "inputs."+in.Name)
	}
	at := slices.Index(known, t.Value) - 1
	if at < 0 {
		b.problems.Hintf(t.Pos(), document.DidYouMean(t.Value, known), "perCentOf must be one of %s", strings.Join(known, ", "))
	}
	return t.Value, at
}
