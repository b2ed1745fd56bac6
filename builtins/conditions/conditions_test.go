package conditions

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
)

// call calls a builtin by its name with a list as JSON has it.
func call(t *testing.T, name string, list value.Value, kind string) any {
	t.Helper()
	for _, f := range Functions() {
		if f.Name == name {
			got, err := f.Do(nil, []value.Value{list, value.OfString(kind)})
			if err != nil {
				t.Fatal(err)
			}
			return value.Plain(value.Unwrap(got))
		}
	}
	t.Fatalf("there is no %s", name)
	return nil
}

// status are conditions as an object has them: times in it are timestamps.
func status(items ...any) value.Value {
	object, _ := value.Freeze(map[string]any{"conditions": items}, nil, value.KeepAll).(*value.Map)
	return object.Lookup("conditions")
}

func TestConditions(t *testing.T) {
	t.Parallel()
	const at = "2026-03-01T12:00:00Z"
	ready := map[string]any{"type": "Ready", "status": "True", "lastTransitionTime": at}
	failed := map[string]any{"type": "Failed", "status": "False"}
	later := map[string]any{"type": "Ready", "status": "False"}
	broken := map[string]any{"type": int64(3), "status": true, "lastTransitionTime": "noon"}
	for name, tc := range map[string]struct {
		list         value.Value
		kind         string
		isTrue       bool
		found, since any
	}{
		"true":                            {status(failed, ready), "Ready", true, ready, at},
		"not true":                        {status(failed, ready), "Failed", false, failed, nil},
		"absent from the list":            {status(failed), "Ready", false, nil, nil},
		"another case":                    {status(ready), "ready", false, nil, nil},
		"two of the type":                 {status(later, ready), "Ready", false, later, nil},
		"an empty list":                   {status(), "Ready", false, nil, nil},
		"no list":                         {nil, "Ready", false, nil, nil},
		"an optional list":                {value.Some(status(ready)), "Ready", true, ready, at},
		"an optional without a list":      {value.None, "Ready", false, nil, nil},
		"null":                            {value.Null, "Ready", false, nil, nil},
		"what is no list":                 {value.OfString("Ready"), "Ready", false, nil, nil},
		"items that are no conditions":    {status("Ready", nil, int64(1), broken, ready), "Ready", true, ready, at},
		"a time as a text":                {value.NewList([]value.Value{value.FromMap(map[string]value.Value{"type": value.OfString("A"), "lastTransitionTime": value.OfString(at)})}), "A", false, map[string]any{"type": "A", "lastTransitionTime": at}, at},
		"a time that cannot be read":      {status(map[string]any{"type": "A", "lastTransitionTime": "noon"}), "A", false, map[string]any{"type": "A", "lastTransitionTime": "noon"}, nil},
		"a status that is not a text":     {status(map[string]any{"type": "A", "status": true}), "A", false, map[string]any{"type": "A", "status": true}, nil},
		"a condition with the empty type": {status(map[string]any{"status": "True"}), "", false, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []any{call(t, "conditions.isTrue", tc.list, tc.kind), call(t, "conditions.find", tc.list, tc.kind), call(t, "conditions.since", tc.list, tc.kind)}
			if diff := cmp.Diff([]any{tc.isTrue, tc.found, tc.since}, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestReject: lists of texts are no conditions.
func TestReject(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		of   expr.Type
		want bool
	}{
		{expr.Dyn, false}, {expr.ListOf(expr.Dyn), false}, {expr.ListOf(expr.Object), false}, {expr.ListOf(expr.MapOf(expr.String)), false},
		{expr.ListOf(expr.String), true}, {expr.ListOf(expr.ListOf(expr.Object)), true},
	} {
		if got := reject([]expr.Type{tc.of, expr.String}); (got != "") != tc.want {
			t.Errorf("%s: %q", tc.of, got)
		}
	}
}

// TestNeed: the work grows with the list and with the type that is looked for; the
// conditions of an object are so few that they cost nothing beyond the call.
func TestNeed(t *testing.T) {
	t.Parallel()
	list := func(n int) value.Value { return value.NewList(make([]value.Value, n)) }
	long := make([]byte, 100_000)
	for name, tc := range map[string]struct {
		list value.Value
		kind string
		want uint64
	}{
		"none": {value.None, "Ready", 1}, "of a Node": {value.Some(list(20)), "Ready", 3}, "many": {list(4000), "Ready", 401 + 20}, "a long type": {list(8), string(long), 2 + 800},
	} {
		if got := need([]value.Value{tc.list, value.OfString(tc.kind)}); got != (expr.Need{Work: tc.want}) {
			t.Errorf("%s: %+v, want %d", name, got, tc.want)
		}
	}
}
