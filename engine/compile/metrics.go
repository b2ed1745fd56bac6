package compile

import (
	"math"
	"regexp"
	"slices"

	"github.com/edict-dev/edict/engine/analyze"
	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

var (
	metricName = regexp.MustCompile(`^[a-zA-Z_:][a-zA-Z0-9_:]*$`)
	labelName  = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)
)

// metrics compiles the metrics that a policy exports under names of its own.
type metrics struct {
	names    *names
	rules    []*plan.Rule
	problems *findings
}

// all returns the metrics, and the node of each.
func (ms *metrics) all(docs []v1alpha1.Metric) (list []plan.Metric, nodes []*analyze.Node) {
	seen := map[string]bool{}
	for i := range docs {
		doc := &docs[i]
		if !rightMetric(doc, seen, ms.problems) {
			continue
		}
		seen[doc.Name.Value] = true
		n := analyze.New(analyze.Metric, doc.Name.Value, doc.Pos)
		list, nodes = append(list, ms.metric(doc, newScope(ms.names, n))), append(nodes, n)
	}
	return list, nodes
}

// rightMetric rejects what cannot be a metric.
func rightMetric(doc *v1alpha1.Metric, seen map[string]bool, problems *findings) bool {
	switch {
	case !doc.Name.Set() || !doc.Of.Set():
		problems.Errorf(doc.Pos, "a metric needs name and of")
	case !metricName.MatchString(doc.Name.Value):
		problems.Hintf(doc.Name.Pos(), "letters, digits and _", "%q cannot be the name of a metric", doc.Name.Value)
	case seen[doc.Name.Value]:
		problems.Errorf(doc.Name.Pos(), "duplicate metric %q", doc.Name.Value)
	case !slices.Contains(plan.Happenings, plan.Happening(doc.Of.Value)):
		problems.Hintf(doc.Of.Pos(), document.DidYouMean(doc.Of.Value, happenings()), "%q cannot be counted", doc.Of.Value)
	default:
		return true
	}
	return false
}

func (ms *metrics) metric(doc *v1alpha1.Metric, s *scope) plan.Metric {
	out := plan.Metric{Name: doc.Name.Value, Help: doc.Help.Value, Of: plan.Happening(doc.Of.Value), Rule: doc.Rule.Value}
	if out.Rule == "*" {
		out.Rule = ""
	}
	if out.Rule != "" && !slices.ContainsFunc(ms.rules, func(r *plan.Rule) bool { return r.Name == out.Rule }) {
		ms.problems.Errorf(doc.Rule.Pos(), "there is no rule %q", out.Rule)
	}
	for _, l := range doc.Labels {
		if !labelName.MatchString(l.Key.Value) {
			ms.problems.Errorf(l.Key.Pos(), "%q cannot be the name of a label", l.Key.Value)
			continue
		}
		if !out.Of.Keyed() {
			ms.problems.Errorf(l.Key.Pos(), "%s has no labels of the policy: it is not about a key", out.Of)
		}
		out.Labels = append(out.Labels, plan.Label{Name: l.Key.Value, Value: s.template(l.Value)})
	}
	out.Buckets = buckets(doc, ms.problems)
	return out
}

func buckets(doc *v1alpha1.Metric, problems *findings) (out []float64) {
	if doc.Buckets == nil {
		return nil
	}
	list, _ := doc.Buckets.Plain().([]any)
	for _, item := range list {
		switch n := item.(type) {
		case int64:
			out = append(out, float64(n))
		case float64:
			out = append(out, n)
		}
	}
	if len(out) != len(list) || len(out) == 0 || !ascending(out) {
		problems.Hintf(doc.Buckets.Pos, "[0.5, 1, 5]", "buckets must be a list of finite numbers, each greater than the one before")
	}
	return out
}

// ascending reports whether finite numbers grow. The Prometheus library panics on
// anything else.
func ascending(list []float64) bool {
	for i, n := range list {
		if math.IsNaN(n) || math.IsInf(n, 0) || i > 0 && n <= list[i-1] {
			return false
		}
	}
	return true
}

func happenings() []string {
	out := make([]string, len(plan.Happenings))
	for i, h := range plan.Happenings {
		out[i] = string(h)
	}
	return out
}
