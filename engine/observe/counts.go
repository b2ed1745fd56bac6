package observe

import "github.com/prometheus/client_golang/prometheus"

// Counts are the metrics of one revision of a policy.
type Counts struct {
	Evaluations, Errors, Terminal   prometheus.Counter
	Debounced, Retries, Dropped     prometheus.Counter
	EvaluationSeconds, WriteSeconds *Seconds
	// Rules are those of the policy, in its order.
	Rules                []RuleCounts
	Remembered, Retained prometheus.Gauge

	// Of a policy in the shadow.
	Disagreements, Undetermined prometheus.Counter
	Disagreeing                 prometheus.Gauge

	policy, revision string
	unseen           prometheus.Counter
}

// Of returns the metrics of a revision of a policy with some rules.
func Of(policy, revision string, rules ...string) *Counts {
	return &Counts{
		Evaluations: Evaluations.WithLabelValues(policy, revision), Errors: Errors.WithLabelValues(policy, revision),
		Terminal:  Terminal.WithLabelValues(policy, revision),
		Debounced: Debounced.WithLabelValues(policy, revision), Retries: Retries.WithLabelValues(policy, revision), Dropped: Dropped.WithLabelValues(policy, revision),
		EvaluationSeconds: NewSeconds(EvaluationSeconds.WithLabelValues(policy, revision), evaluationBuckets),
		WriteSeconds:      NewSeconds(WriteSeconds.WithLabelValues(policy, revision), writeBuckets),
		Rules:             rulesOf(policy, revision, rules),
		Remembered:        Remembered.WithLabelValues(policy), Retained: Retained.WithLabelValues(policy),
		Disagreements: none(), Undetermined: none(), Disagreeing: prometheus.NewGauge(prometheus.GaugeOpts{Name: "unseen"}),
		policy: policy, revision: revision,
	}
}

// Shadow adds the metrics of a policy in the shadow, which others do not have.
func (c *Counts) Shadow() *Counts {
	c.Disagreements, c.Undetermined = Disagreements.WithLabelValues(c.policy, c.revision), Undetermined.WithLabelValues(c.policy, c.revision)
	c.Disagreeing = Disagreeing.WithLabelValues(c.policy, c.revision)
	return c
}

// none is a metric that nobody reads.
func none() prometheus.Counter { return prometheus.NewCounter(prometheus.CounterOpts{Name: "unseen"}) }

// Unseen returns metrics that nobody reads, for what only tries policies out.
func Unseen() *Counts {
	none := none()
	return &Counts{
		Evaluations: none, Errors: none, Terminal: none, Debounced: none, Retries: none, Dropped: none, unseen: none, Disagreements: none, Undetermined: none,
		Disagreeing:       prometheus.NewGauge(prometheus.GaugeOpts{Name: "unseen"}),
		EvaluationSeconds: &Seconds{}, WriteSeconds: &Seconds{},
		Remembered: prometheus.NewGauge(prometheus.GaugeOpts{Name: "unseen"}),
		Retained:   prometheus.NewGauge(prometheus.GaugeOpts{Name: "unseen"}),
	}
}

// Effect counts effects by what became of them.
func (c *Counts) Effect(result string) prometheus.Counter {
	if c.unseen != nil {
		return c.unseen
	}
	return Effects.WithLabelValues(c.policy, c.revision, result)
}

// Adopted says which revision of a policy is in force. The series of the one
// before stay until the next change, so that their last values are still read;
// older ones go, so that their number does not grow with every edit.
func Adopted(policy, revision, before, beforeThat string) {
	Info.DeletePartialMatch(Labels(policy))
	Info.WithLabelValues(policy, revision).Set(1)
	if beforeThat == "" || beforeThat == revision || beforeThat == before {
		return
	}
	for _, m := range ofPolicies() {
		m.DeletePartialMatch(labelsOf(policy, beforeThat))
	}
}

// Unused drops the series of a revision that was only tried out.
func Unused(policy, revision string) {
	for _, m := range ofPolicies() {
		m.DeletePartialMatch(labelsOf(policy, revision))
	}
}

// Rest says that no policy runs here any more: what was last measured of them is
// for whoever runs them now to tell.
func Rest() {
	for _, m := range []GaugeVec{Waiting, Failed, Ended, Failing, Unselected, Stopped, Paused, KeptBack, Paced, Holds, QueueDepth, Remembered, Retained, Info, Disagreeing} {
		m.Reset()
	}
	Ready.Reset()
	BrokenWatches.Set(0)
}

// Forget drops the series of a policy that no longer runs.
func Forget(policy string) {
	for _, m := range ofPolicies() {
		if m != partial(Failed) && m != partial(Ended) && m != partial(Reloads) {
			m.DeletePartialMatch(Labels(policy))
		}
	}
}
