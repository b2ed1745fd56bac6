package compare

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

func parse(t *testing.T, text string) (out map[string]any) {
	t.Helper()
	if text == "" {
		return nil
	}
	if err := yaml.Unmarshal([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestDiff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		before, after string
		want          []Field
	}{
		"the same": {"{a: {b: [1, 2]}}", "{a: {b: [1, 2]}}", []Field{}},
		"a scalar": {"{a: {b: 1}}", "{a: {b: 2}}", []Field{{"a.b", int64(1), int64(2)}}},
		"a field of a mapping that is new": {
			"{}", "{a: {b: {c: 1}}}", []Field{{"a.b.c", nil, int64(1)}},
		},
		"names that are quoted":     {"{}", `{labels: {"a/b": x}}`, []Field{{`labels["a/b"]`, nil, "x"}}},
		"an empty mapping":          {"{a: {}}", "{}", []Field{{"a", map[string]any{}, nil}}},
		"another type":              {"{a: {b: 1}}", "{a: [1]}", []Field{{"a", map[string]any{"b": int64(1)}, []any{int64(1)}}}},
		"a list without names":      {"{a: [1, 2]}", "{a: [2, 1]}", []Field{{"a", []any{int64(1), int64(2)}, []any{int64(2), int64(1)}}}},
		"an item of a list":         {"{c: [{type: A, s: x}, {type: B, s: x}]}", "{c: [{type: A, s: x}, {type: B, s: z}]}", []Field{{"c[type=B].s", "x", "z"}}},
		"an item by another field":  {"{c: [{node: a, s: x}]}", "{c: [{node: a, s: z}]}", []Field{{"c[node=a].s", "x", "z"}}},
		"an item that is new":       {"{c: [{type: A}]}", "{c: [{type: A}, {type: B}]}", []Field{{"c[type=B]", nil, map[string]any{"type": "B"}}}},
		"another order":             {"{c: [{type: A}, {type: B}]}", "{c: [{type: B}, {type: A}]}", []Field{{"c", []any{"A", "B"}, []any{"B", "A"}}}},
		"items with the same name":  {"{c: [{x: A}, {x: A}]}", "{c: [{x: A}]}", []Field{{"c", []any{map[string]any{"x": "A"}, map[string]any{"x": "A"}}, []any{map[string]any{"x": "A"}}}}},
		"a created object":          {"", "{kind: K, metadata: {name: n}, data: {a: x}}", []Field{{"data.a", nil, "x"}}},
		"a deleted object":          {"{kind: K, metadata: {name: n, labels: {l: x}}}", "", []Field{{"metadata.labels.l", "x", nil}}},
		"a list that is gone":       {"{c: [{type: A}]}", "{}", []Field{{"c", []any{map[string]any{"type": "A"}}, nil}}},
		"a mapping inside an item":  {"{c: [{type: A, m: {x: 1}}]}", "{c: [{type: A, m: {x: 2}}]}", []Field{{"c[type=A].m.x", int64(1), int64(2)}}},
		"a mapping new in an item":  {"{c: [{type: A}]}", "{c: [{type: A, m: {x: 2}}]}", []Field{{"c[type=A].m.x", nil, int64(2)}}},
		"a name with a dot quoted":  {"{}", `{data: {"a.yaml": x}}`, []Field{{`data["a.yaml"]`, nil, "x"}}},
		"nothing but a null field ": {"{a: null}", "{}", []Field{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tc.want, diff(parse(t, tc.before), parse(t, tc.after))); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}
