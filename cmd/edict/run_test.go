package main

import (
	"fmt"
	"os"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/brake"
)

// TestChartHasTheDefaults: who installs the chart has what who starts edict run has.
func TestChartHasTheDefaults(t *testing.T) {
	text, err := os.ReadFile("../../charts/edict/values.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var values map[string]any
	if err := yaml.Unmarshal(text, &values); err != nil {
		t.Fatal(err)
	}
	flags := runCommand().Flags()
	for flag, path := range map[string][]string{
		"default-change-limit":  {"brakes", "changes"},
		"default-removal-limit": {"brakes", "removals"},
		"max-change-limit":      {"brakes", "maxChanges"},
		"max-removal-limit":     {"brakes", "maxRemovals"},
		"policy-qps":            {"brakes", "policyQPS"},
		"workers":               {"workers"},
		"log-level":             {"log", "level"},
	} {
		value, found, err := unstructured.NestedFieldNoCopy(values, path...)
		if err != nil || !found {
			t.Errorf("%v: %v, found: %v", path, err, found)
			continue
		}
		if given, without := normal(fmt.Sprint(value)), normal(flags.Lookup(flag).DefValue); given != without {
			t.Errorf("%v is %s in the chart, --%s is %s without it", path, given, flag, without)
		}
	}
}

// normal writes a limit as its type does, and leaves other values as they are.
func normal(value string) string {
	if limit, err := brake.ParseLimit(value); err == nil && limit != nil {
		return limit.String()
	}
	return value
}
