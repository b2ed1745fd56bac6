package verify

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/policytest"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// policy returns the text of a policy about ConfigMaps.
func policy(name, rest string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n" + rest
}

// oneRule returns the text of a policy with one rule.
func oneRule(name, when, do string) string {
	return policy(name, "  rules:\n    - name: only\n      when: '"+when+"'\n      do:\n        - "+do+"\n")
}

const (
	claimA = `labels: {set: {owner: a}}`
	claimB = `labels: {set: {owner: b}}`
	free   = `!object.metadata.?labels.?owner.hasValue()`
)

// switching marks the active one of two others, which rules write one after the other.
func switching(first, second string) string {
	rule := func(name, active string) string {
		return "    - name: " + name + "\n      when: variables." + name + ` != ""
      do:
        - labels:
            of: {apiVersion: v1, kind: ConfigMap, namespace: default, name: "${variables.` + name + `}"}
            set: {active: ` + active + "}\n"
	}
	values := map[string]string{"on": `"yes"`, "off": "null"}
	return policy("switch", `  variables:
    - name: on
      expression: object.data.?active.orValue("")
    - name: off
      expression: 'variables.on == "" ? "" : variables.on == "blue" ? "green" : "blue"'
  rules:
`+rule(first, values[first])+rule(second, values[second]))
}

const atMostOne = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: at-most-one}
spec:
  for: {apiVersion: v1, kind: ConfigMap}
  inputs:
    - {name: all, apiVersion: v1, kind: ConfigMap}
  rules:
    - name: two are active
      when: 'inputs.all.filter(c, c.metadata.?labels.?active == optional.of("yes")).size() > 1'
      do:
        - fail: two are active
`

// faults are sets of policies with a mistake, and the same without it.
var faults = []struct {
	name          string
	wrong, mended string
	objects       []string
	changes       int
	kind          Kind
}{
	{
		name: "two policies undo what the other does", kind: Oscillation,
		wrong:  oneRule("a", `object.data.?x.orValue("") != object.data.?y.orValue("")`, `patch: {value: {data: {y: '${object.data.?x.orValue("")}'}}}`) + "---\n" + oneRule("b", `object.data.?x.orValue("") == object.data.?y.orValue("")`, `patch: {value: {data: {x: '${object.data.?y.orValue("") + "1" == "11" ? "" : "1"}'}}}`),
		mended: oneRule("a", `object.data.?x.orValue("") != object.data.?y.orValue("")`, `patch: {value: {data: {y: '${object.data.?x.orValue("")}'}}}`),
	},
	{
		name: "two policies write one field", kind: Writers,
		wrong:  oneRule("a", "true", claimA) + "---\n" + oneRule("b", "true", claimB),
		mended: oneRule("a", "true", claimA),
	},
	{
		name: "a policy counts up for ever", kind: Oscillation,
		wrong:  oneRule("a", "true", `patch: {value: {data: {n: '${object.data.?n.orValue("") + "x"}'}}}`),
		mended: oneRule("a", "true", `patch: {value: {data: {n: x}}}`),
	},
	{
		name: "who comes first wins", kind: Order,
		wrong:  oneRule("a", free, claimA) + "---\n" + oneRule("b", free, claimB),
		mended: oneRule("a", free, claimA) + "---\n" + oneRule("b", "false", claimB),
	},
	{
		name: "a restart writes in a world at rest", kind: Crash,
		wrong: policy("a", `  rules:
    - name: only
      when: '!memory.get("seen").hasValue()'
      do:
        - patch: {value: {data: {n: '${object.data.?n.orValue("") + "x"}'}}}
        - remember: {name: seen, value: true}
`),
		mended: oneRule("a", `initial && object.data.?n.orValue("") == ""`, `patch: {value: {data: {n: x}}}`),
	},
	{
		name: "what is remembered is lost", kind: Crash, changes: 1,
		wrong: policy("a", `  rules:
    - name: tell
      when: object.?data.?x.orValue("") != memory.get("x").orValue(object.?data.?x.orValue(""))
      do:
        - labels: {set: {changed: "yes"}}
    - name: keep
      do:
        - remember: {name: x, value: '${object.?data.?x.orValue("")}'}
`),
		mended: oneRule("a", `object.?data.?x.orValue("") != "1"`, `labels: {set: {changed: "yes"}}`),
	},
	{
		name: "a field may be absent", kind: Failed, changes: 1,
		wrong:  oneRule("a", `object.data.x == "1"`, `labels: {set: {x: one}}`),
		mended: oneRule("a", `object.?data.?x.orValue("") == "1"`, `labels: {set: {x: one}}`),
	},
	{
		name: "a write that changes nothing", kind: Failed,
		wrong:   oneRule("a", "true", `patch: {of: {apiVersion: v1, kind: Service, namespace: default, name: s}, value: {spec: {sessionAffinityConfig: '${dyn({"unknown": 1})}'}}}`),
		mended:  oneRule("a", "true", `patch: {of: {apiVersion: v1, kind: Service, namespace: default, name: s}, value: {spec: {sessionAffinityConfig: '${dyn({"clientIP": {"timeoutSeconds": 9}})}'}}}`),
		objects: []string{config("one", `x: "1"`), "apiVersion: v1\nkind: Service\nmetadata: {name: s, namespace: default}\nspec: {sessionAffinityConfig: {clientIP: {timeoutSeconds: 9}}}\n"},
	},
	{
		name: "an invariant fails between two writes", kind: Failed,
		wrong:   atMostOne + "---\n" + switching("on", "off"),
		mended:  atMostOne + "---\n" + switching("off", "on"),
		objects: []string{config("active", "active: blue"), config("blue", "other: x"), "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: green, namespace: default, labels: {active: 'yes'}}\ndata: {other: x}\n"},
	},
}

func config(name, data string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: " + name + ", namespace: default}\ndata: {" + data + "}\n"
}

// written writes a file of the test.
func file(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// explored looks for one finding.
func explored(t *testing.T, path string, objects []string, changes int) *Result {
	t.Helper()
	return exploredFor(t, path, objects, Options{Changes: changes, Findings: 1})
}

func exploredFor(t *testing.T, path string, objects []string, o Options) *Result {
	t.Helper()
	b, err := source.Load([]string{path}, source.Options{})
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	if objects == nil {
		objects = []string{config("one", `x: "1"`)}
	}
	o.Policies, o.Schemas, o.Guard, o.Start = b.Policies, b.Schemas, guard.New(b.Allowances).Assuming(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for _, text := range objects {
		list, err := simulate.ParseObjects("objects", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		o.Objects = append(o.Objects, list...)
	}
	r, err := Run(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFaultsAreFound: what is found is a test that fails, and passes once the policies
// are mended.
func TestFaultsAreFound(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			path := filepath.Join(folder, "policies.yaml")
			file(t, path, f.wrong)
			r := explored(t, path, f.objects, f.changes)
			if len(r.Findings) == 0 || r.Findings[0].Kind != f.kind {
				t.Fatalf("found %+v, not %s; explored %+v", r.Findings, f.kind, r.Explored)
			}
			text, err := Test{Policies: []string{"policies.yaml"}, Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}.Document(r.Findings[:1])
			if err != nil {
				t.Fatal(err)
			}
			test := filepath.Join(folder, "test.yaml")
			file(t, test, string(text))
			if failed := failures(t, test); failed != 1 {
				t.Errorf("%d cases fail, not 1:\n%s", failed, text)
			}
			file(t, path, f.mended)
			if failed := failures(t, test); failed != 0 {
				t.Errorf("%d cases fail of the mended policies:\n%s", failed, text)
			}
			if again := explored(t, path, f.objects, f.changes); len(again.Findings) > 0 {
				t.Errorf("mended, and yet: %+v", again.Findings)
			}
		})
	}
}

func failures(t *testing.T, path string) int {
	t.Helper()
	report, err := policytest.Run(t.Context(), []string{path}, policytest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range report.Cases {
		for _, f := range c.Failures {
			t.Log(f)
		}
	}
	if len(report.Cases) == 0 {
		t.Fatalf("%d cases", len(report.Cases))
	}
	return report.Failed()
}

const tainting = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: taint}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: add
      when: object.metadata.?labels[?"bad"].orValue("") == "yes"
      do: [{patch: {list: spec.taints, by: {key: example.com/bad, effect: NoSchedule}, entry: {}}}]
    - name: remove
      when: object.metadata.?labels[?"bad"].orValue("") != "yes"
      do: [{patch: {list: spec.taints, by: {key: example.com/bad, effect: NoSchedule}, remove: true}}]
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: label}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs: [{name: c, apiVersion: v1, kind: ConfigMap, get: '{"namespace": "default", "name": "c"}'}]
  rules:
    - name: set
      do: [{labels: {set: {bad: '${inputs.c != null ? "yes" : "no"}'}}}]
`

const counting = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: count}
spec:
  for: {apiVersion: apps/v1, kind: Deployment}
  rules: [{name: count, do: [{labels: {set: {n: '${string(size(object.spec.template.spec.containers))}'}}}]}]
`

// TestNoFalseFindings: a parent that a removal has emptied is none, and a list that must be
// there is not emptied.
func TestNoFalseFindings(t *testing.T) {
	t.Parallel()
	for text, world := range map[string][]string{
		tainting: {"{apiVersion: v1, kind: Node, metadata: {name: a}}", config("c", "")},
		counting: {"{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b}, spec: {selector: {matchLabels: {a: b}}, template: {metadata: {labels: {a: b}}, spec: {containers: [{name: c, image: i}]}}}}"},
	} {
		path := filepath.Join(t.TempDir(), "p.yaml")
		file(t, path, text)
		if r := explored(t, path, world, 2); len(r.Findings) > 0 || r.Explored.Changes == 0 {
			t.Errorf("found %+v", r.Findings)
		}
	}
}

// TestTimeEndsTrials: when the time is over, nothing is tried that takes longer.
func TestTimeEndsTrials(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.yaml")
	file(t, path, oneRule("a", "true", `patch: {value: {data: {n: '${object.data.?n.orValue("") + "x"}'}}}`))
	if r := exploredFor(t, path, nil, Options{Findings: 1}); len(r.Findings) != 1 {
		t.Fatalf("found %+v", r.Findings)
	}
	if r := exploredFor(t, path, nil, Options{Findings: 1, Time: 1}); len(r.Findings) > 0 || r.Explored.Why == "" {
		t.Errorf("found %+v after %+v", r.Findings, r.Explored)
	}
}

// TestAllFindings: each fault is found once, and has a case that fails; what objects have is
// shown in YAML.
func TestAllFindings(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	file(t, filepath.Join(folder, "policies.yaml"), oneRule("a", free, claimA)+"---\n"+oneRule("b", free, claimB)+"---\n"+
		oneRule("c", `true`, `annotations: {set: {y: "${object.data.y}"}}`))
	r := exploredFor(t, filepath.Join(folder, "policies.yaml"), []string{config("one", `x: "1", y: z`), config("two", `x: "1", y: z`)}, Options{Changes: 1, States: 60})
	kinds := map[Kind]int{}
	for _, f := range r.Findings {
		kinds[f.Kind]++
	}
	if kinds[Order] != 1 || kinds[Failed] == 0 {
		t.Fatalf("found %+v", r.Findings)
	}
	for _, f := range r.Findings {
		const want = "ConfigMap default/one differs\nit has\n  metadata:\n    labels:\n      owner: "
		if f.Kind == Order && !strings.Contains(f.Message, want) && !strings.Contains(f.Message, strings.Replace(want, "one", "two", 1)) {
			t.Errorf("the message is %s", f.Message)
		}
	}
	text, err := Test{Policies: []string{"policies.yaml"}, Start: time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}.Document(r.Findings)
	if err != nil {
		t.Fatal(err)
	}
	file(t, filepath.Join(folder, "test.yaml"), string(text))
	if failed := failures(t, filepath.Join(folder, "test.yaml")); failed != len(r.Findings) {
		t.Errorf("%d cases fail, of %d", failed, len(r.Findings))
	}
}
