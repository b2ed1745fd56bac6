package policies

import (
	"path"
	"slices"
	"strings"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/run/configmap"
	"github.com/edict-dev/edict/engine/run/controller"
	"github.com/edict-dev/edict/engine/run/lifecycle"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// The values of the annotation edict.dev/status.
const (
	statusActive   = "Active"
	statusDegraded = "Degraded"
	// statusPaused is of a ConfigMap with a policy that the brakes have stopped.
	statusPaused   = "Paused"
	statusWaiting  = v1alpha1.StatusWaiting
	statusRefused  = "Refused"
	statusDisabled = "Disabled"
	statusEmpty    = "Empty"
	// statusRollingOut is of a ConfigMap with a policy that comes into force in steps,
	// statusRolloutStopped of one of which the steps have stopped.
	statusRollingOut     = "RollingOut"
	statusRolloutStopped = "RolloutStopped"
	// statusStopped is of a ConfigMap that is not read.
	statusStopped = "Stopped"
)

// Statuses are all of them.
var Statuses = []string{
	statusActive, statusDegraded, statusDisabled, statusEmpty, statusPaused, statusRefused, statusRollingOut, statusRolloutStopped, statusStopped, statusWaiting,
}

// statusReport is the status of a ConfigMap.
type statusReport struct {
	configMap *source.ConfigMap
	// observed is the hash of what was taken into account, installation names that of the
	// process.
	observed, installation string
	status                 string
	policies               string
	// text is what is wrong or waited for, warning what deserves attention.
	text, warning string
	// own are the errors of the ConfigMap that are not of the text of a policy.
	own []document.Problem
	// rollouts is how far rollouts have come, as the annotation has it.
	rollouts string
	// reason is text without what changes from one moment to the next; "" is
	// text.
	reason string
	// stopped reports that nothing in it is read, so nothing was checked.
	stopped bool
	// pending reports that this is not known yet: the annotations stay as they are.
	pending bool
	// begins reports that it only waits for revisions that are being loaded, which is no
	// news: there is no Event about it.
	begins bool
	// params reports that it is of a ConfigMap of params. It is written after those of
	// policies: once it shows the present values, so do they.
	params bool
}

// annotations are those that the controller writes; an empty value is absence.
func (n *statusReport) annotations() map[string]string {
	revision := n.configMap.Revision()
	if n.stopped {
		revision = ""
	}
	return map[string]string{
		v1alpha1.AnnotationStatus: n.status, v1alpha1.AnnotationRevision: revision, v1alpha1.AnnotationObserved: n.observed, v1alpha1.AnnotationInstallation: n.installation,
		v1alpha1.AnnotationPolicies: n.policies, v1alpha1.AnnotationError: n.text,
		v1alpha1.AnnotationWarning: n.warning, v1alpha1.AnnotationRolloutStatus: n.rollouts,
	}
}

// reporter makes the status of ConfigMaps from the state of their policies.
type reporter struct {
	// namespace is that of the policies, installation names that of the process.
	namespace, installation string

	policies *lifecycle.Registry
	runtime  *controller.Runtime
	// known returns the IDs of all policies.
	known func(c *source.Catalog) []string
	// place returns the file in which a policy was last found, of which something runs.
	place func(id string, now *lifecycle.Revision) string
	// nothing says that nothing of a policy runs although something did; "" is that it is
	// not so.
	nothing func(id string, p *lifecycle.Policy) string
	// rollouts returns how far the rollouts of a ConfigMap have come.
	rollouts func(configMap string) string
	gauges   observe.Gauges
}

// reports returns the status of all ConfigMaps.
func (r *reporter) reports(c *source.Catalog) (out []statusReport) {
	for _, contents := range c.Contents {
		out = append(out, r.report(c, contents))
	}
	for _, v := range c.Values {
		out = append(out, r.paramsReport(c, v))
	}
	return out
}

// report returns the status of a ConfigMap of policies.
func (r *reporter) report(c *source.Catalog, contents *source.Contents) statusReport {
	own := slices.Concat(contents.Problems, c.Conflicts[contents.Path()])
	n := statusReport{configMap: contents.ConfigMap, observed: c.Observed(contents), installation: r.installation, own: errorsAmong(own)}
	sum := tally{problems: append(own, r.stranded(c, contents)...)}
	for _, id := range r.known(c) {
		if r.originOf(c, id) == contents.Path() {
			p := r.policies.Get(id)
			sum.add(id, &p)
			sum.degrade(id, r.runtime.Degraded(id))
			sum.addBrakes(id, r.brakes(id))
			sum.warn(id, r.runtime.Unselected(id))
			n.pending = n.pending || p.Phase == lifecycle.Testing
		}
	}
	n.policies, n.rollouts = list(sum.runs), r.rollouts(contents.Path())
	n.status = sum.status()
	n.text, n.reason = sum.text(contents.ConfigMap)
	n.begins = n.status == statusWaiting && len(sum.waits) == 0
	warnings := value.Cut(strings.Join(sum.warnings, "\n"), configmap.MaxText)
	n.warning = joinLines(configmap.ProblemText(contents.ConfigMap, sum.wrong(), document.Warning), warnings)
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
	return text[:strings.LastIndexByte(text, ' ')+1] + v1alpha1.MoreRunning
}

// originOf returns the ConfigMap of a policy, as namespace/name.
func (r *reporter) originOf(c *source.Catalog, id string) string {
	switch {
	case c.Origins[id] != nil:
		return c.Origins[id].Path()
	default:
		if now := r.policies.Get(id).Assigned; now != nil {
			return path.Dir(r.place(id, now))
		}
		return ""
	}
}

// paramsReport returns the status of a ConfigMap of params: what is wrong with it, and what
// policies say is wrong with the values in it.
func (r *reporter) paramsReport(c *source.Catalog, v *source.Values) statusReport {
	wrong := slices.Concat(v.Problems, c.Conflicts[v.Path()])
	n := statusReport{configMap: v.ConfigMap, observed: c.ObservedParams(v), installation: r.installation, status: statusActive, params: true, own: errorsAmong(wrong)}
	for _, id := range r.policies.Checked() {
		now := r.policies.Get(id)
		n.pending = n.pending || now.Phase == lifecycle.Testing && hasValues(&now, v)
		for _, p := range now.Newest.Problems {
			if strings.HasPrefix(p.File, v.Path()+"/") {
				wrong = append(wrong, p)
			}
		}
	}
	if document.HasErrors(wrong) {
		n.status = statusRefused
	}
	n.text = configmap.ProblemText(v.ConfigMap, wrong, document.Error)
	n.warning = configmap.ProblemText(v.ConfigMap, wrong, document.Warning)
	return n
}

// brakes returns what the brakes do about a policy.
func (r *reporter) brakes(id string) brakeStatus {
	return brakeStatusOf(r.runtime.Brakes().State(id), r.namespace)
}

// failing returns what fails of a policy, to compare it with what failed before.
func (r *reporter) failing(id string) (text string) {
	if d := r.runtime.Degraded(id); d != nil {
		text = d.Text
	}
	brakes := r.brakes(id)
	return text + brakes.text() + r.runtime.Unselected(id)
}

// measure sets the metrics of policies whose newest text is refused, and of those that
// have stopped.
func (r *reporter) measure(c *source.Catalog, stopped []string) {
	values := map[observe.Series]float64{}
	for _, id := range r.known(c) {
		p, failed := r.policies.Get(id), 0.0
		if p.Newest == nil || p.Phase == lifecycle.Refused || p.Report.Event == lifecycle.Failed {
			failed = 1
		}
		values[observe.SeriesOf(observe.Failed, id)] = failed
	}
	for _, id := range stopped {
		values[observe.SeriesOf(observe.Ended, id)] = 1
	}
	r.gauges.Set(values)
}
