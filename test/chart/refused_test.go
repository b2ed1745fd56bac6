package chart

import (
	"strings"
	"testing"
)

func TestWrongValuesAreRefused(t *testing.T) {
	for name, test := range map[string]struct{ set, want string }{
		"unknown value":           {"webhok.enabled=true", "webhok"},
		"unknown nested value":    {"webhook.enable=true", "additional properties 'enable' not allowed"},
		"unknown policy":          {"policies.storage.enabled=true", "additional properties 'storage' not allowed"},
		"mode":                    {"policies.kmm-module.mode=Off", "'Enforce', 'Shadow', 'Disabled'"},
		"switch as text":          {"policies.kmm-module.enabled=yes", "got string, want boolean"},
		"no replicas":             {"replicas=0", "minimum: got 0, want 1"},
		"failure policy":          {"webhook.failurePolicy=ignore", "'Ignore', 'Fail'"},
		"webhook at an address":   {"webhook.url=https://127.0.0.1:9443/validate", "127.0.0.1 is an address"},
		"insecure webhook":        {"webhook.url=http://edict/validate", "does not match pattern"},
		"digest":                  {"image.digest=abc", "does not match pattern"},
		"secret in values":        {"extender.clientCertificate.key=PRIVATE", "additional properties 'key' not allowed"},
		"argument without dash":   {"extraArgs={v}", "does not match pattern"},
		"log level":               {"log.level=loud", "'debug', 'info', 'warn', 'error'"},
		"allowance":               {"extraAllowances[0].policy=x", "missing properties 'kind', 'fields'"},
		"rule":                    {"extraRules[0].verbs={get}", "missing properties 'apiGroups', 'resources'"},
		"params of no policy":     {"params.replica-schedling.attachToBonus=1", "there is no policy of that name; there are agent-node-label, "},
		"param of another policy": {"params.agent-node-label.attachToBonus=1", "that policy has no such param; it has label"},
		"param without policy":    {"params.attachToBonus=1", "got number, want object"},
		"memory limit":            {"resources.limits.memory=lots", "is not a whole number of"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := helm(t, "template", release, chart, "--set", test.set)
			if err == nil {
				t.Fatalf("--set %s was taken", test.set)
			}
			if !strings.Contains(err.Error(), test.want) {
				t.Errorf("--set %s: want %q in\n%v", test.set, test.want, err)
			}
		})
	}
}

func TestLint(t *testing.T) {
	for _, set := range sets {
		if text, err := helm(t, "lint", "--strict", "--values", values(set), chart); err != nil {
			t.Errorf("%s: %v\n%s", set, err, text)
		}
	}
}
