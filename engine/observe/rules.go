package observe

import "github.com/prometheus/client_golang/prometheus"

// The outcomes of an evaluation of a rule: its condition held, it did not hold, the
// rule waits because of its debounce, or it failed, also if only one of its items did.
const (
	RuleFired   = "fired"
	RuleSkipped = "skipped"
	RuleDelayed = "delayed"
	RuleFailed  = "failed"
)

// RuleCounts are the evaluations of one rule by outcome.
type RuleCounts struct{ Fired, Skipped, Delayed, Failed prometheus.Counter }

// rulesOf returns the counters of rules, so that each outcome has a series from the
// start.
func rulesOf(policy, revision string, rules []string) []RuleCounts {
	out := make([]RuleCounts, len(rules))
	for i, rule := range rules {
		of := func(outcome string) prometheus.Counter {
			return RuleEvaluations.WithLabelValues(policy, revision, rule, outcome)
		}
		out[i] = RuleCounts{Fired: of(RuleFired), Skipped: of(RuleSkipped), Delayed: of(RuleDelayed), Failed: of(RuleFailed)}
	}
	return out
}
