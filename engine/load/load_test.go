package load

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
)

const header = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: a}\n"

// problemsOf returns what is wrong with a text, one line each.
func problemsOf(text string) (file File, wrong []string) {
	file, problems := Documents("f.yaml", []byte(text))
	for _, p := range problems {
		wrong = append(wrong, p.Error())
	}
	return file, wrong
}

func TestEveryFieldOfAPolicyIsRead(t *testing.T) {
	t.Parallel()
	file, wrong := problemsOf(header + `
spec:
  mode: Enforce
  for: {apiVersion: v1, kind: Node, selector: "a=b", namespaces: [x], optional: true}
  params:
    plain: 3
    described: {type: list, default: [a], items: {enum: [a, b]}, minLength: 1, description: why}
  inputs:
    - {name: i, apiVersion: v1, kind: Pod, when: "true", where: "true", keyBy: x, orderBy: [a, b]}
  variables:
    - {name: v, forEach: l, as: x, variables: [{name: w, expression: "1"}], value: {a: "${w}"}, unique: true}
  rules:
    - name: r
      forEach: l
      stop: true
      cases: [{name: c, when: "true", do: [{fail: why}]}]
      onError: [{log: {level: info, message: m}}]
  metrics:
    - {name: m, of: effect.written, labels: {a: b}}
`)
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	p := file.Policies[0]
	got := map[string]any{
		"mode": p.Spec.Mode.Value, "kind": p.Spec.For.Kind.Value, "optional": p.Spec.For.Optional,
		"params": p.Spec.Params[1].Key.Value, "default": p.Spec.Params[0].Value.Default.Plain(),
		"items": p.Spec.Params[1].Value.Items.Enum.Plain(), "orderBy": p.Spec.Inputs[0].OrderBy[1].Value,
		"inner": p.Spec.Variables[0].Variables[0].Expression.Value, "unique": p.Spec.Variables[0].Unique,
		"stop": p.Spec.Rules[0].Stop, "fail": p.Spec.Rules[0].Cases[0].Do[0].Fail.Node.Text,
		"log": p.Spec.Rules[0].OnError[0].Log.Message.Node.Text, "metric": p.Spec.Metrics[0].Labels[0].Key.Value,
		"place": p.Spec.Rules[0].Pos.String(),
	}
	want := map[string]any{
		"mode": "Enforce", "kind": "Node", "optional": true, "params": "described", "default": int64(3),
		"items": []any{"a", "b"}, "orderBy": "b", "inner": "1", "unique": true, "stop": true, "fail": "why",
		"log": "m", "metric": "a", "place": "f.yaml:16:7",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestPolicyTestIsRead(t *testing.T) {
	t.Parallel()
	file, wrong := problemsOf(`
apiVersion: edict.dev/v1alpha1
kind: PolicyTest
metadata: {name: a}
spec:
  policies: [../a.yaml]
  objects: [{apiVersion: v1, kind: Node, metadata: {name: n}}]
  cases:
    - name: c
      steps: [{advance: 5m}, {delete: {apiVersion: v1, kind: Node, name: n}, expect: {effects: []}}]
      expect: {absent: [{apiVersion: v1, kind: Node, name: n}]}
`)
	if len(wrong) > 0 || len(file.Policies) != 0 {
		t.Fatal(wrong)
	}
	c := file.Tests[0].Spec.Cases[0]
	if c.Steps[0].Advance.Value != "5m" || c.Steps[1].Expect.Effects == nil || c.Expect.Absent[0].Name.Value != "n" {
		t.Errorf("got %+v", c)
	}
}

func TestScalarsThatAreExpressions(t *testing.T) {
	t.Parallel()
	file, wrong := problemsOf(header + "spec:\n  variables:\n    - {name: a, expression: true}\n    - {name: b, expression: 3}\n    - {name: c, expression: 1.50}\n")
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	for i, want := range []string{"true", "3", "1.50"} {
		if got := file.Policies[0].Spec.Variables[i].Expression.Value; got != want {
			t.Errorf("%q is read as %q", want, got)
		}
	}
}

func TestTargetIsAnExpressionOrAReference(t *testing.T) {
	t.Parallel()
	file, wrong := problemsOf(header + "spec:\n  rules:\n    - name: r\n      do: [{delete: {of: inputs.a}}, {delete: {of: {apiVersion: v1, kind: Pod, name: n}}}]\n")
	if len(wrong) > 0 {
		t.Fatal(wrong)
	}
	do := file.Policies[0].Spec.Rules[0].Do
	if do[0].Delete.Of.Object.Value != "inputs.a" || do[1].Delete.Of.Kind.Value != "Pod" || do[1].Delete.Of.Object.Set() {
		t.Errorf("got %+v and %+v", do[0].Delete.Of, do[1].Delete.Of)
	}
}

// TestStrict: what a document may not hold. All that is wrong with it comes in
// one answer.
func TestStrict(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"unknown fields at every depth": {
			header + "statu: {}\nspec:\n  fr: {}\n  rules:\n    - {nam: a}\n    - name: b\n      do: [{condition: {typ: A}}]\n",
			[]string{
				`f.yaml:4:1: the document has no field "statu" (its fields are apiVersion, kind, metadata, spec)`,
				`f.yaml:6:3: spec has no field "fr" (did you mean "for"?)`,
				`f.yaml:8:8: spec.rules[0] has no field "nam" (did you mean "name"?)`,
				`f.yaml:10:25: spec.rules[1].do[0].condition has no field "typ" (did you mean "type"?)`,
			},
		},
		"words of other systems": {
			header + "spec:\n  match: {}\n  rules:\n    - {name: a, if: a, actions: []}\n    - name: b\n      do: [{delete: object}, {labels: {a: b}}]\n",
			[]string{
				`f.yaml:5:3: spec has no field "match" (write for)`,
				`f.yaml:7:17: spec.rules[0] has no field "if" (write when)`,
				`f.yaml:7:24: spec.rules[0] has no field "actions" (write do)`,
				"f.yaml:9:21: spec.rules[1].do[0].delete must be a mapping, not a string ({of: object})",
				`f.yaml:9:40: spec.rules[1].do[1].labels has no field "a" (labels and annotations stand under set: {set: {a: ...}})`,
			},
		},
		"values of the wrong shape": {
			header + "spec:\n  for: Node\n  inputs: {}\n  rules: [a, []]\n  variables:\n    - {name: {}, expression: [], unique: 1, orderBy: a}\n",
			[]string{
				"f.yaml:5:8: spec.for must be a mapping, not a string (its fields are apiVersion, kind, kinds, namespaces, optional, selector)",
				"f.yaml:6:11: spec.inputs must be a list, not a mapping ([])",
				"f.yaml:7:11: spec.rules[0] must be a mapping, not a string (its fields are as, cases, continueOnError, debounce, do, finally, forEach, name, onError, rate, stop, variables, when)",
				"f.yaml:7:14: spec.rules[1] must be a mapping, not a list (its fields are as, cases, continueOnError, debounce, do, finally, forEach, name, onError, rate, stop, variables, when)",
				"f.yaml:9:14: spec.variables[0].name must be a text, not a mapping (put an expression that begins with { or [ in quotes)",
				"f.yaml:9:30: spec.variables[0].expression must be a text, not a list (put an expression that begins with { or [ in quotes)",
				"f.yaml:9:42: spec.variables[0].unique must be true or false, not an integer",
				"f.yaml:9:54: spec.variables[0].orderBy must be a list, not a string ([a])",
			},
		},
		"empty values": {
			header + "spec:\n  rules:\n    - name:\n      when: ~\n      stop:\n",
			[]string{
				"f.yaml:6:12: spec.rules[0].name is empty",
				"f.yaml:7:13: spec.rules[0].when is empty",
				"f.yaml:8:12: spec.rules[0].stop must be true or false, not null",
			},
		},
		"duplicate keys and an unknown field": {
			header + "spec:\n  for: {kind: Node, kind: Pod}\n  rulez: []\n",
			[]string{
				`f.yaml:5:21: duplicate key "kind", first on line 5`,
				`f.yaml:6:3: spec has no field "rulez" (did you mean "rules"?)`,
			},
		},
		"no apiVersion": {
			"kind: Policy\n",
			[]string{"f.yaml:1:1: apiVersion is missing (a policy begins with apiVersion: edict.dev/v1alpha1 and kind: Policy)"},
		},
		"no kind": {
			"apiVersion: edict.dev/v1alpha1\n",
			[]string{"f.yaml:1:1: kind is missing (a policy begins with apiVersion: edict.dev/v1alpha1 and kind: Policy)"},
		},
		"neither": {
			"metadata: {name: a}\n",
			[]string{"f.yaml:1:1: apiVersion and kind are missing (a policy begins with apiVersion: edict.dev/v1alpha1 and kind: Policy)"},
		},
		"another apiVersion": {
			"apiVersion: v1\nkind: Policy\n",
			[]string{`f.yaml:1:13: unknown apiVersion "v1" (write apiVersion: edict.dev/v1alpha1)`},
		},
		"another kind": {
			"apiVersion: edict.dev/v1alpha1\nkind: ConfigMap\n",
			[]string{`f.yaml:2:7: unknown kind "ConfigMap" (a document is a Policy, a PolicyTest or Allowances)`},
		},
		"no mapping": {
			"- a\n---\njust text\n",
			[]string{
				"f.yaml:1:1: a document must be a mapping with apiVersion, kind, metadata and spec",
				"f.yaml:3:1: a document must be a mapping with apiVersion, kind, metadata and spec",
			},
		},
		"a field in another place": {
			header + "rules: []\nspec:\n  matchConstraints: {}\n  rules:\n    - {name: a, do: [{patch: {spec: {}}}, {finalizer: x}, {log: hello}, {scale: 3}]}\n    - {name: b, cases: [{else: , do: []}], debounce: 5m, do: {log: {}}}\n",
			[]string{
				`f.yaml:4:1: the document has no field "rules" (it stands under spec: indent it further)`,
				`f.yaml:6:3: spec has no field "matchConstraints" (write for)`,
				`f.yaml:8:31: spec.rules[0].do[0].patch has no field "spec" (the fields of the object stand under value: {value: {spec: ...}})`,
				"f.yaml:8:55: spec.rules[0].do[1].finalizer must be a mapping, not a string ({name: x})",
				"f.yaml:8:65: spec.rules[0].do[2].log must be a mapping, not a string ({message: hello})",
				"f.yaml:8:81: spec.rules[0].do[3].scale must be a mapping, not an integer ({replicas: 3})",
				`f.yaml:9:26: spec.rules[1].cases[0] has no field "else" (a row without when always matches, as the last one)`,
				"f.yaml:9:54: spec.rules[1].debounce must be a mapping, not a string ({window: 5m})",
				"f.yaml:9:62: spec.rules[1].do must be a list, not a mapping (each item begins with a dash: - log: ...)",
			},
		},
		"what is not indented": {
			header + "spec:\n  for:\n  apiVersion: v1\n  kind: Pod\n  rules:\n    - name: a\n      do:\n      - labels:\n        set: {a: b}\n      - patch:\n        of: object\n        value: {}\n",
			[]string{
				`f.yaml:6:3: "apiVersion" belongs to for (indent it further than for)`,
				`f.yaml:12:9: "set" belongs to labels (indent it further than labels)`,
				`f.yaml:14:9: "of" belongs to patch (indent it further than patch)`,
			},
		},
		"habits": {
			header + "spec:\n  schedule: a\n  children: [{template: {}}, {readyWhen: a}]\n  rules: [{every: 5m, do: [{when: a}]}, {wen: a, x: b}]\n",
			[]string{
				"f.yaml:5:3: spec has no field \"schedule\" (" + unpolled + ")",
				"f.yaml:6:15: spec.children[0] has no field \"template\" (write apply)",
				"f.yaml:6:31: spec.children[1] has no field \"readyWhen\" (write ready)",
				"f.yaml:7:12: spec.rules[0] has no field \"every\" (" + unpolled + ")",
				"f.yaml:7:29: spec.rules[0].do[0] has no field \"when\" (the rule has a when, or cases that each have one: an action has none)",
				"f.yaml:7:42: spec.rules[1] has no field \"wen\" (did you mean \"when\"?)",
				"f.yaml:7:50: spec.rules[1] has no field \"x\" (its fields are as, cases, continueOnError, debounce, do, finally, forEach, name, onError, rate, stop, variables, when)",
			},
		},
		"a key twice": {
			header + "spec:\n  params: {}\n  params: {a: b}\n",
			[]string{"f.yaml:6:3: duplicate key \"params\", first on line 5"},
		},
		"a step of other tests": {
			strings.Replace(header, "Policy", "PolicyTest", 1) + "spec: {cases: [{name: a, steps: [{update: {}}, {reboot: {}}]}]}\n",
			[]string{
				"f.yaml:4:35: spec.cases[0].steps[0] has no field \"update\" (write patch)",
				"f.yaml:4:49: spec.cases[0].steps[1] has no field \"reboot\" (its fields are advance, answers, apply, delete, expect, fail, patch, restart, start, stop)",
			},
		},
		"variables as a mapping": {
			header + "spec:\n  variables: {x: a}\n  inputs: [{orderBy: item.a}]\n  rules: [{name: a, stop: \"true\"}]\n",
			[]string{
				"f.yaml:5:14: spec.variables must be a list, not a mapping (each item has a name: - {name: x, expression: ...})",
				"f.yaml:6:22: spec.inputs[0].orderBy must be a list, not a string ([item.a])",
				"f.yaml:7:27: spec.rules[0].stop must be true or false, not a string (write it without quotes)",
			},
		},
		"a param that is a mapping": {
			header + "spec:\n  params:\n    a: {b: c}\n",
			[]string{`f.yaml:6:9: spec.params.a has no field "b" (its fields are default, description, enum, items, maximum, minLength, minimum, required, type)`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, got := problemsOf(tc.text)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if len(file.Policies)+len(file.Tests) > 0 {
				t.Error("a document with an error is returned")
			}
		})
	}
}

// TestOneBrokenDocument: the others of the file are still read.
func TestOneBrokenDocument(t *testing.T) {
	t.Parallel()
	file, wrong := problemsOf(header + "spec: {}\n---\n" + header + "spec: []\n---\n" + header + "spec: {}\n")
	if diff := cmp.Diff([]string{"f.yaml:9:7: spec must be a mapping, not a list (its fields are children, finalizer, for, inputs, limits, metrics, mode, params, rules, summary, variables)"}, wrong); diff != "" {
		t.Error(diff)
	}
	if len(file.Policies) != 2 {
		t.Errorf("%d policies", len(file.Policies))
	}
}

func TestProblemsShowTheirLine(t *testing.T) {
	t.Parallel()
	_, problems := Documents("f.yaml", []byte(header+"spec:\n  ruls: []  # why\n"))
	if len(problems) != 1 || problems[0].Source != "  ruls: []  # why" {
		t.Errorf("got %+v", problems)
	}
}

// TestHeaderOfATest: a key that ends in .test.yaml holds a test, and not a policy.
func TestHeaderOfATest(t *testing.T) {
	t.Parallel()
	_, problems := Documents("ns/m/p.test.yaml", []byte("cases: []\n"))
	if len(problems) != 1 || !strings.Contains(problems[0].Hint, "a policy test begins with apiVersion: edict.dev/v1alpha1 and kind: PolicyTest") {
		t.Errorf("got %+v", problems)
	}
}

// TestLostHeader: a document that has lost its first lines is no other document.
func TestLostHeader(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"metadata: {name: a}\nspec: {}\n", "for: {kind: Node}\nrules: []\n", "my-policy: {limit: 3}\n", "{}\n"} {
		if file, problems := Documents("f.yaml", []byte(text)); len(problems) == 0 || len(file.Skipped) > 0 {
			t.Errorf("%q: got %+v, skipped %+v", text, problems, file.Skipped)
		}
	}
}

// TestBadBytes: malformed, truncated and binary input, and texts as editors of
// other systems write them.
func TestBadBytes(t *testing.T) {
	t.Parallel()
	whole := header + "spec:\n  rules:\n    - name: \"r\"\n      do: [{fail: \"why\"}]\n"
	for name, tc := range map[string]struct {
		text, want string
		policies   int
	}{
		"nothing":                {"", "", 0},
		"blanks":                 {" \n\t\n", "found character that cannot start any token", 0},
		"only separators":        {"---\n---\n", "", 0},
		"a byte order mark":      {"\ufeff" + whole, "", 1},
		"carriage returns":       {strings.ReplaceAll(whole, "\n", "\r\n"), "", 1},
		"old carriage returns":   {strings.ReplaceAll(whole, "\n", "\r"), "", 1},
		"UTF-16":                 {"\xff\xfea\x00:\x00 \x00b\x00", "apiVersion and kind are missing", 0},
		"a NUL inside":           {whole + "\x00", "control characters are not allowed", 0},
		"bytes that are no text": {whole + "# \xc3\x28\n", "UTF-8", 0},
		"a binary":               {"\x7fELF\x02\x01\x01\x00", "not valid YAML", 0},
		"JSON":                   {`{"apiVersion":"edict.dev/v1alpha1","kind":"Policy","metadata":{"name":"a"},"spec":{}}`, "", 1},
		"HTML":                   {"<html><body>404</body></html>", "a document must be a mapping", 0},
		"a merge conflict":       {header + "<<<<<<< HEAD\nspec: {}\n=======\n", "not valid YAML", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file, wrong := problemsOf(tc.text)
			if got := strings.Join(wrong, "\n"); tc.want == "" && got != "" || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
			if len(file.Policies) != tc.policies {
				t.Errorf("%d policies, want %d", len(file.Policies), tc.policies)
			}
		})
	}
}

// TestTruncated cuts a policy after every byte: that must be read or refused,
// and what is refused has a place in the file.
func TestTruncated(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../policies/agent-node-label.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for n := range text {
		_, problems := Documents("f.yaml", text[:n])
		for _, p := range problems {
			if p.File != "f.yaml" || p.Message == "" {
				t.Fatalf("after %d bytes: %+v", n, p)
			}
		}
	}
}

// seeds are the documents of this repository.
func seeds(t testing.TB) []Source {
	t.Helper()
	var out []Source
	for _, pattern := range []string{"../../policies/*.yaml", "../../policy-tests/*/*.yaml"} {
		paths, err := filepath.Glob(pattern)
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		files, err := read(paths)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, files...)
	}
	return out
}

func TestDocumentsOfThisRepository(t *testing.T) {
	t.Parallel()
	for _, f := range seeds(t) {
		if _, problems := Documents(f.Path, f.Text); len(problems) > 0 {
			t.Errorf("%s: %v", f.Path, document.Join(problems))
		}
	}
}

// FuzzDocuments: whatever the bytes are, there is an answer, the same one each
// time, and a document with an error is not returned.
func FuzzDocuments(f *testing.F) {
	for _, seed := range seeds(f) {
		f.Add(seed.Text)
	}
	f.Add([]byte(header + "spec: {rules: [{name: a, do: [{labels: {set: {a: null}}}]}]}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, problems := Documents("f.yaml", text)
		again, problems2 := Documents("f.yaml", text)
		if fmt.Sprint(problems) != fmt.Sprint(problems2) || len(file.Policies) != len(again.Policies) {
			t.Fatal("the same bytes were read differently")
		}
		for _, p := range file.Policies {
			if p.APIVersion.Value == "" || p.Kind.Value != "Policy" {
				t.Fatalf("this is no policy: %+v", p)
			}
		}
	})
}

const unpolled = "nothing is polled: elapsed(since, period) and cron.last(...) in a condition say when the answer changes, and the object is evaluated then"
