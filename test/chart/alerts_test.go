package chart

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/observe"
)

// alertRule is a rule of the chart.
type alertRule struct {
	Alert       string            `json:"alert"`
	Annotations map[string]string `json:"annotations"`
	Expr        string            `json:"expr"`
	For         string            `json:"for"`
}

// alertRules returns the rules of the chart.
func alertRules(t *testing.T) (out []alertRule) {
	t.Helper()
	rules := find(objects(t, template(t, "--values", values("everything"))), "PrometheusRule", release)
	groups := rules.Object["spec"].(map[string]any)["groups"].([]any)
	text, err := json.Marshal(groups[0].(map[string]any)["rules"])
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil || len(out) < 10 {
		t.Fatal(out, err)
	}
	return out
}

// scrapedSample is one value of a scrape.
type scrapedSample struct {
	Labels map[string]string `json:"labels"`
	Value  float64           `json:"value"`
}

// alertRun is what Prometheus scraped of two Pods in the course of time.
type alertRun struct {
	Alerts  []alertRule       `json:"alerts"`
	Every   int               `json:"every"`
	Scrapes [][]scrapedSample `json:"scrapes"`
}

// scrapes of an installation in which only one thing happens at a time.
const scrapeSeconds = 30

// pods is the state of an installation.
type pods struct {
	registry *prometheus.Registry
	// gone is that there are none, refused that Prometheus may not read their metrics,
	// half that it gets those of the standby only.
	gone, refused, half bool
	minute              int
}

// reset begins anew: one process leads, with one policy in force.
func (p *pods) reset() {
	*p = pods{registry: p.registry}
	for _, policy := range []string{"s/p", "s/q"} {
		observe.Forget(policy)
	}
	observe.Rest()
	observe.Leader.Set(1)
	observe.WebhookServing.Set(1)
	observe.BrokenWatches.Set(0)
	observe.Adopted("s/p", "1", "", "")
	observe.Of("s/p", "1", "r")
	for _, gauge := range []observe.GaugeVec{observe.Failed, observe.Waiting, observe.Failing, observe.Stopped, observe.Paced, observe.QueueDepth} {
		gauge.WithLabelValues("s/p").Set(0)
	}
}

// scrape returns what Prometheus gets.
func (p *pods) scrape(t *testing.T) (out []scrapedSample) {
	t.Helper()
	if p.gone {
		return nil
	}
	add := func(pod, name string, value float64, labels map[string]string) {
		all := map[string]string{"__name__": name, "namespace": namespace, "job": release + "-metrics", "pod": pod}
		maps.Copy(all, labels)
		out = append(out, scrapedSample{all, value})
	}
	const leader, standby = "edict-a", "edict-b"
	up := map[string]float64{leader: 1, standby: 1}
	if p.refused {
		up[leader], up[standby] = 0, 0
	}
	if p.half {
		up[leader] = 0
	}
	for pod, value := range up {
		add(pod, "up", value, nil)
	}
	if up[standby] > 0 {
		add(standby, "edict_leader", 0, nil)
		add(standby, "edict_webhook_serving", 1, nil)
	}
	if up[leader] == 0 {
		return out
	}
	families, err := p.registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range families {
		for _, m := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range m.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			switch {
			case m.GetHistogram() != nil:
				for _, b := range m.GetHistogram().GetBucket() {
					bucket := maps.Clone(labels)
					bucket["le"] = fmt.Sprint(b.GetUpperBound())
					add(leader, f.GetName()+"_bucket", float64(b.GetCumulativeCount()), bucket)
				}
				labels["le"] = "+Inf"
				add(leader, f.GetName()+"_bucket", float64(m.GetHistogram().GetSampleCount()), labels)
			case m.GetCounter() != nil:
				add(leader, f.GetName(), m.GetCounter().GetValue(), labels)
			default:
				add(leader, f.GetName(), m.GetGauge().GetValue(), labels)
			}
		}
	}
	return out
}

// alertCases are what happens in an hour, and the alerts that follow; a line is the minute,
// the alert and what it does. do is called before each scrape.
var alertCases = map[string]struct {
	do   func(p *pods)
	want []string
}{
	"nothing happens": {func(*pods) {}, nil},
	"nobody leads": {func(p *pods) { observe.Leader.Set(onlyIn(p, 10, 20, 0, 1)) }, []string{
		"  12 EdictHasNoLeader{} fires", "  20 EdictHasNoLeader{} rests"}},
	"another leads after a minute":        {func(p *pods) { observe.Leader.Set(onlyIn(p, 10, 11, 0, 1)) }, nil},
	"Prometheus may not read the metrics": {func(p *pods) { p.refused = p.minute >= 10 }, []string{"  15 EdictIsNotScraped{} fires"}},
	"it cannot read those of the leader":  {func(p *pods) { p.half = p.minute >= 10 }, []string{"  15 EdictIsNotScraped{} fires"}},
	"there are no Pods": {func(p *pods) { p.gone = p.minute >= 10 && p.minute < 30 }, []string{
		`  15 EdictIsNotScraped{job="edict-metrics", namespace="edict-system"} fires`, `  30 EdictIsNotScraped{job="edict-metrics", namespace="edict-system"} rests`}},
	"a text is refused": {func(p *pods) { observe.Failed.WithLabelValues("s/p").Set(onlyIn(p, 10, 50, 1, 0)) }, []string{
		`  11 EdictPolicyRefused{policy="p", policyset="s"} fires`, `  50 EdictPolicyRefused{policy="p", policyset="s"} rests`}},
	"a text is refused, and nothing runs": {func(p *pods) {
		observe.Failed.WithLabelValues("s/q").Set(onlyIn(p, 10, 50, 1, 0))
	}, []string{`  11 EdictPolicyRefusedAndNothingRuns{policy="q", policyset="s"} fires`, `  50 EdictPolicyRefusedAndNothingRuns{policy="q", policyset="s"} rests`}},
	"a set is not ready": {func(p *pods) { observe.Ready.WithLabelValues("s", "InvalidText").Set(onlyIn(p, 10, 50, 0, 1)) }, []string{
		`  11 EdictPolicySetNotReady{policyset="s", reason="InvalidText"} fires`, `  50 EdictPolicySetNotReady{policyset="s", reason="InvalidText"} rests`}},
	"a policy waits": {func(p *pods) { observe.Waiting.WithLabelValues("s/p").Set(onlyIn(p, 10, 50, 1, 0)) }, []string{
		`  25 EdictPolicyWaits{policy="p", policyset="s"} fires`, `  50 EdictPolicyWaits{policy="p", policyset="s"} rests`}},
	"a policy waits for a while": {func(p *pods) { observe.Waiting.WithLabelValues("s/p").Set(onlyIn(p, 10, 24, 1, 0)) }, nil},
	"no candidate is left": {func(p *pods) { observe.Unselected.WithLabelValues("s/p").Set(onlyIn(p, 10, 50, 1, 0)) }, []string{
		`  25 EdictPolicyFindsNoCandidate{policy="p", policyset="s"} fires`, `  50 EdictPolicyFindsNoCandidate{policy="p", policyset="s"} rests`}},
	"objects fail": {func(p *pods) { observe.Failing.WithLabelValues("s/p").Set(onlyIn(p, 10, 50, 3, 0)) }, []string{
		`  25 EdictPolicyFails{policy="p", policyset="s"} fires`, `  50 EdictPolicyFails{policy="p", policyset="s"} rests`}},
	"writes are stopped": {func(p *pods) { observe.Stopped.WithLabelValues("s/p").Set(onlyIn(p, 10, 50, 1, 0)) }, []string{
		`  25 EdictPolicyFails{policy="p", policyset="s"} fires`, `  50 EdictPolicyFails{policy="p", policyset="s"} rests`}},
	"a rule keeps failing": {func(p *pods) {
		observe.RuleEvaluations.WithLabelValues("s/p", "1", "r", "failed").Add(onlyIn(p, 10, 40, 1, 0))
	}, []string{`  25 EdictRuleFails{policy="p", policyset="s", rule="r"} fires`, `  54 EdictRuleFails{policy="p", policyset="s", rule="r"} rests`}},
	"a policy is paused": {func(p *pods) { observe.Paused.WithLabelValues("s/p", "ChangeLimit").Set(onlyIn(p, 10, 50, 1, 0)) }, []string{
		`  11 EdictPolicyPaused{policy="p", policyset="s", reason="ChangeLimit"} fires`, `  50 EdictPolicyPaused{policy="p", policyset="s", reason="ChangeLimit"} rests`}},
	"an object is at its pace": {func(p *pods) { observe.Paced.WithLabelValues("s/p").Set(onlyIn(p, 10, 50, 1, 0)) }, []string{
		`  11 EdictPolicyNeverRests{policy="p", policyset="s"} fires`, `  50 EdictPolicyNeverRests{policy="p", policyset="s"} rests`}},
	"a policy stops": {func(p *pods) {
		observe.Ended.WithLabelValues("s/q").Set(onlyIn(p, 10, 55, 1, 0))
		if p.minute == 30 { // another process leads, and counts from the beginning
			observe.Reloads.Reset()
		}
	}, []string{`  11 EdictPolicyStopped{policy="q", policyset="s"} fires`, `  55 EdictPolicyStopped{policy="q", policyset="s"} rests`}},
	"nothing is in force": {func(p *pods) {
		if p.minute == 10 {
			observe.Info.Reset()
		}
	}, []string{"  15 EdictRunsNothing{} fires"}},
	"a watch fails":   {func(p *pods) { observe.BrokenWatches.Set(onlyIn(p, 10, 50, 1, 0)) }, []string{"  15 EdictIsStale{} fires", "  50 EdictIsStale{} rests"}},
	"no webhook":      {func(p *pods) { observe.WebhookServing.Set(onlyIn(p, 10, 50, 0, 1)) }, []string{"  15 EdictWebhookIsDown{} fires", "  50 EdictWebhookIsDown{} rests"}},
	"a queue is long": {func(p *pods) { observe.QueueDepth.WithLabelValues("s/p").Set(onlyIn(p, 10, 50, 20_000, 5)) }, []string{`  25 EdictQueueGrows{policy="p", policyset="s"} fires`, `  50 EdictQueueGrows{policy="p", policyset="s"} rests`}},
	"evaluations are slow": {func(p *pods) {
		observe.EvaluationSeconds.WithLabelValues("s/p", "1").Observe(onlyIn(p, 10, 61, 9, 0.001))
	}, []string{`  25 EdictEvaluatesSlowly{policy="p", policyset="s"} fires`}},
}

// onlyIn returns a value in some minutes, and another one in all others.
func onlyIn(p *pods, from, to int, value, otherwise float64) float64 {
	if p.minute >= from && p.minute < to {
		return value
	}
	return otherwise
}

// TestAlerts: Prometheus' engine evaluates every alert on what it would scrape of processes
// whose metrics the test sets: each fires for what it is about, no other does, and it rests
// when it is over.
func TestAlerts(t *testing.T) {
	rules := alertRules(t)
	p := &pods{registry: prometheus.NewRegistry()}
	if err := observe.Register(p.registry); err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(alertCases))
	var runs []alertRun
	fired := map[string]bool{}
	for _, name := range names {
		p.reset()
		one := alertRun{Alerts: rules, Every: scrapeSeconds}
		for i := range 3600/scrapeSeconds + 1 {
			p.minute = i * scrapeSeconds / 60
			alertCases[name].do(p)
			one.Scrapes = append(one.Scrapes, p.scrape(t))
		}
		runs = append(runs, one)
	}
	for i, got := range evaluateAlerts(t, runs) {
		if diff := cmp.Diff(alertCases[names[i]].want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", names[i], diff)
		}
		for _, line := range got {
			alert, _, _ := strings.Cut(strings.Fields(line)[1], "{")
			fired[alert] = true
		}
	}
	for _, rule := range rules {
		if !fired[rule.Alert] {
			t.Errorf("nothing makes %s fire", rule.Alert)
		}
	}
}

func evaluateAlerts(t *testing.T, runs []alertRun) (out [][]string) {
	t.Helper()
	input, err := json.Marshal(runs)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "run", ".")
	command.Dir = "promql"
	command.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	var errOut bytes.Buffer
	command.Stdin, command.Stderr = bytes.NewReader(input), &errOut
	text, err := command.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errOut.String())
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAlertsHaveARunbook: each alert has its section in the documentation, and each section
// is of an alert; the alert leads there.
func TestAlertsHaveARunbook(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, alerts, _ := strings.Cut(string(text), "\n## Alerts\n")
	alerts, _, _ = strings.Cut(alerts, "\n## ")
	var sections, rules []string
	for line := range strings.Lines(alerts) {
		if name, ok := strings.CutPrefix(line, "### "); ok {
			sections = append(sections, strings.TrimSpace(name))
		}
	}
	for _, rule := range alertRules(t) {
		rules = append(rules, rule.Alert)
		if url := rule.Annotations["runbook_url"]; !strings.HasSuffix(url, "/docs/operations.md#"+strings.ToLower(rule.Alert)) {
			t.Errorf("the alert %s leads to %q", rule.Alert, url)
		}
	}
	slices.Sort(sections)
	slices.Sort(rules)
	if diff := cmp.Diff(rules, sections); diff != "" {
		t.Errorf("sections of docs/operations.md (-alerts +sections):\n%s", diff)
	}
}
