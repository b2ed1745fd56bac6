package reconcile

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// parsed reads a JSON object; "" is nil.
func parsed(t *testing.T, text string) *value.Map {
	t.Helper()
	if text == "" {
		return nil
	}
	var raw map[string]any
	if err := json.Unmarshal([]byte(text), &raw); err != nil {
		t.Fatal(err)
	}
	return made(raw)
}

// made keeps nulls, as patches do.
func made(raw map[string]any) *value.Map {
	fields := map[string]value.Value{}
	for name, field := range raw {
		switch field := field.(type) {
		case nil:
			fields[name] = value.Null
		case map[string]any:
			fields[name] = made(field)
		default:
			fields[name] = value.Freeze(field, nil, value.KeepAll)
		}
	}
	return value.FromMap(fields)
}

// TestDifferences are told field by field, and of lists item by item.
func TestDifferences(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, enforced, shadow string
		want                     []string
	}{
		"another value":       {`{"a":{"b":"x"}}`, `{"a":{"b":"y"}}`, `{"a":{"b":"z"}}`, []string{`~ patch Node n: a.b: "y" -> "z"`}},
		"only in the shadow":  {`{"a":{"b":"x","c":"x"}}`, "", `{"a":{"b":"z"}}`, []string{`+ patch Node n: a.b: "x" -> "z"`}},
		"only enforced":       {`{"a":{"b":"x"}}`, `{"a":{"b":"z"}}`, "", []string{`- patch Node n: a.b: "z" -> "x"`}},
		"removed":             {`{"a":{"b":"x"}}`, "", `{"a":{"b":null}}`, []string{"+ patch Node n: a.b: removed"}},
		"added":               {`{}`, "", `{"a":{"b":{"c":1}}}`, []string{`+ patch Node n: a: added: {"b":{"c":1}}`}},
		"items":               {`{"list":[{"node":"a","ok":true},{"node":"b","ok":true},{"node":"c","ok":true}]}`, "", `{"list":[{"node":"a","ok":false},{"node":"c","ok":true},{"node":"d","ok":true}]}`, []string{"+ patch Node n: list[node=a].ok: true -> false", "+ patch Node n: list[node=b]: removed", `+ patch Node n: list[node=d]: added: {"node":"d","ok":true}`}},
		"texts":               {`{"list":["a","b"]}`, "", `{"list":["b","c"]}`, []string{`+ patch Node n: list["a"]: removed`, `+ patch Node n: list["c"]: added: "c"`}},
		"order":               {`{"list":["a","b"]}`, "", `{"list":["b","a"]}`, []string{"+ patch Node n: list: another order"}},
		"items without a key": {`{"list":[{"a":1},{"a":1}]}`, "", `{"list":[{"a":1},{"a":2}]}`, []string{"+ patch Node n: list[1].a: 1 -> 2"}},
		"by the usual key":    {`{"list":[{"alias":"x","name":"n"}]}`, "", `{"list":[{"alias":"y","name":"n"}]}`, []string{`+ patch Node n: list[name=n].alias: "x" -> "y"`}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decision := func(text string) *eval.Decision {
				d := &eval.Decision{}
				if text != "" {
					d.Effects = []*eval.Effect{{Verb: eval.VerbPatch, Target: world.MustIdentify(schema.GVK{APIVersion: "v1", Kind: "Node"}, "", "n"), Patch: parsed(t, text), Before: parsed(t, tc.before)}}
				}
				return d
			}
			if d := cmp.Diff(tc.want, differences(decision(tc.enforced), decision(tc.shadow))); d != "" {
				t.Errorf("-want +got:\n%s", d)
			}
		})
	}
}
