package main

import "testing"

func TestParamsOutputsGolden(t *testing.T) {
	t.Parallel()
	for name, args := range map[string][]string{
		"table":   nil,
		"policy":  {"settings", "-o", "table"},
		"none":    {"cordoned"},
		"yaml":    {"-o", "yaml", "--param", "settings.period=30m", "--param", "settings.kinds=[a, b]"},
		"json":    {"-o", "json", "settings"},
		"unknown": {"setings"},
		"bounds":  {"--param", "settings.period=2h"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out, err := execute(t, append([]string{"params", "--policies", rbacPolicies}, args...)...)
			golden(t, "testdata/params/"+name+".golden", out+outcome(err))
		})
	}
}
