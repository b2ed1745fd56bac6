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
		"mode":                    {"policies.kmm-node-entries.mode=Off", "'Enforce', 'Shadow', 'Disabled'"},
		"switch as text":          {"policies.kmm-node-entries.enabled=yes", "got string, want boolean"},
		"name":                    {"fullnameOverride=My_Edict", "'/fullnameOverride': 'My_Edict' does not match pattern"},
		"part of a name":          {"nameOverride=Edict", "'/nameOverride': 'Edict' does not match pattern"},
		"account":                 {"serviceAccount.name=My_Edict", "'/serviceAccount/name': 'My_Edict' does not match pattern"},
		"no replicas":             {"replicas=0", "minimum: got 0, want 1"},
		"failure policy":          {"webhook.failurePolicy=ignore", "'Ignore', 'Fail'"},
		"webhook at an address":   {"webhook.url=https://127.0.0.1:9443/validate", "127.0.0.1 is an address"},
		"insecure webhook":        {"webhook.url=http://edict/validate", "does not match pattern"},
		"digest":                  {"image.digest=abc", "does not match pattern"},
		"secret in values":        {"extender.clientCertificate.key=PRIVATE", "additional properties 'key' not allowed"},
		"argument without dash":   {"extraArgs={v}", "does not match pattern"},
		"log level":               {"log.level=loud", "'debug', 'info', 'warn', 'error'"},
		"allowance":               {"extraPolicies.x.text=a,extraPolicies.x.allowances[0].kind=Pod", "missing property 'fields'"},
		"name of a set":           {"extraPolicies." + strings.Repeat("n", 53) + ".text=a", "maxLength: got 53, want 52"},
		"rule":                    {"extraRules[0].verbs={get}", "missing properties 'apiGroups', 'resources'"},
		"params of no policy":     {"params.replica-schedling.attachToBonus=1", "there is no policy of that name; there are agent-node-label, "},
		"param of another policy": {"params.agent-node-label.attachToBonus=1", "that policy has no such param; it has label"},
		"param without policy":    {"params.attachToBonus=1", "got number, want object"},
		"param of another type":   {"params.replica-scheduling.attachToBonus=many", "'/params/replica-scheduling/attachToBonus': got string, want integer"},
		"param out of bounds":     {"params.replica-scheduling.attachToBonus=5000000", "maximum: got 5"},
		"duration":                {"params.configmap-restart.debounce=1d", "'/params/configmap-restart/debounce': '1d' does not match pattern"},
		"duration of zero":        {"params.replica-scheduling.scoreReservationTTL=0s", "'/params/replica-scheduling/scoreReservationTTL': 'not' failed"},
		"item of a list":          {"params.configmap-restart.kinds={Pod}", "must be one of 'Deployment', 'StatefulSet', 'DaemonSet'"},
		"selector":                {"params.storage-pool-eligibility.agentSelector=app in (", "/agentSelector': 'app in (' does not match"},
		"empty param":             {"params.storage-pool-eligibility.zoneLabel=", "minLength: got 0, want 1"},
		"shipped as an extra":     {"extraPolicies.kmm-node-entries.text=a: b", "the chart has a policy of that name"},
		"extra without text":      {"extraPolicies.mine.mode=Shadow", "missing property 'text'"},
		"text that is no YAML":    {"policies.kmm-node-entries.text=]", "the text of the policy kmm-node-entries is no YAML"},
		"default mode":            {"defaultMode=Off", "'Enforce', 'Shadow', 'Disabled'"},
		"memory of children":      {"childMemory=100Mi", "childMemory: 100Mi is less than 160Mi"},
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

// TestParamsOfAnotherText: bounds are those of the text, and the chart knows
// them only of what it ships.
func TestParamsOfAnotherText(t *testing.T) {
	text := "metadata: {name: replica-scheduling}\nkind: Policy\nspec: {params: {attachToBonus: many}}\n"
	if _, err := helm(t, "template", release, chart, "--set-string", "params.replica-scheduling.attachToBonus=few",
		"--set-literal", "policies.replica-scheduling.text="+text); err != nil {
		t.Error(err)
	}
}

func TestLint(t *testing.T) {
	for _, set := range sets {
		if text, err := helm(t, "lint", "--strict", "--values", values(set), chart); err != nil {
			t.Errorf("%s: %v\n%s", set, err, text)
		}
	}
}
