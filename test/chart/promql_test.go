package chart

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// TestExpressionsParse shows the expressions of alerts and panels to
// Prometheus' parser.
func TestExpressionsParse(t *testing.T) {
	rules := find(objects(t, template(t, "--values", values("everything"))), "PrometheusRule", release)
	var dashboard map[string]any
	if err := yaml.Unmarshal([]byte(texts(t, filepath.Join(chart, "files"))["dashboard.json"]), &dashboard); err != nil {
		t.Fatal(err)
	}
	expressions := append(expressionsIn(rules.Object), expressionsIn(dashboard)...)
	if len(expressions) < 20 {
		t.Errorf("there are %d expressions only", len(expressions))
	}
	if output, err := parsePromQL(t, expressions); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
	if output, err := parsePromQL(t, []string{"sum(edict_leader"}); err == nil || !strings.Contains(output, "unclosed left parenthesis") {
		t.Errorf("a wrong expression is taken: %v\n%s", err, output)
	}
}

// expressionsIn returns every text under a key expr, with Grafana's variables
// replaced.
func expressionsIn(in any) (out []string) {
	switch in := in.(type) {
	case map[string]any:
		for key, value := range in {
			if text, isText := value.(string); isText && key == "expr" {
				out = append(out, strings.ReplaceAll(text, "$__rate_interval", "5m"))
			}
			out = append(out, expressionsIn(value)...)
		}
	case []any:
		for _, value := range in {
			out = append(out, expressionsIn(value)...)
		}
	}
	return out
}

func parsePromQL(t *testing.T, expressions []string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, expressions...)...)
	command.Dir = "promql"
	command.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	output, err := command.CombinedOutput()
	return string(output), err
}
