package policies

import (
	"cmp"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// tally sums up the policies of a ConfigMap.
type tally struct {
	problems []document.Problem
	// found are those of the texts of policies.
	found            source.Findings
	runs, waits      []string
	failing, reasons []string
	// loading are the policies whose newest text is good and is not in force yet.
	loading []string
	// paused lists pauses, warnings lists holds and calls that left no candidate.
	paused, warnings []string
	// halted are the problems of policies whose rollouts have stopped, rolling counts
	// those that are rolled out.
	halted                    []document.Problem
	wanted, disabled, rolling int
}

func (t *tally) add(id string, p *lifecycle.Policy) {
	t.wanted++
	inForce := p.Report.InForce
	if v := p.Newest; v != nil {
		if v.RolloutStopped {
			t.halted = append(t.halted, v.Problems...)
		} else {
			t.found.Add(v.Unit, v.Problems)
		}
		if v.Disabled() {
			t.disabled++
			if inForce != "" {
				t.runs, t.waits = append(t.runs, id+"="+inForce), append(t.waits, id+": what is under way is being finished")
			}
			return
		}
	}
	t.addReport(id, p)
	if inForce != "" {
		t.runs = append(t.runs, id+"="+inForce)
	}
}

// addReport adds what the controller of a policy has reported. While it loads a revision,
// its report is still about the one before; so it is, if it failed, once the text is refused.
func (t *tally) addReport(id string, p *lifecycle.Policy) {
	refused := p.Newest != nil && !p.Newest.Good()
	switch {
	case p.Phase == lifecycle.Loading:
		t.loading = append(t.loading, id+": its revision is being loaded")
	case p.Phase == lifecycle.RollingOut:
		t.rolling++
	case p.Report.Event == lifecycle.Failed && !refused:
		t.problems = append(t.problems, document.Problem{Severity: document.Error, Message: id + ": " + p.Report.Reason})
	case p.Report.Event == lifecycle.Blocked:
		t.waits = append(t.waits, id+": "+p.Report.Reason)
	}
}

// degrade adds what fails of a policy.
func (t *tally) degrade(id string, d *controller.Degraded) {
	if d == nil {
		return
	}
	for line := range strings.Lines(d.Text) {
		t.failing = append(t.failing, id+": "+strings.TrimSuffix(line, "\n"))
	}
	if d.Reason != "" {
		t.reasons = append(t.reasons, id+": "+d.Reason)
	}
}

// warn adds what deserves attention of a policy; "" is nothing.
func (t *tally) warn(id, text string) {
	if text != "" {
		t.warnings = append(t.warnings, id+": "+text)
	}
}

// wrong returns all problems but those of rollouts.
func (t *tally) wrong() []document.Problem { return slices.Concat(t.found.List(), t.problems) }

func (t *tally) status() string {
	switch {
	case document.HasErrors(t.wrong()):
		return statusRefused
	case len(t.halted) > 0:
		return statusRolloutStopped
	case len(t.waits) > 0 || len(t.loading) > 0:
		return statusWaiting
	case t.wanted == 0:
		return statusEmpty
	case t.disabled == t.wanted:
		return statusDisabled
	case len(t.runs) < t.wanted-t.disabled:
		return statusWaiting
	case len(t.paused) > 0:
		return statusPaused
	case len(t.failing) > 0:
		return statusDegraded
	case t.rolling > 0:
		return statusRollingOut
	default:
		return statusActive
	}
}

// text returns what is wrong with a ConfigMap, or waited for, the most urgent first, and
// that without what changes from one moment to the next; "" is the text. Whatever the
// status is, it has all of that: a policy may wait or fail beside one that is refused.
func (t *tally) text(m *source.ConfigMap) (text, reason string) {
	problems := configmap.ProblemText(m, slices.Concat(t.wrong(), t.halted), document.Error)
	waits := strings.Join(slices.Concat(t.waits, t.loading), "\n")
	text = share(problems, waits, strings.Join(t.paused, "\n"), strings.Join(t.failing, "\n"))
	if len(t.reasons) > 0 {
		reason = strings.Join(slices.Concat([]string{problems, waits}, t.reasons), "\n")
	}
	return text, reason
}

// share puts texts one below the other into the place that an annotation has. If that is
// too small, the longest are cut to one length.
func share(texts ...string) string {
	texts = slices.DeleteFunc(texts, func(text string) bool { return text == "" })
	room, limit := configmap.MaxText-max(len(texts)-1, 0), configmap.MaxText
	for i, text := range slices.SortedFunc(slices.Values(texts), func(a, b string) int { return cmp.Compare(len(a), len(b)) }) {
		if limit = room / (len(texts) - i); len(text) > limit {
			break
		}
		room -= len(text)
	}
	for i, text := range texts {
		texts[i] = value.Cut(text, limit)
	}
	return strings.Join(texts, "\n")
}

// hasValues reports whether a ConfigMap of params has values for a policy, or had some for
// the revision that its controller has.
func hasValues(p *lifecycle.Policy, v *source.Values) bool {
	if now := p.Assigned; now != nil {
		for _, o := range now.Unit.Overrides {
			if o.From == v.Path() {
				return true
			}
		}
	}
	return v.For(p.Newest.Unit.Name()) || v.For(p.Newest.Unit.Document.Of)
}
