package gitops

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// health is what the checks have to say about a ConfigMap.
type health struct {
	name, status string
	object       map[string]any
	argo, flux   string
}

// cases are ConfigMaps in every status, and some that hold no policies.
func cases() []health {
	var out []health
	for _, s := range []struct{ status, argo, flux string }{
		{"Active", "Healthy", "current"}, {"Disabled", "Healthy", "current"}, {"Waiting", "Progressing", "inProgress"}, {"Paused", "Suspended", "failed"},
		{"RollingOut", "Progressing", "inProgress"}, {"RolloutStopped", "Degraded", "failed"},
		{"Refused", "Degraded", "failed"}, {"Degraded", "Degraded", "failed"}, {"Empty", "Degraded", "failed"},
	} {
		notes := map[string]any{"edict.dev/status": s.status, "edict.dev/revision": "0123456789ab", "edict.dev/error": "why"}
		out = append(out, health{s.status, s.status, configMap(map[string]any{"edict.dev/policy": "true"}, notes), s.argo, s.flux})
	}
	stopped := map[string]any{"edict.dev/status": "Stopped", "edict.dev/revision": "0123456789ab"}
	return append(out,
		health{"no label", "Stopped", configMap(nil, stopped), "Degraded", "failed"},
		health{"another label", "Stopped", configMap(map[string]any{"edict.dev/policy": "yes"}, stopped), "Degraded", "failed"},
		health{"none yet", "", configMap(map[string]any{"edict.dev/policy": "true"}, nil), "Progressing", "inProgress"},
		health{"none yet, other annotations", "", configMap(map[string]any{"edict.dev/policy": "true"}, map[string]any{"edict.dev/mode": "Shadow"}), "Progressing", "inProgress"},
		health{"of something else", "", configMap(nil, nil), "Healthy", "current"},
		health{"of something else, with labels", "", configMap(map[string]any{"app": "x"}, map[string]any{"a": "b"}), "Healthy", "current"},
		health{"params", "", configMap(map[string]any{"edict.dev/params": "true"}, nil), "Healthy", "current"},
	)
}

func configMap(labels, annotations map[string]any) map[string]any {
	metadata := map[string]any{"name": "m", "namespace": "edict-system"}
	if labels != nil {
		metadata["labels"] = labels
	}
	if annotations != nil {
		metadata["annotations"] = annotations
	}
	return map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": map[string]any{"p.yaml": "x"}}
}

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// documented reads the n-th block of YAML of the page.
func documented(t *testing.T, n int, into any) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "gitops.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := block.FindAllSubmatch(page, -1)
	if len(blocks) <= n {
		t.Fatalf("the page has %d blocks of YAML", len(blocks))
	}
	if err := yaml.UnmarshalStrict(blocks[n][1], into); err != nil {
		t.Fatal(err)
	}
}

// TestArgoCD runs the Lua of the page as Argo CD does.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	var page struct{ Data map[string]string }
	documented(t, 0, &page)
	script := filepath.Join(t.TempDir(), "health.lua")
	if err := os.WriteFile(script, []byte(page.Data["resource.customizations.health.ConfigMap"]), 0o600); err != nil {
		t.Fatal(err)
	}
	var objects []map[string]any
	for _, c := range cases() {
		objects = append(objects, c.object)
	}
	input, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "run", ".", script)
	command.Dir, command.Stdin = "lua", bytes.NewReader(input)
	command.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatal(err, problems.String())
	}
	var got []map[string]string
	if err := json.Unmarshal(output, &got); err != nil || len(got) != len(objects) {
		t.Fatal(len(got), err)
	}
	for i, c := range cases() {
		if got[i]["status"] != c.argo {
			t.Errorf("%s: %v, want %s", c.name, got[i], c.argo)
		}
		if c.status == "Refused" && got[i]["message"] != "Refused: why" {
			t.Errorf("%s: the message is %q", c.name, got[i]["message"])
		}
	}
}

// TestFlux evaluates the expressions of the page as Flux does: in this order, with the
// fields of the object as variables, and an error makes it wait.
func TestFlux(t *testing.T) {
	t.Parallel()
	var page struct {
		Spec struct {
			Wait             bool
			Timeout          string
			HealthCheckExprs []map[string]string `json:"healthCheckExprs"`
		}
	}
	documented(t, 1, &page)
	checks := page.Spec.HealthCheckExprs
	if len(checks) != 1 || checks[0]["kind"] != "ConfigMap" || checks[0]["apiVersion"] != "v1" {
		t.Fatalf("%v", checks)
	}
	var options []cel.EnvOption
	for _, name := range []string{"apiVersion", "kind", "metadata", "data"} {
		options = append(options, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(append(options, cel.OptionalTypes())...)
	if err != nil {
		t.Fatal(err)
	}
	got, want := map[string]string{}, map[string]string{}
	for _, c := range cases() {
		want[c.name] = c.flux
		for _, state := range []string{"inProgress", "failed", "current"} {
			if holds(t, env, checks[0][state], c.object) {
				got[c.name] = state
				break
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func holds(t *testing.T, env *cel.Env, expression string, object map[string]any) bool {
	t.Helper()
	ast, issues := env.Compile(expression)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	program, err := env.Program(ast)
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := program.Eval(object)
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	holds, _ := out.Value().(bool)
	return holds
}

// TestEveryStatus: the cases have every status that the controller writes.
func TestEveryStatus(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile(filepath.Join("..", "..", "engine", "run", "policies", "status.go"))
	if err != nil {
		t.Fatal(err)
	}
	written := map[string]bool{}
	for _, found := range regexp.MustCompile(`(?m)^\tstatus[A-Za-z]+ += (?:"|v1alpha1\.Status)([A-Za-z]+)"?$`).FindAllSubmatch(source, -1) {
		written[string(found[1])] = true
	}
	tested := map[string]bool{}
	for _, c := range cases() {
		if c.status != "" {
			tested[c.status] = true
		}
	}
	if d := cmp.Diff(written, tested); d != "" || len(written) < 10 {
		t.Errorf("statuses (-written +tested):\n%s", d)
	}
}
