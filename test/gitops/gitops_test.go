package gitops

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// state is a PolicySet, and what tools have to say of its health.
type state struct {
	name       string
	conditions string // as TYPE=STATUS REASON, by commas
	observed   int64  // of generation 2
	argo, flux string
}

// states are those that the reconciler's own test computes, and those of sets that were not read yet.
func states(t *testing.T) (out []state) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "engine", "run", "policies", "testdata", "conditions.json"))
	if err != nil {
		t.Fatal(err)
	}
	var rows []struct{ Name, Conditions, Argo, Flux string }
	if err := json.Unmarshal(text, &rows); err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		out = append(out, state{r.Name, r.Conditions, 2, r.Argo, r.Flux})
	}
	return append(out, unread...)
}

// unread are states of sets that were not read, or were edited since.
var unread = []state{
	{"new", "", -1, "Progressing", "InProgress"},
	{"edited", "Ready=True Enforcing", 1, "Progressing", "InProgress"},
	{"edited after it was refused", "Ready=False NothingEnforced,Stalled=True InvalidText", 1, "Progressing", "InProgress"},
}

// object returns the PolicySet of a state.
func (s *state) object() map[string]any {
	status := map[string]any{"observedGeneration": s.observed}
	var conditions []any
	for text := range strings.SplitSeq(s.conditions, ",") {
		kind, rest, found := strings.Cut(text, "=")
		if !found {
			continue
		}
		is, reason, _ := strings.Cut(rest, " ")
		conditions = append(conditions, map[string]any{"type": kind, "status": is, "reason": reason, "message": "why", "observedGeneration": s.observed})
	}
	if len(conditions) > 0 {
		status["conditions"] = conditions
	}
	return map[string]any{
		"apiVersion": "edict.dev/v1alpha1", "kind": "PolicySet", "status": status,
		"metadata": map[string]any{"name": "storage", "namespace": "edict-system", "generation": int64(2)},
	}
}

var health = filepath.Join("..", "..", "docs", "resource_customizations", "edict.dev", "PolicySet", "health.lua")

// TestArgoCD runs the script as Argo CD does.
func TestArgoCD(t *testing.T) {
	t.Parallel()
	script, err := filepath.Abs(health)
	if err != nil {
		t.Fatal(err)
	}
	var got []map[string]string
	run(t, "lua", &got, script)
	for i, s := range states(t) {
		if got[i]["status"] != s.argo {
			t.Errorf("%s: %v, want %s", s.name, got[i], s.argo)
		}
		if s.name == "paused" && got[i]["message"] != "Paused: why" {
			t.Errorf("%s: the message is %q", s.name, got[i]["message"])
		}
	}
}

// TestFlux: the library that Flux waits with needs nothing but the conditions.
func TestFlux(t *testing.T) {
	t.Parallel()
	var got []string
	run(t, "kstatus", &got)
	for i, s := range states(t) {
		if got[i] != s.flux {
			t.Errorf("%s: %s, want %s", s.name, got[i], s.flux)
		}
	}
}

// run gives the objects of the states to a module that is none of the controller's, and reads a
// list of as many results.
func run[R any](t *testing.T, module string, results *[]R, arguments ...string) {
	t.Helper()
	var objects []map[string]any
	for _, s := range states(t) {
		objects = append(objects, s.object())
	}
	input, err := json.Marshal(objects)
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", append([]string{"run", "."}, arguments...)...)
	command.Dir, command.Stdin = module, bytes.NewReader(input)
	command.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOWORK=off", "CGO_ENABLED=0")
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatal(err, problems.String())
	}
	if err := json.Unmarshal(output, results); err != nil || len(*results) != len(objects) {
		t.Fatal(len(*results), err)
	}
}

var block = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// TestPageHasTheScript: the page shows the script as it is tested.
func TestPageHasTheScript(t *testing.T) {
	t.Parallel()
	want, err := os.ReadFile(health)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "gitops.md"))
	if err != nil {
		t.Fatal(err)
	}
	var settings struct{ Data map[string]string }
	if first := block.FindSubmatch(page); first == nil || yaml.UnmarshalStrict(first[1], &settings) != nil {
		t.Fatal("the page has no settings of Argo CD")
	}
	if got := settings.Data["resource.customizations.health.edict.dev_PolicySet"]; got != string(want) {
		t.Errorf("the page has\n%s", got)
	}
}
