package chart

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/edict-dev/edict/engine/observe"
)

// TestMetricsExist: alerts and panels ask for what the controller exports.
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
			if !slices.Contains(exported, strings.TrimSuffix(name, "_bucket")) {
				t.Errorf("the %s asks for %s, which is not exported", where, name)
			}
		}
	}
}

// exportedMetrics are the names that the engine registers.
func exportedMetrics(t *testing.T) []string {
	t.Helper()
	names := &collected{}
	if err := observe.Register(names); err != nil {
		t.Fatal(err)
	}
	return names.names
}

// collected is a registry that keeps names.
type collected struct {
	prometheus.Registry
	names []string
}

var quoted = regexp.MustCompile(`fqName: "([a-z_]+)"`)

func (c *collected) Register(metric prometheus.Collector) error {
	descriptions := make(chan *prometheus.Desc)
	go func() { metric.Describe(descriptions); close(descriptions) }()
	for description := range descriptions {
		c.names = append(c.names, quoted.FindStringSubmatch(description.String())[1])
	}
	return nil
}
