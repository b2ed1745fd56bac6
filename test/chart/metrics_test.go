package chart

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/observe"
)

// TestMetricsExist: alerts and panels ask for what the controller exports, by
// labels that it has.
func TestMetricsExist(t *testing.T) {
	rules := find(objects(t, template(t, "--values", values("everything"))), "PrometheusRule", release)
	text, err := json.Marshal(rules.Object)
	if err != nil {
		t.Fatal(err)
	}
	dashboard := texts(t, filepath.Join(chart, "files"))["dashboard.json"]
	if !json.Valid([]byte(dashboard)) {
		t.Error("files/dashboard.json is not JSON")
	}
	exported := exportedMetrics(t)
	for where, text := range map[string]string{"PrometheusRule": string(text), "dashboard": dashboard} {
		asked := regexp.MustCompile(`edict_[a-z_]+`).FindAllString(text, -1)
		if len(asked) < 5 {
			t.Errorf("the %s asks for %v only", where, asked)
		}
		for _, name := range asked {
			if _, ok := exported[strings.TrimSuffix(name, "_bucket")]; !ok {
				t.Errorf("the %s asks for %s, which is not exported", where, name)
			}
		}
		for _, asked := range regexp.MustCompile(`by \(([a-z, ]+)\) ?\([^{]*?(edict_[a-z_]+)\{`).FindAllStringSubmatch(text, -1) {
			for label := range strings.SplitSeq(asked[1], ", ") {
				if known := exported[strings.TrimSuffix(asked[2], "_bucket")]; label != "le" && !slices.Contains(known, label) {
					t.Errorf("the %s asks for %s by %s, which has the labels %v", where, asked[2], label, known)
				}
			}
		}
	}
}

// exportedMetrics are those that the engine and the extender register, with their labels.
func exportedMetrics(t *testing.T) map[string][]string {
	t.Helper()
	metrics := &collected{labels: map[string][]string{}}
	if err := observe.Register(metrics); err != nil {
		t.Fatal(err)
	}
	client, err := extender.New(extender.Config{URL: "http://localhost"})
	if err != nil {
		t.Fatal(err)
	}
	if err := metrics.Register(client); err != nil {
		t.Fatal(err)
	}
	return metrics.labels
}

// collected is a registry that keeps names and labels.
type collected struct {
	prometheus.Registry
	labels map[string][]string
}

var described = regexp.MustCompile(`fqName: "([a-z_]+)".*variableLabels: \{([a-z,]*)\}`)

func (c *collected) Register(metric prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc)
	go func() { metric.Describe(descriptions); close(descriptions) }()
	for description := range descriptions {
		found := described.FindStringSubmatch(description.String())
		c.labels[found[1]] = strings.Split(found[2], ",")
	}
	return nil
}
