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
func (b *builder) metrics() {
	seen := map[string]bool{}
	for i := range b.doc.Spec.Metrics {
		if m := b.metric(&b.doc.Spec.Metrics[i], seen); m != nil {
			b.plan.Metrics = append(b.plan.Metrics, *m)
		}
	}
}

func (b *builder) metric(doc *v1alpha1.Metric, seen map[string]bool) *plan.Metric {
	of := plan.Happening(doc.Of.Value)
	switch {
	case !doc.Name.Set() || !doc.Of.Set():
		b.problems.Errorf(doc.Pos, "a metric needs name and of")
		return nil
	case !metricName.MatchString(doc.Name.Value):
		b.problems.Hintf(doc.Name.Pos(), "letters, digits and _", "%q cannot be the name of a metric", doc.Name.Value)
		return nil
	case seen[doc.Name.Value]:
		b.problems.Errorf(doc.Name.Pos(), "duplicate metric %q", doc.Name.Value)
		return nil
	case !slices.Contains(plan.Happenings, of):
		b.problems.Hintf(doc.Of.Pos(), document.DidYouMean(doc.Of.Value, happenings()), "%q cannot be counted", doc.Of.Value)
		return nil
	}
	seen[doc.Name.Value] = true
	out := &plan.Metric{Name: doc.Name.Value, Help: doc.Help.Value, Of: of, Rule: doc.Rule.Value}
	if out.Rule == "*" {
		out.Rule = ""
	}
	if out.Rule != "" && !slices.ContainsFunc(b.plan.Rules, func(r *plan.Rule) bool { return r.Name == out.Rule }) {
		b.problems.Errorf(doc.Rule.Pos(), "there is no rule %q", out.Rule)
	}
	s := b.global(b.graph().Part(analyze.Metric, out.Name, doc.Pos))
	for _, l := range doc.Labels {
		if !labelName.MatchString(l.Key.Value) {
			b.problems.Errorf(l.Key.Pos(), "%q cannot be the name of a label", l.Key.Value)
			continue
		}
		if !of.Keyed() {
			b.problems.Errorf(l.Key.Pos(), "%s has no labels of the policy: it is not about a key", of)
		}
		out.Labels = append(out.Labels, plan.Label{Name: l.Key.Value, Value: b.template(s, l.Value)})
	}
	out.Buckets = b.buckets(doc)
	return out
}

func (b *builder) buckets(doc *v1alpha1.Metric) (out []float64) {
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
		b.problems.Hintf(doc.Buckets.Pos, "[0.5, 1, 5]", "buckets must be a list of finite numbers, each greater than the one before")
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
