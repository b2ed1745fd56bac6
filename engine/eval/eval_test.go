package eval_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// bench is a policy about Widgets, which have no schema, and a world for it.
type bench struct {
	t      testing.TB
	policy *plan.Policy
	store  *world.Store
	memos  map[eval.Key]*eval.Memo
}

func newBench(t testing.TB, spec string, objects ...string) *bench {
	t.Helper()
	b := &bench{t: t, policy: compiled(t, spec), store: world.NewStore(), memos: map[eval.Key]*eval.Memo{}}
	for _, need := range readmodel.Requirements(b.policy) {
		b.store.Open(need.Source, need.Mask, need.Indexes)
	}
	for _, o := range objects {
		b.put(o)
	}
	return b
}

// policies are those that are compiled already, by the texts of their specs.
var policies sync.Map

// compiled returns a policy for Widgets, which tests with the same spec share.
func compiled(t testing.TB, spec string) *plan.Policy {
	t.Helper()
	if p, ok := policies.Load(spec); ok {
		return p.(*plan.Policy)
	}
	text := "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: example.com/v1, kind: Widget}\n" + spec
	path := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := source.Load([]string{path}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Err(); err != nil {
		t.Fatal(err)
	}
	policies.Store(spec, bundle.Policies[0])
	return bundle.Policies[0]
}

// put puts an object, written as YAML, into the world.
func (b *bench) put(text string) {
	b.t.Helper()
	var object map[string]any
	if err := yaml.Unmarshal([]byte(text), &object); err != nil {
		b.t.Fatal(err)
	}
	if object["apiVersion"] == nil {
		object["apiVersion"] = "example.com/v1"
	}
	metadata := object["metadata"].(map[string]any)
	metadata["uid"] = fmt.Sprint("uid-", metadata["name"])
	for _, need := range readmodel.Requirements(b.policy) {
		if need.Source.APIVersion == object["apiVersion"] && need.Source.Kind == object["kind"] {
			b.store.Put(need.Source, readmodel.Object(need.Source, object, schema.Untyped(), b.store.Mask(need.Source)))
		}
	}
}

// decide decides about a key, with what was remembered of earlier decisions;
// without any of that the decision must be the same.
func (b *bench) decide(key eval.Key, at time.Time) *eval.Decision {
	b.t.Helper()
	in := eval.Input{Policy: b.policy, Key: key, World: b.store.Snapshot(), Now: at}
	if b.memos[key] == nil {
		b.memos[key] = &eval.Memo{}
	}
	got := eval.Evaluate(b.t.Context(), in, b.memos[key])
	for name, other := range map[string]*eval.Decision{
		"plainly": eval.Plain(b.t.Context(), in), "anew": eval.Evaluate(b.t.Context(), in, nil), "again": eval.Evaluate(b.t.Context(), in, b.memos[key]),
	} {
		if diff := cmp.Diff(told(other), told(got)); diff != "" {
			b.t.Errorf("decided %s (-%s +with a memory):\n%s", name, name, diff)
		}
	}
	return got
}

var widget = eval.Key{Name: "w"}

// told returns a decision, one line each.
func told(d *eval.Decision) []string {
	out := []string{}
	for _, e := range d.Effects {
		patch, err := json.Marshal(value.Plain(e.Patch))
		if err != nil {
			patch = []byte(err.Error())
		}
		out = append(out, fmt.Sprintf("%s: %s %s %s", strings.Join(e.Rules, ", "), e.Verb, strings.TrimSuffix(e.Target.Name()+"/"+e.Subresource, "/"), patch))
	}
	for _, p := range d.Problems {
		_, text, _ := strings.Cut(p.Err.Error(), ".yaml:") // the folder differs from run to run
		out = append(out, strings.TrimSpace(fmt.Sprintf("problem in %s %s", p.Rule, p.Item))+": "+text)
	}
	for _, l := range d.Log {
		out = append(out, "log "+l.Level+" "+l.Message)
	}
	if !d.Next.IsZero() {
		out = append(out, "next "+d.Next.Sub(now).String())
	}
	return out
}

// do makes rules that do one thing each.
func do(actions ...string) string {
	out := "  rules:\n"
	for i, a := range actions {
		out += fmt.Sprintf("    - name: r%d\n      do: [%s]\n", i+1, a)
	}
	return out
}

// TestActions: what each action decides, and that nothing is decided twice.
func TestActions(t *testing.T) {
	t.Parallel()
	const w = "{kind: Widget, metadata: {name: w, generation: 3, labels: {a: x}}, spec: {num: 1}, status: {phase: Old, list: [a]}}"
	for name, tc := range map[string]struct {
		spec, object string
		want         []string
	}{
		"labels":                     {do("labels: {set: {a: y, b: z}}"), w, []string{`r1: patch w {"metadata":{"labels":{"a":"y","b":"z"}}}`}},
		"labels that are there":      {do("labels: {set: {a: x, b: null}}"), w, []string{}},
		"labels that go":             {do("labels: {set: {a: null}}"), w, []string{`r1: patch w {"metadata":{"labels":{"a":null}}}`}},
		"none removes":               {do(`labels: {set: {a: "${optional.none()}"}}`), w, []string{`r1: patch w {"metadata":{"labels":{"a":null}}}`}},
		"a computed key":             {do(`labels: {set: {"${key.name}": x}}`), w, []string{`r1: patch w {"metadata":{"labels":{"w":"x"}}}`}},
		"annotations":                {do("annotations: {set: {a: y}}"), w, []string{`r1: patch w {"metadata":{"annotations":{"a":"y"}}}`}},
		"status":                     {do("status: {phase: New, num: 1, gone: null}"), w, []string{`r1: patch w/status {"status":{"num":1,"phase":"New"}}`}},
		"a list is replaced":         {do("status: {list: [a, b]}"), w, []string{`r1: patch w/status {"status":{"list":["a","b"]}}`}},
		"a list as it is":            {do("status: {list: [a]}"), w, []string{}},
		"an empty list for nothing":  {do("status: {other: []}"), w, []string{`r1: patch w/status {"status":{"other":[]}}`}},
		"an empty list for a list":   {do("status: {list: []}"), w, []string{`r1: patch w/status {"status":{"list":[]}}`}},
		"an empty object":            {do("patch: {value: {spec: {selfSigned: {}}}}"), w, []string{`r1: patch w {"spec":{"selfSigned":{}}}`}},
		"only fields that are none":  {do("patch: {value: {spec: {selfSigned: {a: null}}}}"), w, []string{}},
		"a mapping is merged":        {do("status: {map: {a: 1}}", `status: {map: {b: 2}}`), w, []string{`r1, r2: patch w/status {"status":{"map":{"a":1,"b":2}}}`}},
		"a field of a removed one":   {do("status: {phase: null}", "status: {phase: New}"), w, []string{`r1, r2: patch w/status {"status":{"phase":"New"}}`}},
		"there and back":             {do("status: {phase: New}", "status: {phase: Old}"), w, []string{}},
		"a patch":                    {do("patch: {value: {spec: {num: 2}}}"), w, []string{`r1: patch w {"spec":{"num":2}}`}},
		"a patch of the status":      {do("patch: {subresource: status, value: {status: {phase: New}}}"), w, []string{`r1: patch w/status {"status":{"phase":"New"}}`}},
		"a condition":                {do(`condition: {type: Ready, status: "True", reason: A}`), w, []string{`r1: patch w/status {"status":{"conditions":[{"lastTransitionTime":"2026-03-01T12:00:00Z","message":"","observedGeneration":3,"reason":"A","status":"True","type":"Ready"}]}}`}},
		"no condition to remove":     {do(`condition: {type: Ready, absent: true}`), w, []string{}},
		"an event":                   {do(`event: {reason: A, message: "of ${key.name}"}`), w, []string{`r1: event w {"message":"of w","reason":"A","type":"Normal"}`}},
		"a warning":                  {do(`event: {type: Warning, reason: A, message: b}`), w, []string{`r1: event w {"message":"b","reason":"A","type":"Warning"}`}},
		"a log line":                 {do(`log: {level: info, message: "num is ${object.spec.num}"}`), w, []string{"log info num is 1"}},
		"scaling":                    {do("scale: {replicas: object.spec.num + 1, field: spec.num}"), w, []string{`r1: scale w {"spec":{"num":2}}`}},
		"scaling to as many":         {do("scale: {replicas: 1, field: spec.num}"), w, []string{}},
		"scaling what has none":      {do("scale: {replicas: 0}"), w, []string{`r1: scale w {"spec":{"replicas":0}}`}},
		"scaling twice":              {do("scale: {replicas: 2, field: spec.num}", "scale: {replicas: 3, field: spec.num}"), w, []string{`r1, r2: scale w {"spec":{"num":3}}`}},
		"scaling there and back":     {do("scale: {replicas: 2, field: spec.num}", "scale: {replicas: 1, field: spec.num}"), w, []string{}},
		"scaling is seen":            {do("scale: {replicas: 2, field: spec.num}", `labels: {set: {n: "${string(object.spec.num)}"}}`), w, []string{`r1: scale w {"spec":{"num":2}}`, `r2: patch w {"metadata":{"labels":{"n":"2"}}}`}},
		"scaling and a patch":        {do("scale: {replicas: 2, field: spec.num}", `patch: {value: {spec: {x: 1}}}`), w, []string{`r1: scale w {"spec":{"num":2}}`, `r2: patch w {"spec":{"x":1}}`}},
		"scaling below 0":            {do(`scale: {replicas: "-1"}`), w, []string{"problem in r1: 8:31: replicas is a whole number from 0 to 2147483647, this gives -1"}},
		"scaling to a text":          {do(`scale: {replicas: object.status.phase}`), w, []string{"problem in r1: 8:30: replicas is a whole number from 0 to 2147483647, this gives Old"}},
		"failing":                    {do(`fail: "num is ${object.spec.num}"`), w, []string{"problem in r1: 8:12: num is 1"}},
		"status and label are two":   {do("status: {phase: New}", "labels: {set: {a: y}}", "status: {num: 1}"), w, []string{`r1, r3: patch w/status {"status":{"num":1,"phase":"New"}}`, `r2: patch w {"metadata":{"labels":{"a":"y"}}}`}},
		"one rule, twice":            {"  rules:\n    - {name: r, do: [{status: {phase: New}}, {status: {num: 1}}]}\n", w, []string{`r: patch w/status {"status":{"num":1,"phase":"New"}}`}},
		"nobody is there":            {do("labels: {set: {a: y}}"), "{kind: Widget, metadata: {name: other}}", []string{}},
		"a named object, not there":  {do(`labels: {of: {apiVersion: example.com/v1, kind: Gadget, name: g}, set: {a: y}}`), w, []string{}},
		"a time in a text":           {do(`annotations: {set: {at: "${now}"}}`), w, []string{`r1: patch w {"metadata":{"annotations":{"at":"2026-03-01T12:00:00Z"}}}`}},
		"a time that is there":       {do(`annotations: {set: {at: "${timestamp('2026-01-01T00:00:00Z')}"}}`), "{kind: Widget, metadata: {name: w, annotations: {at: '2026-01-01T00:00:00Z'}}}", []string{}},
		"numbers of two kinds":       {do(`status: {num: "${1.0}", m: 2}`), "{kind: Widget, metadata: {name: w}, status: {num: 1, m: 2.0}}", []string{}},
		"no number":                  {do(`status: {list: ["${0.0 / double(object.spec.num - 1)}"]}`), w, []string{"problem in r1: 7:7: Widget w: status.list[0] is NaN, which no object can have; test it with math.isFinite, or write string(...)"}},
		"an infinity applied":        {do(`apply: {apiVersion: example.com/v1, kind: Gadget, metadata: {name: g}, spec: {num: "${1.0 / double(object.spec.num - 1)}"}}`), w, []string{"problem in r1: 7:7: Gadget g: spec.num is +Inf, which no object can have; test it with math.isFinite, or write string(...)"}},
		"no number to remember":      {do(`remember: {name: a, value: {b: "${0.0 / double(object.spec.num - 1)}"}}`), w, []string{"problem in r1: 8:22: b is NaN, which no object can have; test it with math.isFinite, or write string(...)"}},
		"copied metadata":            {do(`create: {apiVersion: example.com/v1, kind: Gadget, metadata: "${object.spec.copy}"}`), "{kind: Widget, metadata: {name: w}, spec: {copy: {name: g, uid: x, resourceVersion: '7', generation: 3}}}", []string{`r1: create g {"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g"}}`}},
		"all entries of a key":       {do(`patch: {list: spec.list, by: {k: a}, remove: true}`), "{kind: Widget, metadata: {name: w}, spec: {list: [{k: a}, {k: b}, {k: a, v: 1}]}}", []string{`r1: patch w {"spec":{"list":[{"k":"b"}]}}`}},
		"an object in place of text": {do(`status: {phase: {a: b}}`), w, []string{`r1: patch w/status {"status":{"phase":{"a":"b"}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, tc.spec, tc.object)
			if diff := cmp.Diff(tc.want, told(b.decide(widget, now))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestRules: in which order they are gone through, and where that ends.
func TestRules(t *testing.T) {
	t.Parallel()
	const w = "{kind: Widget, metadata: {name: w}, spec: {list: [a, b, c], open: true}}"
	const create = "    - {name: make, do: [{create: {apiVersion: example.com/v1, kind: Gadget, metadata: {name: g}}}]}\n"
	label := func(name, rest string) string {
		return fmt.Sprintf("    - name: %s\n%s      do: [{labels: {set: {%s: x}}}]\n", name, rest, name)
	}
	for name, tc := range map[string]struct {
		rules string
		want  []string
	}{
		"a condition that does not hold": {label("one", "      when: \"!object.spec.open\"\n") + label("two", "      when: object.spec.open\n"), []string{`two: patch w {"metadata":{"labels":{"two":"x"}}}`}},
		"a rule sees the ones before it": {label("one", "") + label("two", "      when: object.metadata.?labels[?\"one\"].hasValue()\n") + label("three", "      when: object.metadata.?labels[?\"four\"].hasValue()\n"), []string{`one, two: patch w {"metadata":{"labels":{"one":"x","two":"x"}}}`}},
		"actions see the state before": {"    - name: one\n      do: [{labels: {set: {a: x}}}, {status: {a: '${object.metadata.?labels[?\"a\"].orValue(\"none\")}'}}]\n", []string{
			`one: patch w {"metadata":{"labels":{"a":"x"}}}`, `one: patch w/status {"status":{"a":"x"}}`,
		}},
		"stop":                      {label("one", "      stop: true\n") + label("two", ""), []string{`one: patch w {"metadata":{"labels":{"one":"x"}}}`}},
		"stop, not reached":         {label("one", "      when: \"false\"\n      stop: true\n") + label("two", ""), []string{`two: patch w {"metadata":{"labels":{"two":"x"}}}`}},
		"stop with no items":        {label("one", "      forEach: \"[]\"\n      stop: true\n") + label("two", ""), []string{}},
		"each item":                 {"    - name: one\n      forEach: object.spec.list\n      do: [{labels: {set: {\"${item}\": x}}}]\n", []string{`one: patch w {"metadata":{"labels":{"a":"x","b":"x","c":"x"}}}`}},
		"items see the ones before": {"    - name: one\n      forEach: object.spec.list\n      as: i\n      do: [{labels: {set: {last: \"${i}\", count: '${string(object.metadata.?labels[?\"count\"].optMap(c, int(dyn(c))).orValue(0) + 1)}'}}}]\n", []string{`one: patch w {"metadata":{"labels":{"count":"3","last":"c"}}}`}},
		"a condition per item":      {"    - name: one\n      forEach: object.spec.list\n      when: item != \"b\"\n      do: [{labels: {set: {\"${item}\": x}}}]\n", []string{`one: patch w {"metadata":{"labels":{"a":"x","c":"x"}}}`}},
		"variables of a rule":       {"    - name: one\n      forEach: object.spec.list\n      variables: [{name: twice, expression: item + item}, {name: more, expression: twice + \"!\"}]\n      when: twice != \"bb\"\n      do: [{labels: {set: {\"${item}\": \"${more}\"}}}]\n", []string{`one: patch w {"metadata":{"labels":{"a":"aa!","c":"cc!"}}}`}},
		"a table":                   {"    - name: one\n      forEach: object.spec.list\n      cases:\n        - {name: is a, when: item == \"a\", do: [{labels: {set: {a: first}}}]}\n        - {when: item == \"b\", do: []}\n        - {do: [{labels: {set: {\"${item}\": other}}}]}\n", []string{`one: patch w {"metadata":{"labels":{"a":"first","c":"other"}}}`}},
		"a table without a row":     {"    - name: one\n      cases: [{when: \"false\", do: [{labels: {set: {a: x}}}]}]\n", []string{}},
		"one write of an object": {label("one", "") + label("two", "") + "    - {name: three, do: [{status: {a: b}}]}\n" + label("four", ""), []string{
			`one, two, four: patch w {"metadata":{"labels":{"four":"x","one":"x","two":"x"}}}`, `three: patch w/status {"status":{"a":"b"}}`,
		}},
		"not across a creation": {label("one", "") + create + label("four", ""), []string{
			`one: patch w {"metadata":{"labels":{"one":"x"}}}`, `make: create g {"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g"}}`, `four: patch w {"metadata":{"labels":{"four":"x"}}}`,
		}},
		"what another write undoes": {"    - {name: one, do: [{labels: {set: {one: x}}}, {status: {a: b}}]}\n    - {name: two, do: [{labels: {set: {one: null}}}]}\n", []string{
			`one: patch w/status {"status":{"a":"b"}}`,
		}},
		"what is undone across a creation": {label("one", "") + create + "    - {name: two, do: [{labels: {set: {one: null}}}]}\n", []string{
			`make: create g {"apiVersion":"example.com/v1","kind":"Gadget","metadata":{"name":"g"}}`,
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "  rules:\n"+tc.rules, w)
			if diff := cmp.Diff(tc.want, told(b.decide(widget, now))); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestFailures: an item that fails writes nothing and holds up later rules,
// but no other item.
func TestFailures(t *testing.T) {
	t.Parallel()
	const w = `{kind: Widget, metadata: {name: w}, spec: {list: [{k: a}, {m: b}, {k: c}]}}`
	const each = "    - name: one\n      forEach: object.spec.list\n"
	const later = "    - name: two\n      do: [{labels: {set: {later: x}}}]\n"
	const set = "      do: [{labels: {set: {before: x}}}, {labels: {set: {\"${item.k}\": x}}}]\n"
	for name, tc := range map[string]struct {
		rules string
		want  []string
	}{
		"an item": {each + "      when: item.?m.hasValue()\n" + set + later, []string{`problem in one: 10:61: the field or key "k" is absent (read it with .? or [?...] where it may be)`}},
		"the others go on": {each + set + later, []string{
			`one: patch w {"metadata":{"labels":{"a":"x","before":"x","c":"x"}}}`, `problem in one: 9:61: the field or key "k" is absent (read it with .? or [?...] where it may be)`,
		}},
		"later rules go on": {each + "      continueOnError: true\n" + set + later, []string{
			`one, two: patch w {"metadata":{"labels":{"a":"x","before":"x","c":"x","later":"x"}}}`, `problem in one: 10:61: the field or key "k" is absent (read it with .? or [?...] where it may be)`,
		}},
		"a rule that runs finally": {each + set + later + "    - name: three\n      finally: true\n      do: [{status: {done: true}}]\n", []string{
			`one: patch w {"metadata":{"labels":{"a":"x","before":"x","c":"x"}}}`, `three: patch w/status {"status":{"done":true}}`,
			`problem in one: 9:61: the field or key "k" is absent (read it with .? or [?...] where it may be)`,
		}},
		"finally, not after a stop": {each + "      stop: true\n" + set + "    - name: three\n      finally: true\n      do: [{status: {done: true}}]\n", []string{
			`one: patch w {"metadata":{"labels":{"a":"x","before":"x","c":"x"}}}`, `problem in one: 10:61: the field or key "k" is absent (read it with .? or [?...] where it may be)`,
		}},
		"the message has no place": {"    - name: one\n      do: [{fail: why}]\n      onError: [{labels: {set: {error: \"${error.message}\"}}}]\n", []string{
			`one: patch w {"metadata":{"labels":{"error":"why"}}}`, `problem in one: 8:12: why`,
		}},
		"instead of it": {each + "      onError: [{labels: {set: {error: \"${error.message.contains('absent') ? 'absent' : 'other'}\"}}}]\n" + set, []string{
			`one: patch w {"metadata":{"labels":{"a":"x","before":"x","c":"x","error":"absent"}}}`, `problem in one: 10:61: the field or key "k" is absent (read it with .? or [?...] where it may be)`,
		}},
		"a condition": {"    - name: one\n      when: object.spec.x\n      do: [{labels: {set: {a: x}}}]\n" + later, []string{`problem in one: 8:13: the field or key "x" is absent (read it with .? or [?...] where it may be)`}},
		"the list":    {"    - name: one\n      forEach: object.spec.x\n      do: [{labels: {set: {a: x}}}]\n" + later, []string{`problem in one: 8:16: the field or key "x" is absent (read it with .? or [?...] where it may be)`}},
		"the list, said of the key": {"    - name: one\n      forEach: object.spec.x\n      onError: [{labels: {set: {failed: x}}}]\n      do: [{labels: {set: {a: x}}}]\n", []string{
			`one: patch w {"metadata":{"labels":{"failed":"x"}}}`, `problem in one: 8:16: the field or key "x" is absent (read it with .? or [?...] where it may be)`,
		}},
		"the list, not said of an item": {"    - name: one\n      forEach: object.spec.x\n      variables: [{name: k, expression: item.k}]\n      onError: [{labels: {set: {failed: \"${k}\"}}}]\n      do: [{labels: {set: {a: x}}}]\n", []string{
			`problem in one: 8:16: the field or key "x" is absent (read it with .? or [?...] where it may be)`,
		}},
		"a condition, not said of an item": {"    - name: one\n      when: object.spec.x\n      forEach: object.spec.list\n      onError: [{labels: {set: {\"${item.k}\": x}}}]\n      do: [{labels: {set: {a: x}}}]\n", []string{
			`problem in one: 8:13: the field or key "x" is absent (read it with .? or [?...] where it may be)`,
		}},
		"what stands before is kept": {"    - name: zero\n      do: [{labels: {set: {a: x}}}]\n    - {name: one, do: [{fail: why}]}\n" + later, []string{`zero: patch w {"metadata":{"labels":{"a":"x"}}}`, "problem in one: 9:24: why"}},
		"what decides is enough":     {"    - name: one\n      when: true || object.spec.x\n      do: [{labels: {set: {a: x}}}]\n", []string{`one: patch w {"metadata":{"labels":{"a":"x"}}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "  rules:\n"+tc.rules, w)
			got := told(b.decide(widget, now))
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestVariables: the forms of variables, by what they give.
func TestVariables(t *testing.T) {
	t.Parallel()
	const w = `{kind: Widget, metadata: {name: w}, spec: {list: [{k: b, v: 2}, {k: a, v: 1}, {k: b, v: 3}, {k: "", v: 4}], none: [], twins: [{a: 1}, {a: 2}, {a: 1}]}}`
	for name, tc := range map[string]struct{ variable, want string }{
		"an expression":           {"expression: size(object.spec.list)", "4"},
		"a template":              {"value: {a: \"${key.name}\", b: [1]}", `{"a":"w","b":[1]}`},
		"present":                 {"when: \"true\", value: {a: 1}", `{"a":1}`},
		"absent":                  {"when: \"false\", value: {a: 1}", "null"},
		"a collection":            {"forEach: object.spec.list", `[{"k":"b","v":2},{"k":"a","v":1},{"k":"b","v":3},{"k":"","v":4}]`},
		"of values":               {"forEach: object.spec.list, as: i, value: \"${i.v}\"", "[2,1,3,4]"},
		"of some items":           {"forEach: object.spec.list, when: item.v > 1, value: \"${item.v}\"", "[2,3,4]"},
		"with variables":          {"forEach: object.spec.list, variables: [{name: x, expression: item.v * 2}, {name: y, expression: x + 1}], when: y > 4, value: \"${y}\"", "[5,7,9]"},
		"in order":                {"forEach: object.spec.list, orderBy: [item.k, -item.v], value: \"${item.v}\"", "[4,1,3,2]"},
		"by key":                  {"forEach: object.spec.list, when: item.v != 3, keyBy: item.k, value: \"${item.v}\"", `{"a":1,"b":2}`},
		"by the value":            {"forEach: object.spec.list, value: \"${item.k}\", keyBy: value + \"!\", unique: true, when: item.v < 3", `{"a!":"a","b!":"b"}`},
		"in groups":               {"forEach: object.spec.list, groupBy: item.k, value: \"${item.v}\"", `{"a":[1],"b":[2,3]}`},
		"in groups, in order":     {"forEach: object.spec.list, groupBy: item.k, orderBy: [-item.v], value: \"${item.v}\"", `{"a":[1],"b":[3,2]}`},
		"each once":               {"forEach: object.spec.list, value: \"${item.k}\", unique: true", `["b","a",""]`},
		"objects each once":       {"forEach: object.spec.twins, unique: true", `[{"a":1},{"a":2}]`},
		"of nothing":              {"forEach: object.spec.none", "[]"},
		"of nothing, by key":      {"forEach: object.spec.none, keyBy: item", "{}"},
		"none leaves an item out": {"forEach: object.spec.list, value: \"${optional.ofNonZeroValue(item.k)}\"", `["b","a","b"]`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, "  variables:\n    - {name: x, "+strings.ReplaceAll(tc.variable, ": -", ": 0-")+"}\n  rules:\n    - {name: r, do: [{annotations: {set: {x: \"${json.encode(variables.x)}\"}}}]}\n", w)
			d := b.decide(widget, now)
			if len(d.Problems) > 0 || len(d.Effects) != 1 {
				t.Fatal(told(d))
			}
			if got := value.StringAt(d.Effects[0].Patch, "metadata", "annotations", "x"); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestCollectionsThatFail name the item.
func TestCollectionsThatFail(t *testing.T) {
	t.Parallel()
	const w = `{kind: Widget, metadata: {name: w}, spec: {list: [{k: a}, {k: a}, {m: b}]}}`
	for variable, want := range map[string]string{
		"forEach: object.spec.list, value: \"${item.k}\"":             `the field or key "k" is absent (read it with .? or [?...] where it may be)`,
		"forEach: object.spec.list, when: has(item.k), keyBy: item.k": `"a"`,
		"forEach: object.metadata.name":                               "list",
	} {
		b := newBench(t, "  variables:\n    - {name: x, "+variable+"}\n  rules:\n    - {name: r, when: size(variables.x) > 0, do: [{labels: {set: {a: b}}}]}\n", w)
		d := b.decide(widget, now)
		if len(d.Effects) > 0 || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Err.Error(), want) {
			t.Errorf("%s: %v, want %s", variable, told(d), want)
		}
	}
}

// TestInputs: the shapes of inputs, and who is a member.
func TestInputs(t *testing.T) {
	t.Parallel()
	objects := []string{
		"{kind: Widget, metadata: {name: w}, spec: {gadget: g2}}",
		"{kind: Gadget, metadata: {name: g3}, spec: {widget: w, zone: a, num: 1}}", "{kind: Gadget, metadata: {name: g1}, spec: {widget: w, zone: b, num: 3}}",
		"{kind: Gadget, metadata: {name: g2}, spec: {widget: w, zone: a, num: 2}}", "{kind: Gadget, metadata: {name: g4}, spec: {widget: other, zone: a, num: 4}}",
		"{kind: Gadget, metadata: {name: g5}, spec: {}}",
	}
	for name, tc := range map[string]struct{ input, expression, want string }{
		"a list":                     {"where: item.spec.widget == key.name", "inputs.g.map(g, g.metadata.name)", `["g1","g2","g3"]`},
		"all of the kind":            {"", "inputs.g.map(g, g.metadata.name)", `["g1","g2","g3","g4","g5"]`},
		"in order":                   {"where: item.spec.widget == key.name, orderBy: [item.spec.num]", "inputs.g.map(g, g.metadata.name)", `["g3","g2","g1"]`},
		"by key":                     {"where: item.spec.widget == key.name, keyBy: item.metadata.name", "inputs.g.map(k, k)", `["g1","g2","g3"]`},
		"in groups":                  {"where: item.spec.widget == key.name, groupBy: item.spec.zone", "inputs.g.transformMap(z, l, l.map(g, g.metadata.name))", `{"a":["g2","g3"],"b":["g1"]}`},
		"groups of what has a key":   {"groupBy: item.spec.zone", "inputs.g.transformMap(z, l, size(l))", `{"a":3,"b":1}`},
		"a group that is not there":  {"groupBy: item.spec.zone", `inputs.g[?"c"].orValue([]).size()`, "0"},
		"one":                        {"get: object.spec.gadget", "inputs.g.spec.num", "2"},
		"one that is not there":      {"get: '\"x\"'", "inputs.g == null", "true"},
		"one without a name":         {"get: '\"\"'", "inputs.g == null", "true"},
		"switched off":               {"when: \"false\"", "size(inputs.g)", "0"},
		"one, switched off":          {"get: object.spec.gadget, when: \"false\"", "inputs.g == null", "true"},
		"a join that needs no index": {"where: item.spec.num > 2", "size(inputs.g)", "2"},
		"a join without an index":    {"where: 'item.spec.?num.orValue(0) > size(key.name)'", "size(inputs.g)", "3"},
		"a join through a variable":  {"where: item.spec.widget in variables.names", "size(inputs.g)", "3"},
		"a join that fails for some": {"where: item.spec.num > 0 && item.spec.widget == key.name", "size(inputs.g)", "3"},
		"a selector in the join":     {`where: 'labels.matches({"matchLabels": {"a": key.name}}, item.metadata.?labels)'`, "size(inputs.g)", "0"},
		"two inputs of one object":   {"where: item.spec.widget == key.name", "inputs.g.exists(g, g.metadata.name == object.spec.gadget)", "true"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			input := strings.TrimSuffix("{name: g, apiVersion: example.com/v1, kind: Gadget, "+tc.input, ", ")
			b := newBench(t, "  inputs: ["+input+"}]\n  variables: [{name: names, expression: '[key.name]'}, {name: x, expression: '"+tc.expression+"'}]\n  rules:\n    - {name: r, do: [{annotations: {set: {x: \"${json.encode(variables.x)}\"}}}]}\n", objects...)
			d := b.decide(widget, now)
			if len(d.Problems) > 0 || len(d.Effects) != 1 {
				t.Fatal(told(d))
			}
			if got := value.StringAt(d.Effects[0].Patch, "metadata", "annotations", "x"); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
		})
	}
}

// TestDuplicateKeysOfAnInput are an error: which object was meant cannot be
// told.
func TestDuplicateKeysOfAnInput(t *testing.T) {
	t.Parallel()
	b := newBench(t, "  inputs: [{name: g, apiVersion: example.com/v1, kind: Gadget, keyBy: item.spec.k}]\n  rules:\n    - {name: r, when: '\"a\" in inputs.g', do: [{labels: {set: {a: b}}}]}\n",
		"{kind: Widget, metadata: {name: w}}", "{kind: Gadget, metadata: {name: g1}, spec: {k: a}}", "{kind: Gadget, metadata: {name: g2}, spec: {k: a}}")
	d := b.decide(widget, now)
	if len(d.Effects) > 0 || len(d.Problems) != 1 || !strings.Contains(d.Problems[0].Err.Error(), `"a"`) {
		t.Errorf("got %v", told(d))
	}
}

// TestEffectsOnInputs are seen by later rules, through every input that holds
// the object.
func TestEffectsOnInputs(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
  inputs:
    - {name: all, apiVersion: example.com/v1, kind: Gadget}
    - {name: ready, apiVersion: example.com/v1, kind: Gadget, where: 'item.metadata.?labels[?"ready"] == optional.of(key.name)'}
  variables:
    - {name: count, expression: size(inputs.ready)}
  rules:
    - name: one
      forEach: inputs.all
      do: [{labels: {of: item, set: {ready: "${key.name}"}}}]
    - name: two
      do: [{status: {count: "${variables.count}"}}]
`, "{kind: Widget, metadata: {name: w}}", "{kind: Gadget, metadata: {name: g1}}", "{kind: Gadget, metadata: {name: g2, labels: {ready: w}}}", "{kind: Gadget, metadata: {name: g3, labels: {ready: v}}}")
	want := []string{`one: patch g1 {"metadata":{"labels":{"ready":"w"}}}`, `one: patch g3 {"metadata":{"labels":{"ready":"w"}}}`, `two: patch w/status {"status":{"count":3}}`}
	if diff := cmp.Diff(want, told(b.decide(widget, now))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestItemsThatNobodyReads still count: a list is kept, and its length woken
// for, although no field of its items is read.
func TestItemsThatNobodyReads(t *testing.T) {
	t.Parallel()
	for name, spec := range map[string]string{
		"a rule":          "  rules:\n    - {name: r, forEach: object.spec.list, do: [{log: {level: info, message: item}}]}\n",
		"a collection":    "  variables: [{name: x, forEach: object.spec.list, value: 1}]\n  rules:\n    - {name: r, forEach: variables.x, do: [{log: {level: info, message: item}}]}\n",
		"different items": "  variables: [{name: x, forEach: object.spec.list, unique: true}]\n  rules:\n    - {name: r, forEach: variables.x, do: [{log: {level: info, message: item}}]}\n",
	} {
		b := newBench(t, spec, "{kind: Widget, metadata: {name: w}, spec: {list: [{a: 1}, {a: 2}]}}")
		if diff := cmp.Diff([]string{"log info item", "log info item"}, told(b.decide(widget, now))); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestMemory: decisions after changes are those that would come of nothing.
// decide compares them each time.
func TestMemory(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
  inputs:
    - {name: byZone, apiVersion: example.com/v1, kind: Gadget, where: item.spec.widget == key.name, groupBy: item.spec.zone}
    - {name: one, apiVersion: example.com/v1, kind: Gadget, get: 'object.spec.?main.orValue("")'}
  variables:
    - name: entries
      forEach: object.spec.?zones.orValue([])
      as: zone
      value: {zone: "${zone}", gadgets: "${inputs.byZone[?zone].orValue([]).map(g, g.metadata.name)}", main: "${inputs.one != null && inputs.one.?spec.zone.orValue('') == zone}"}
    - name: fresh
      expression: elapsed(timestamp("2026-03-01T12:00:00Z"), duration("10m"))
  rules:
    - name: r
      do: [{status: {entries: "${variables.entries}", fresh: "${variables.fresh}"}}]
`, "{kind: Widget, metadata: {name: w}, spec: {zones: [a, b]}}")
	at := now
	for _, step := range []string{
		"{kind: Gadget, metadata: {name: g1}, spec: {widget: w, zone: a}}", "{kind: Gadget, metadata: {name: g2}, spec: {widget: w, zone: b}}",
		"{kind: Gadget, metadata: {name: g1}, spec: {widget: w, zone: b}}", "{kind: Widget, metadata: {name: w}, spec: {zones: [b, a, c], main: g2}}",
		"{kind: Gadget, metadata: {name: g2}, spec: {widget: v, zone: b}}", "{kind: Gadget, metadata: {name: g2}, spec: {widget: v, zone: c}}",
		"{kind: Widget, metadata: {name: w}, spec: {zones: [c, a], main: g1}}", "{kind: Gadget, metadata: {name: g1}}", "{kind: Widget, metadata: {name: w}, spec: {}}",
		"{kind: Widget, metadata: {name: w}, spec: {zones: [a]}}", "{kind: Gadget, metadata: {name: g1}, spec: {widget: w, zone: a}}",
	} {
		b.put(step)
		b.decide(widget, at)
		at = at.Add(time.Minute)
	}
	if got := told(b.decide(widget, at)); !slices.Contains(got, `r: patch w/status {"status":{"entries":[{"gadgets":["g1"],"main":false,"zone":"a"}],"fresh":true}}`) {
		t.Errorf("in the end: %v", got)
	}
}

// TestTimesOfInputs: when an object becomes a member by time is known after the object
// has changed, and as long as nothing else does.
func TestTimesOfInputs(t *testing.T) {
	t.Parallel()
	b := newBench(t, "\n  inputs: [{name: late, apiVersion: example.com/v1, kind: Gadget, where: 'elapsed(timestamp(item.spec.at), duration(\"10m\"))'}]\n"+
		do("{status: {late: '${inputs.late.map(g, g.metadata.name)}', count: '${object.spec.count}'}}"), "{kind: Widget, metadata: {name: w}, spec: {count: 1}}")
	for _, step := range []struct {
		object string
		at     time.Duration
		want   string
	}{
		{"{kind: Gadget, metadata: {name: a}, spec: {}}", 0, ""},
		{`{kind: Gadget, metadata: {name: b}, spec: {at: "2026-03-01T12:03:00Z"}}`, 0, "next 13m0s"},
		{"{kind: Widget, metadata: {name: w}, spec: {count: 2}}", time.Minute, "next 13m0s"},
		{`{kind: Gadget, metadata: {name: a}, spec: {at: "2026-03-01T12:01:00Z"}}`, time.Minute, "next 11m0s"},
		{"{kind: Gadget, metadata: {name: a}, spec: {}}", time.Minute, "next 13m0s"},
		{"{kind: Widget, metadata: {name: w}, spec: {count: 3}}", 13 * time.Minute, ""},
	} {
		b.put(step.object)
		got := ""
		for _, line := range told(b.decide(widget, now.Add(step.at))) {
			if strings.HasPrefix(line, "next") {
				got = line
			}
		}
		if got != step.want {
			t.Errorf("%s: %q, want %q", step.object, got, step.want)
		}
	}
}

// TestNext is the earliest instant at which the decision changes by itself.
func TestNext(t *testing.T) {
	t.Parallel()
	rule := func(when string) string {
		return "  rules:\n    - {name: r, when: '" + when + "', do: [{labels: {set: {a: b}}}]}\n"
	}
	for when, want := range map[string]time.Duration{
		`grace.holds(object.spec.at, duration("1h"))`:                                                time.Hour,
		`elapsed(object.spec.at, duration("1h"))`:                                                    time.Hour,
		`grace.holds(object.spec.at, duration("1h")) && grace.holds(object.spec.at, duration("5m"))`: 5 * time.Minute,
		`object.spec.list.exists(m, elapsed(object.spec.at, duration(m)))`:                           2 * time.Minute,
		`false && grace.holds(object.spec.at, duration("1h"))`:                                       0,
		`elapsed(object.spec.at, duration("0s"))`:                                                    0,
		`true`: 0,
		`grace.holds(object.spec.at, duration("1h")) ? true : grace.holds(object.spec.at, duration("1m"))`: time.Hour,
	} {
		b := newBench(t, rule(strings.ReplaceAll(when, "object.spec.at", "timestamp(object.spec.at)")), "{kind: Widget, metadata: {name: w}, spec: {at: '2026-03-01T12:00:00Z', list: [3m, 2m]}}")
		next := b.decide(widget, now).Next
		if want == 0 && !next.IsZero() || want != 0 && !next.Equal(now.Add(want)) {
			t.Errorf("%s: next is %v, want %v", when, next, want)
		}
	}
}

// TestDetails: what became of each rule and variable is there when it is asked
// for, and the decision is the same.
func TestDetails(t *testing.T) {
	t.Parallel()
	b := newBench(t, `
  variables: [{name: yes, expression: object.spec.open}, {name: unused, expression: "1"}]
  rules:
    - {name: one, when: variables.yes && object.metadata.name == "w", do: [{labels: {set: {a: b}}}]}
    - {name: two, when: "variables.yes && !variables.yes", do: [{labels: {set: {a: c}}}]}
    - {name: three, forEach: "[1, 2]", as: n, when: n > 1 || n > 7, variables: [{name: m, expression: n + 1}], do: [{labels: {set: {a: "b${m}"}}}]}
    - {name: four, do: [{fail: why}]}
    - {name: five, do: [{labels: {set: {a: d}}}]}
`, "{kind: Widget, metadata: {name: w}, spec: {open: true}}")
	in := eval.Input{Policy: b.policy, Key: widget, World: b.store.Snapshot(), Now: now}
	without := eval.Evaluate(t.Context(), in, nil)
	in.Details = &eval.Details{}
	with := eval.Evaluate(t.Context(), in, nil)
	if diff := cmp.Diff(told(without), told(with)); diff != "" || without.Next != with.Next || without.Cost != with.Cost {
		t.Errorf("with details it decides otherwise: %s", diff)
	}
	var got []string
	for _, r := range in.Details.Rules {
		got = append(got, fmt.Sprint(r.Rule.Name, " ", r.Fired, " ", len(r.Items), " ", r.Effects, " ", r.Err != nil, " ", parts(r.When)))
		for _, item := range r.Items {
			got = append(got, fmt.Sprint("- ", item.Ran, " ", len(item.Variables), " ", parts(item.When)))
		}
	}
	want := []string{
		`one true 1 1 false variables.yes=true object.metadata.name == "w"=true`, "- true 0 ",
		"two false 0 0 false variables.yes=true", "three true 2 1 false ",
		"- false 0 n > 1=false n > 7=false", "- true 1 n > 1=true", "four true 1 0 true ", "- true 0 ",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if v := in.Details.Variables; len(v) != 1 || v[0].Name != "yes" || !value.IsTrue(v[0].Value) {
		t.Errorf("the variables are %+v", v)
	}
	if r := in.Details.Reads; len(r) != 1 || r[0].Object.Name != "w" {
		t.Errorf("it reads %+v", r)
	}
}

// parts writes the parts of a condition that decided.
func parts(c *eval.ConditionDetails) string {
	if c == nil {
		return ""
	}
	var out []string
	for _, p := range c.Parts {
		out = append(out, fmt.Sprint(p.Program.Source(), "=", value.Plain(p.Value)))
	}
	return strings.Join(out, " ")
}

// TestOptionalPrimaries: keys that nobody is at are decided about where the
// policy says so.
func TestOptionalPrimaries(t *testing.T) {
	t.Parallel()
	rules := "  rules:\n    - {name: r, do: [{log: {level: info, message: \"${object == null ? 'gone' : 'there'}\"}}]}\n"
	b := newBench(t, rules)
	if got := told(b.decide(widget, now)); len(got) > 0 {
		t.Errorf("got %v", got)
	}
	b.policy.Primary.Optional = true
	if diff := cmp.Diff([]string{"log info gone"}, told(b.decide(widget, now))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
