package policies

import (
	"path"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/history"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// discarded is a last good revision that can no longer run, and why.
type discarded struct{ revision, why string }

// discard notes that a last good revision cannot run, and logs it once.
func (s *historyStore) discard(e *history.Entry, why string) {
	now := discarded{revision: e.Revision, why: why}
	if s.discarded[e.Policy] == now {
		return
	}
	s.discarded[e.Policy] = now
	s.log.Error("the last good revision is no longer valid", observe.LogPolicy, e.Policy, observe.LogRevision, e.Revision, "error", why)
}

// problemsOf returns what is wrong with a text.
func problemsOf(v *lifecycle.CheckResult) string {
	if err := document.Join(v.Problems); err != nil {
		return value.Cut(err.Error(), configmap.MaxText)
	}
	return ""
}

// nothingRuns says that nothing runs of a policy that was in force; "" is that it is not
// so. A new version of the program or another schema may refuse a text that ran.
func (s *historyStore) nothingRuns(id string, p *lifecycle.Policy) string {
	good, last := s.good(id), s.discarded[id]
	switch newest := p.Newest; {
	case good == nil || last.revision != good.Revision || p.Assigned != nil || p.Report.InForce != "":
		return ""
	case newest == nil || newest.Unit.Revision() != good.Revision:
		return id + ": nothing of it runs: its last good revision, " + good.Revision + ", is no longer valid: " + last.why
	case newest.Good() || newest.Disabled():
		return ""
	default:
		return id + ": nothing of it runs: this text was in force, and is no longer valid; the controller, its allowances or a schema have changed"
	}
}

// stranded returns the policies of a ConfigMap that were in force and of which nothing
// runs.
func (r *reporter) stranded(c *source.Catalog, contents *source.Contents) (out []document.Problem) {
	for _, id := range r.known(c) {
		p := r.policies.Get(id)
		if text := r.nothing(id, &p); text != "" && path.Dir(r.place(id, nil)) == contents.Path() {
			out = append(out, document.Problem{Severity: document.Error, Message: text})
		}
	}
	return out
}
