package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/yaml"
)

// types runs a line of the shell with the kubectl of the control plane, in the namespace of the sets, and
// returns its output.
func (c *cluster) types(line string) (string, error) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), "bash", "-e", "-o", "pipefail", "-c", line)
	cmd.Dir = c.t.TempDir()
	alias := "exec " + c.plane.Kubectl() + ` -n ` + home + ` "$@"`
	if err := os.WriteFile(filepath.Join(cmd.Dir, "kubectl"), []byte("#!/bin/bash\n"+alias+"\n"), 0o700); err != nil {
		c.t.Fatal(err)
	}
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.plane.Kubeconfig(), "PATH="+cmd.Dir+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// TestKubectl: an operator with nothing but kubectl sees the state of all policies, waits for an edit,
// suspends, holds, rolls out and back, and deletes.
func TestKubectl(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.put(node("a", "z", true, time.Now()))
	c.braked = true
	c.fromSets(nil)
	manifest := func(value string) string {
		var all []string
		for _, o := range []object{textOf("marks", map[string]string{"marks.yaml": marks("marks", "mark", value)}), set("marks")} {
			text, err := yaml.Marshal(o)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, string(text))
		}
		return strings.Join(all, "---\n")
	}
	const (
		apply   = "kubectl apply -f - <<'EOF'\n"
		taken   = "\nEOF\nkubectl wait policyset/marks --timeout=60s --for=jsonpath='{.status.source.resourceVersion}'=$(kubectl get configmap marks -o jsonpath={.metadata.resourceVersion})"
		wait    = "kubectl wait policyset/marks --timeout=60s --for="
		patch   = "kubectl patch policyset marks --type=merge -p "
		ready   = "; " + wait + "condition=Ready"
		message = "kubectl get policyset marks -o jsonpath='{.status.conditions[?(@.type==\"Accepted\")].message}'"
		digest  = "$(kubectl get controllerrevisions -l edict.dev/policyset=marks --sort-by=.revision -o jsonpath='{.items[0].metadata.annotations.edict\\.dev/digest}')"
	)
	for _, step := range []struct {
		line  string
		wants []string
		mark  string // the label of the node afterwards
	}{
		{apply + manifest("one") + taken + ready, []string{"condition met"}, "one"},
		{"kubectl get policysets", []string{"NAME", "READY", "STATUS", "MODE", "OBJECTS", "FAILING", "REVISION", "marks", "True", "Enforcing", "Enforce"}, "one"},
		{apply + manifest("two") + taken + ready, []string{"condition met"}, "two"},
		{apply + strings.Replace(manifest("three"), "params.value", "params.valeu", 1) + taken + "; " + wait + "condition=Accepted=False", []string{"condition met"}, "two"},
		{message, []string{"marks.yaml:12", "params.valeu", "^"}, "two"},
		{"kubectl events --for policyset/marks", []string{"LastGoodEnforced", "marks.yaml:12", "params.valeu"}, "two"},
		{"kubectl get policyset marks -o wide", []string{"False", "LastGoodEnforced"}, "two"},
		{apply + manifest("two") + taken + ready, []string{"condition met"}, "two"},
		{patch + `'{"spec":{"suspend":true}}'; ` + wait + "condition=Enforcing=False", []string{"condition met"}, "two"},
		{apply + manifest("three") + taken + ready + "; kubectl get policyset marks", []string{"True", "Suspended"}, "two"},
		{patch + `'{"spec":{"suspend":null}}'; ` + wait + "condition=Enforcing", []string{"condition met"}, "three"},
		{patch + `'{"spec":{"holds":[{"name":"h","reason":"incident 1","until":"2100-01-01T00:00:00Z"}]}}'; ` + wait + "condition=Held", []string{"condition met"}, "three"},
		{apply + manifest("four") + taken + ready + "; kubectl get policyset marks -o wide", []string{"True", "False"}, "three"},
		{patch + `'{"spec":{"holds":[]}}'` + ready, []string{"condition met"}, "four"},
		{patch + `'{"spec":{"rollout":{"steps":[{"selector":{"matchLabels":{"none":"x"}}}],"interval":"1s"}}}'`, []string{"patched"}, "four"},
		{apply + manifest("five") + taken + "; " + wait + "jsonpath='{.status.policies[0].rollout.step}'=1" + ready, []string{"condition met"}, "five"},
		{patch + `"{\"spec\":{\"source\":{\"digest\":\"` + digest + `\"}}}"` + ready, []string{"condition met"}, "one"},
		{"kubectl delete policyset marks; kubectl get policysets", []string{"No resources found"}, "one"},
	} {
		out, err := c.types(step.line)
		if err != nil {
			t.Fatalf("$ %s\n%s%v", step.line, out, err)
		}
		for _, want := range step.wants {
			if !strings.Contains(out, want) {
				t.Errorf("$ %s\n%s lacks %q", step.line, out, want)
			}
		}
		c.wantMarks("a", map[string]string{"mark": step.mark})
	}
}
