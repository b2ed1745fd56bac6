package main

import (
	"testing"

	"sigs.k8s.io/yaml"
)

const rbacPolicies = "testdata/rbac/two.yaml"

func TestRBACOutputsGolden(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"yaml":     nil,
		"json":     {"-o", "json"},
		"table":    {"-o", "table"},
		"any":      {"--any-params"},
		"param":    {"--param", "settings.space=other", "--param", "settings.watchSets=true", "-o", "table"},
		"policy":   {"--policy", "off", "--policy", "cordoned", "--name", "agents"},
		"bind":     {"--bind", "edict-system"},
		"bindjson": {"--bind", "edict-system", "--policy", "settings", "-o", "json"},
		"bindone":  {"--bind", "tools", "--policy-service-accounts", "", "--service-account", "runner"},
		"errors":   {"testdata/check/misspelt-field.yaml"},
		"unknown":  {"testdata/check/no-schema.yaml"},
		"misnamed": {"--policy", "setting"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, append([]string{"rbac", rbacPolicies}, args...)...)
			golden(t, "testdata/rbac/"+name+".golden", out+outcome(err))
			if err == nil && name != "table" && name != "param" {
				wellFormed(t, yaml.Unmarshal([]byte(out), &map[string]any{}))
			}
		})
	}
}
