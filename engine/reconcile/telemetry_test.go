package reconcile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/observe"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/world"
)

const ruled = `  rules:
    - {name: holds, do: [{labels: {set: {a: b}}}]}
    - {name: not, when: "key.name == 'x'", do: [{labels: {set: {b: c}}}]}
    - {name: breaks, continueOnError: true, forEach: "[1, 0]", as: k, do: [{labels: {set: {c: "${string(1 / k)}"}}}]}
    - {name: waits, debounce: {key: k, window: 1m, allowed: [{days: [Sat], from: "01:00", to: "02:00"}]}, do: [{labels: {set: {f: g}}}]}
    - {name: last, stop: true, do: [{labels: {set: {d: e}}}]}
    - {name: after, do: [{labels: {set: {e: f}}}]}
`

// TestRulesAreCounted by what became of them, unless they are not reached; writes
// are measured.
func TestRulesAreCounted(t *testing.T) {
	t.Parallel()
	p, b := compiled(t, ruled)
	g := newGroup(world.NewStore(), &late{}, b.Schemas)
	var counts *observe.Counts
	g.Counts = func(p *plan.Policy) *observe.Counts {
		counts = observe.Of("counted", p.Revision, "holds", "not", "breaks", "waits", "last", "after")
		return counts
	}
	c := g.Add(p)
	put(t, g, "n", "1", nil)
	r := c.Reconcile(t.Context(), eval.Key{Name: "n"}, noon)
	var got [][4]float64
	for _, rule := range counts.Rules {
		got = append(got, [4]float64{valueOf(t, rule.Fired), valueOf(t, rule.Skipped), valueOf(t, rule.Delayed), valueOf(t, rule.Failed)})
	}
	want := [][4]float64{{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 0, 1}, {0, 0, 1, 0}, {1, 0, 0, 0}, {0, 0, 0, 0}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("fired, skipped, delayed, failed (-want +got):\n%s\n%v", d, r.Final)
	}
	families := make(chan prometheus.Metric, 100)
	observe.WriteSeconds.Collect(families)
	close(families)
	var writes uint64
	for m := range families {
		var out dto.Metric
		if err := m.Write(&out); err != nil {
			t.Fatal(err)
		}
		if out.GetLabel()[0].GetValue() == "counted" {
			writes += out.GetHistogram().GetSampleCount()
		}
	}
	if len(r.Outcomes) == 0 || writes != uint64(len(r.Outcomes)) {
		t.Errorf("%d writes are measured, want %d", writes, len(r.Outcomes))
	}
}

func valueOf(t *testing.T, c prometheus.Counter) float64 {
	t.Helper()
	var out dto.Metric
	if err := c.Write(&out); err != nil {
		t.Fatal(err)
	}
	return out.GetCounter().GetValue()
}
