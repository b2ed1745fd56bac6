package observe

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
)

// TestExemplars: each bucket takes the first exemplar, and another one a second later.
func TestExemplars(t *testing.T) {
	t.Parallel()
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Help: "h", Buckets: []float64{1, 10}})
	s, at := NewSeconds(h, []float64{1, 10}), time.Unix(1_800_000_000, 0)
	var made []string
	observe := func(id string, took, after time.Duration) {
		s.Observe(took, at.Add(after), func() prometheus.Labels { made = append(made, id); return prometheus.Labels{ExemplarReconcile: id} })
	}
	observe("a", time.Second, 0)
	observe("b", time.Second/2, time.Second/2) // its bucket has one
	observe("c", 5*time.Second, time.Second/2)
	observe("d", time.Minute, time.Second/2)
	observe("e", time.Second, time.Second)
	if d := cmp.Diff([]string{"a", "c", "d", "e"}, made); d != "" {
		t.Errorf("exemplars (-want +got):\n%s", d)
	}
	var out dto.Metric
	if err := h.Write(&out); err != nil || out.GetHistogram().GetSampleCount() != 5 {
		t.Errorf("%v, %v", out.GetHistogram(), err)
	}
	if got := out.GetHistogram().GetBucket()[0].GetExemplar().GetLabel()[0].GetValue(); got != "e" {
		t.Errorf("the first bucket has the exemplar %s", got)
	}
	(&Seconds{}).Observe(time.Second, at, nil) // of what is only tried out
}

// TestRulesGo: the series of rules go with the policy, and with an old revision.
func TestRulesGo(t *testing.T) {
	count := func() (n int) {
		found := make(chan prometheus.Metric, 100)
		RuleEvaluations.Collect(found)
		WriteSeconds.Collect(found)
		return len(found)
	}
	for _, revision := range []string{"1", "2", "3"} {
		Of("rules", revision, "a", "b")
	}
	if n := count(); n < 3*(8+1) {
		t.Errorf("%d series of three revisions", n)
	}
	before := count()
	Adopted("rules", "3", "2", "1")
	if n := before - count(); n != 8+1 {
		t.Errorf("%d series went with the oldest revision", n)
	}
	before = count()
	Forget("rules")
	if n := before - count(); n != 2*(8+1) {
		t.Errorf("%d series went with the policy", n)
	}
}

// BenchmarkRuleSeconds is what a histogram of the seconds of a rule would add to an
// evaluation, which two readings of the clock and an observation are.
func BenchmarkRuleSeconds(b *testing.B) {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: "h", Help: "h", Buckets: evaluationBuckets})
	for b.Loop() {
		start := time.Now()
		h.Observe(time.Since(start).Seconds())
	}
}

// BenchmarkRuleCount is what the counters of a rule add to an evaluation.
func BenchmarkRuleCount(b *testing.B) {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: "c", Help: "c"})
	for b.Loop() {
		c.Inc()
	}
}
