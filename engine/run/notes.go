package run

import (
	"path"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/run/lifecycle"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// What became of a ConfigMap.
const (
	statusActive   = "Active"
	statusDegraded = "Degraded"
	// statusPaused is of a ConfigMap with a policy that the brakes have stopped,
	// statusContested of one that writes what somebody else writes.
	statusPaused    = "Paused"
	statusContested = "Contested"
	statusWaiting   = "Waiting"
	statusRefused   = "Refused"
	statusDisabled  = "Disabled"
	statusEmpty     = "Empty"
	// statusStopped is of a ConfigMap that is not read.
	statusStopped = "Stopped"
)

// note is what a ConfigMap is to say of itself.
type note struct {
	*source.ConfigMap
	status   string
	policies string
	// text says what is wrong or waited for, warning what is worth a look.
	text, warning string
	// rivals says who else writes what the policies write; it is part of warning.
	rivals string
	// reason is text without what changes from one moment to the next; "" is
	// text.
	reason string
	// stopped says that nothing in it is read, so nothing was judged.
	stopped bool
	// pending says that this is not known yet: what was said before stays.
	pending bool
}

// annotations are those that the controller writes; an empty value is absence.
func (n *note) annotations() map[string]string {
	revision := n.Revision()
	if n.stopped {
		revision = ""
	}
	return map[string]string{
		v1alpha1.AnnotationStatus: n.status, v1alpha1.AnnotationRevision: revision,
		v1alpha1.AnnotationPolicies: n.policies, v1alpha1.AnnotationError: n.text,
		v1alpha1.AnnotationWarning: n.warning,
	}
}

// notes returns what is to be said about all ConfigMaps.
func (l *library) notes(c *source.Catalog) (out []note) {
	for _, contents := range c.Contents {
		out = append(out, l.note(c, contents))
	}
	for _, v := range c.Values {
		out = append(out, l.paramsNote(c, v))
	}
	return out
}

// note sums up a ConfigMap of policies.
func (l *library) note(c *source.Catalog, contents *source.Contents) note {
	n := note{ConfigMap: contents.ConfigMap}
	sum := tally{problems: slices.Concat(contents.Problems, c.Conflicts[contents.Path()])}
	for _, id := range l.known(c) {
		if l.originOf(c, id) == contents.Path() {
			p := l.policies.Get(id)
			sum.add(id, &p)
			sum.degrade(id, l.term.degraded(id))
			sum.brake(id, l.term.braked(id))
			n.pending = n.pending || p.Phase == lifecycle.Testing
			n.rivals = joinLines(n.rivals, l.rivals(id))
		}
	}
	n.policies = list(sum.runs)
	n.status = sum.status()
	switch n.status {
	case statusWaiting:
		n.text = value.Cut(strings.Join(sum.waits, "\n"), maxText)
	case statusPaused, statusContested, statusDegraded:
		n.text = value.Cut(strings.Join(slices.Concat(sum.paused, sum.contested, sum.failing), "\n"), maxText)
		n.reason = strings.Join(sum.reasons, "\n")
	default:
		n.text = problemText(contents.ConfigMap, sum.problems, document.Error)
	}
	n.rivals = value.Cut(n.rivals, maxText)
	held := value.Cut(strings.Join(sum.held, "\n"), maxText)
	n.warning = joinLines(joinLines(problemText(contents.ConfigMap, sum.problems, document.Warning), n.rivals), held)
	return n
}

func joinLines(a, b string) string {
	if a == "" || b == "" {
		return a + b
	}
	return a + "\n" + b
}

// maxPolicies bounds the list of the policies that run, in bytes: all
// annotations of an object together may have 256 KiB.
const maxPolicies = 32 << 10

// list writes the policies that run; the last is "..." if there are more.
func list(runs []string) string {
	text := strings.Join(runs, " ")
	if len(text) <= maxPolicies {
		return text
	}
	text = value.Cut(text, maxPolicies)
	return text[:strings.LastIndexByte(text, ' ')+1] + "..."
}

// originOf says which ConfigMap a policy is from, as a path.
func (l *library) originOf(c *source.Catalog, id string) string {
	switch {
	case c.Origins[id] != nil:
		return c.Origins[id].Path()
	default:
		if now := l.policies.Get(id).Assigned; now != nil {
			return path.Dir(now.Unit.File.Path)
		}
		return ""
	}
}

// tally counts what became of the policies of a ConfigMap.
type tally struct {
	problems         []document.Problem
	runs, waits      []string
	failing, reasons []string
	// What the brakes do.
	paused, contested, held []string
	wanted, disabled        int
}

func (t *tally) add(id string, p *lifecycle.Policy) {
	t.wanted++
	inForce := p.Report.InForce
	if v := p.Newest; v != nil {
		t.problems = append(t.problems, v.Problems...)
		if v.Disabled() {
			t.disabled++
			if inForce != "" {
				t.runs, t.waits = append(t.runs, id+"="+inForce), append(t.waits, id+": what is under way is being finished")
			}
			return
		}
	}
	switch p.Report.Event {
	case lifecycle.Failed:
		t.problems = append(t.problems, document.Problem{Severity: document.Error, Message: id + ": " + p.Report.Reason})
	case lifecycle.Blocked:
		t.waits = append(t.waits, id+": "+p.Report.Reason)
	}
	if inForce != "" {
		t.runs = append(t.runs, id+"="+inForce)
	}
}

// degrade adds what fails of a policy.
func (t *tally) degrade(id string, d *degraded) {
	if d == nil {
		return
	}
	for line := range strings.Lines(d.text) {
		t.failing = append(t.failing, id+": "+strings.TrimSuffix(line, "\n"))
	}
	t.reasons = append(t.reasons, id+": "+d.reason)
}

func (t *tally) status() string {
	switch {
	case document.HasErrors(t.problems):
		return statusRefused
	case len(t.waits) > 0:
		return statusWaiting
	case t.wanted == 0:
		return statusEmpty
	case t.disabled == t.wanted:
		return statusDisabled
	case len(t.runs) < t.wanted-t.disabled:
		return statusWaiting
	case len(t.paused) > 0:
		return statusPaused
	case len(t.contested) > 0:
		return statusContested
	case len(t.failing) > 0:
		return statusDegraded
	default:
		return statusActive
	}
}

// paramsNote sums up a ConfigMap of params: what is wrong with it, and what
// policies say is wrong with the values in it.
func (l *library) paramsNote(c *source.Catalog, v *source.Values) note {
	n := note{ConfigMap: v.ConfigMap, status: statusActive}
	wrong := slices.Concat(v.Problems, c.Conflicts[v.Path()])
	for _, id := range l.policies.Checked() {
		for _, p := range l.policies.Get(id).Newest.Problems {
			if strings.HasPrefix(p.File, v.Path()+"/") {
				wrong = append(wrong, p)
			}
		}
	}
	if document.HasErrors(wrong) {
		n.status = statusRefused
	}
	n.text = problemText(v.ConfigMap, wrong, document.Error)
	n.warning = problemText(v.ConfigMap, wrong, document.Warning)
	return n
}

// maxText bounds what is written into an annotation or an event, in bytes.
const maxText = 1024

// problemText writes problems of a severity for whoever edits the ConfigMap: the
// key, the place in it, the line and a caret.
func problemText(m *source.ConfigMap, list []document.Problem, severity document.Severity) string {
	var out []string
	size, told := 0, map[document.Problem]bool{}
	for _, p := range list {
		if size > maxText {
			break
		}
		if p.Severity != severity || told[p] {
			continue
		}
		told[p] = true
		p.File = strings.TrimPrefix(p.File, m.Path()+"/")
		if len(p.Source) > maxLine { // it is a line for machines
			p.Source = ""
		}
		out = append(out, p.Pretty())
		size += len(out[len(out)-1])
	}
	return value.Cut(strings.Join(out, "\n"), maxText)
}

// maxLine bounds the lines that are shown, in bytes.
const maxLine = 512
