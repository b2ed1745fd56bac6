package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/compile"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
)

// TestChartIsUpToDate fails when a policy has changed and the schema has not.
func TestChartIsUpToDate(t *testing.T) {
	t.Parallel()
	if err := run("../../charts/edict/files/policies", "../../charts/edict/values.schema.json", true); err != nil {
		t.Error(err)
	}
}

// TestRecommendedValues: the recommended values of params are the same in the chart as in
// the examples, differ from the defaults, and the policies accept them.
func TestRecommendedValues(t *testing.T) {
	t.Parallel()
	var given map[string]map[string]any
	var values struct {
		Params map[string]map[string]any `json:"params"`
	}
	for file, to := range map[string]any{"../../examples/recommended/params.yaml": &given, "../../charts/edict/values-recommended.yaml": &values} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if err := yaml.UnmarshalStrict(text, to); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(given, values.Params); diff != "" {
		t.Errorf("(-examples +chart)\n%s", diff)
	}
	typed := map[string]map[string]string{}
	for policy, params := range given {
		typed[policy] = map[string]string{}
		for name, v := range params {
			typed[policy][name] = fmt.Sprint(v)
		}
	}
	bundle, err := source.Load([]string{"../../policies"}, source.Options{Params: compile.TypedOverrides(typed, source.Typed)})
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Err(); err != nil {
		t.Fatal(err)
	}
	for _, p := range bundle.Policies {
		for _, info := range p.ParamInfo {
			want, recommended := given[p.Name][info.Name]
			if recommended && fmt.Sprint(value.Plain(info.Default)) == fmt.Sprint(want) {
				t.Errorf("%s.%s: %v is the default", p.Name, info.Name, want)
			}
		}
	}
}

// TestWriteAndCompare: what was written is up to date; what was there before
// stays.
func TestWriteAndCompare(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "schema.json")
	if err := os.WriteFile(file, []byte("{\n  \"type\": \"object\"\n}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("../../policies", file, true); err == nil || !strings.Contains(err.Error(), "is not up to date") {
		t.Errorf("a file without conditions: %v", err)
	}
	for range 2 {
		if err := run("../../policies", file, false); err != nil {
			t.Fatal(err)
		}
	}
	if err := run("../../policies", file, true); err != nil {
		t.Error(err)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Type  string
		AllOf []any
	}
	if err := json.Unmarshal(text, &got); err != nil || got.Type != "object" || len(got.AllOf) == 0 {
		t.Errorf("%v in\n%s", err, text)
	}
}

// every has a param of every type with every bound.
const every = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: every}
spec:
  mode: Disabled
  params:
    text: {default: a, minLength: 1}
    choice: {default: a, enum: [a, b]}
    count: {default: 3, minimum: 1, maximum: 10}
    few: {default: 1, enum: [1, 2]}
    share: {type: double, default: 0.5, minimum: 0, maximum: 1}
    flag: false
    wait: {type: duration, default: 5s, minimum: 0s}
    ttl: {type: duration, default: 5s, minimum: 1ms}
    offset: {type: duration, default: 0s}
    labels: {type: selector, default: app=a}
    names: {default: [a], minLength: 1}
    kinds: {default: [Pod], items: {enum: [Pod, Node]}}
    taints: {type: list, default: [{key: a}]}
    map: {type: map, default: {a: b}}
  for: {apiVersion: v1, kind: ConfigMap}
  rules: [{name: r, do: [{labels: {set: {a: "${params.text}"}}}]}]
`

// candidates are values that may be right or wrong.
var candidates = []any{
	"", "a", "b", "c", int64(0), int64(1), int64(2), int64(11), int64(-5), 0.5, 1.5, true, false,
	"0", "0s", "5s", "-5s", "+5s", "1d", "5", "5m30s", ".5h", "1.h", "5 m", "0.0ms", "1us", "s", "0s0m", "0h1s",
	"app=a", "app = a", "app==a", "app!=a", "app in (a)", "app in (a, b),!c", "app notin (a,,b)", "app in (", "app in a", "a,b", "a b", "!a", "! a",
	"x/y=1", "n>5", "n < 5", "n > a", "=a", "a=", "a,", "a;b", "äpp=a", " app=a ",
	[]any{}, []any{"a"}, []any{"Pod"}, []any{"Pod", "Node"}, []any{"Pod", "a"}, []any{map[string]any{"key": "a"}},
	map[string]any{}, map[string]any{"a": "b"}, map[string]any{"matchLabels": map[string]any{"a": "b"}},
	map[string]any{"matchLabels": map[string]any{"a b": "b"}}, map[string]any{"matchLabels": map[string]any{"a": int64(1)}},
	map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "Exists"}}},
	map[string]any{"matchExpressions": []any{map[string]any{"key": "a", "operator": "exists"}}},
	map[string]any{"matchExpressions": []any{map[string]any{"key": "a"}}},
}

// left are values that the schema takes and a policy does not: only the sign of
// a duration is looked at, and zero.
var left = map[string]bool{"ttl 1us": true}

// TestSchemaAgrees: the schema of a param takes what a policy takes. What it
// refuses beyond that are items of another type than the default's.
func TestSchemaAgrees(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "every.yaml")
	if err := os.WriteFile(file, []byte(every), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := source.Load([]string{file}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Err(); err != nil {
		t.Fatal(err)
	}
	if refused := agrees(t, bundle.Units[0], bundle.Policies[0], bundle.Schemas); refused < 300 {
		t.Errorf("%d values were refused only", refused)
	}
}

// TestDefaultsAreTaken: the schema takes the defaults of the shipped policies.
func TestDefaultsAreTaken(t *testing.T) {
	t.Parallel()
	bundle, err := source.Load([]string{"../../policies"}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	params := 0
	for _, p := range bundle.Policies {
		for _, info := range p.ParamInfo {
			params++
			plain := value.Plain(info.Default)
			if d, isDuration := plain.(time.Duration); isDuration {
				plain = d.String()
			}
			if problem := validator(t, param(info))(plain); problem != "" {
				t.Errorf("%s.%s: the default %v: %s", p.Name, info.Name, plain, problem)
			}
		}
	}
	if params < 20 {
		t.Errorf("there are %d params only", params)
	}
}

// agrees compares the two for every param of a policy, and returns how many
// values both refuse.
func agrees(t *testing.T, unit *source.Unit, p *plan.Policy, kinds *schema.Set) (refused int) {
	t.Helper()
	for _, info := range p.ParamInfo {
		check := validator(t, param(info))
		for _, v := range candidates {
			bySchema := check(v)
			byPolicy := problemOf(t, unit, info.Name, v, kinds)
			name := fmt.Sprintf("%s %v", info.Name, v)
			switch {
			case bySchema != "" && byPolicy != "":
				refused++
			case bySchema == "" && byPolicy != "" && !left[name]:
				t.Errorf("%s: the schema takes %s, the policy does not: %s", p.Name, name, byPolicy)
			case bySchema != "" && byPolicy == "" && info.Type != "list":
				t.Errorf("%s: the policy takes %s, the schema does not: %s", p.Name, name, bySchema)
			}
		}
	}
	return refused
}

// problemOf returns what is wrong with a value for a policy.
func problemOf(t *testing.T, unit *source.Unit, name string, v any, kinds *schema.Set) string {
	t.Helper()
	with := *unit
	with.Overrides = map[string]compile.Override{name: {Value: v}}
	_, problems, err := source.NewCompiler(nil, nil).Compile(t.Context(), &with, kinds)
	if err != nil {
		t.Fatal(err)
	}
	for _, problem := range problems {
		if problem.Severity == document.Error && strings.HasPrefix(problem.Message, "the value ") {
			return problem.Message
		}
	}
	return ""
}

// validator returns a function that gives what is wrong with a value for a schema.
func validator(t *testing.T, of object) func(any) string {
	t.Helper()
	text, err := json.Marshal(of)
	if err != nil {
		t.Fatal(err)
	}
	var typed spec.Schema
	if err := json.Unmarshal(text, &typed); err != nil {
		t.Fatal(err)
	}
	v := validate.NewSchemaValidator(&typed, nil, "", strfmt.Default)
	return func(of any) string {
		if result := v.Validate(of); result.HasErrors() {
			return result.AsError().Error()
		}
		return ""
	}
}
