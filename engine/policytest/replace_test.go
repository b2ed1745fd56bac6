package policytest

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
)

// TestReplace: a value is written in the way that was there, and nothing else changes.
func TestReplace(t *testing.T) {
	t.Parallel()
	long := []any{map[string]any{"rule": strings.Repeat("a", 80), "patch": map[string]any{"b": strings.Repeat("c", 80)}}, map[string]any{"verb": "delete"}}
	for name, tc := range map[string]struct {
		in   string
		line int
		old  any
		new  any
		want string
	}{
		"in one line":           {"a:\n  requeue: []   # why\n  b: 1\n", 2, []any{}, []any{"2026-03-01T12:00:00Z", int64(1)}, "a:\n  requeue: [\"2026-03-01T12:00:00Z\", 1]   # why\n  b: 1\n"},
		"in a line of more":     {"a: {effects: [x, \"]\"], b: {c: 1}}\n", 1, []any{"x", "]"}, []any{"a, b", true, nil}, "a: {effects: ['a, b', true, null], b: {c: 1}}\n"},
		"too long for it":       {"a:\n  effects: []\n  b: 1\n", 2, []any{}, long, "a:\n  effects:\n    - rule: " + strings.Repeat("a", 80) + "\n      patch: {b: " + strings.Repeat("c", 80) + "}\n    - {verb: delete}\n  b: 1\n"},
		"items":                 {"a:\n  - x: 1\n\n    # of x\n    y: 2\n\n  # of z\n  - z: 1\n", 2, map[string]any{"x": int64(1), "y": int64(2)}, map[string]any{"name": "o", "kind": "K"}, "a:\n  - kind: K\n    name: o\n\n  # of z\n  - z: 1\n"},
		"a list":                {"effects:\n- {x: 1}\n- y: |\n    a\n\n    b\nb: 1\n", 2, []any{map[string]any{"x": int64(1)}, map[string]any{"y": "a\n\nb\n"}}, []any{map[string]any{"x": "a\nb"}}, "effects:\n- {x: \"a\\nb\"}\nb: 1\n"},
		"nothing left":          {"effects:\n  - x\nb: 1\n", 2, []any{"x"}, []any{}, "effects:\n  []\nb: 1\n"},
		"the second of two":     {"a: 1\n---\na:\n  - x\n---\nb: 1\n", 4, []any{"x"}, []any{"w", "z"}, "a: 1\n---\na:\n  - w\n  - z\n---\nb: 1\n"},
		"at the end":            {"a:\n  - x", 2, []any{"x"}, []any{"w"}, "a:\n  - w"},
		"characters, not bytes": {"ä: {ö: [x]}\n", 1, []any{"x"}, []any{"ü"}, "ä: {ö: [ü]}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := document.Position{File: "f.yaml", Line: tc.line, Column: columnOf(t, tc.in, tc.line, tc.old)}
			got, err := replaceAll("f.yaml", []byte(tc.in), []replacement{{At: at, Old: tc.old, New: tc.new}})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, string(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// columnOf returns where on a line a list or mapping begins that says something.
func columnOf(t *testing.T, text string, line int, says any) (column int) {
	t.Helper()
	var problems document.Problems
	var visit func(n *document.Node)
	visit = func(n *document.Node) {
		if n.Pos.Line == line && (n.Kind == document.List || n.Kind == document.Map) && cmp.Equal(n.Plain(), says) {
			column = n.Pos.Column
		}
		for _, v := range n.Values {
			visit(v)
		}
	}
	for _, n := range document.ParseUnbounded("f.yaml", []byte(text), &problems) {
		visit(n)
	}
	if column == 0 {
		t.Fatal("nothing stands there")
	}
	return column
}

func TestReplaceRefuses(t *testing.T) {
	t.Parallel()
	at := document.Position{File: "f.yaml", Line: 1, Column: 4}
	for name, tc := range map[string]struct {
		list []replacement
		want string
	}{
		"another value":  {[]replacement{{at, []any{"y"}, []any{}}}, "change it by hand"},
		"another place":  {[]replacement{{document.Position{Line: 1, Column: 5}, []any{"x"}, []any{}}}, "change it by hand"},
		"two values":     {[]replacement{{at, []any{"x"}, []any{}}, {at, []any{"x"}, []any{"z"}}}, "two different values"},
		"twice the same": {[]replacement{{at, []any{"x"}, []any{}}, {at, []any{"x"}, []any{}}}, ""},
	} {
		_, err := replaceAll("f.yaml", []byte("a: [x]\n"), tc.list)
		if tc.want == "" && err != nil || tc.want != "" && (err == nil || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
