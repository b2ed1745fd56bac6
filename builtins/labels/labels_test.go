package labels

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/value"
)

type object = map[string]any

// call calls a builtin with plain JSON values.
func call(t *testing.T, name string, args ...any) (value.Value, error) {
	t.Helper()
	values := make([]value.Value, len(args))
	for i, a := range args {
		v, ready := a.(value.Value)
		if !ready {
			v = value.Freeze(a, nil, value.KeepAll)
		}
		values[i] = v
	}
	for _, f := range Functions() {
		if f.Name == name {
			return f.Do(nil, values)
		}
	}
	t.Fatalf("there is no %s", name)
	return nil, nil
}

func expression(key, operator string, values ...any) object {
	e := object{"key": key, "operator": operator}
	if values != nil {
		e["values"] = values
	}
	return object{"matchExpressions": []any{e}}
}

func TestMatches(t *testing.T) {
	t.Parallel()
	set := object{"zone": "a", "empty": ""}
	for name, tc := range map[string]struct {
		selector, labels any
		want             bool
	}{
		"an absent selector":            {nil, set, false},
		"no selector":                   {value.None, set, false},
		"an empty selector":             {object{}, set, true},
		"an empty text":                 {"", set, true},
		"an optional selector":          {value.Some(value.OfString("zone=a")), set, true},
		"optional labels":               {"zone=a", value.Some(value.Freeze(set, nil, value.KeepAll)), true},
		"absent labels":                 {"zone=a", nil, false},
		"no labels":                     {"!zone", value.None, true},
		"labels of an object":           {object{"matchLabels": object{"zone": "a"}}, set, true},
		"other labels of an object":     {object{"matchLabels": object{"zone": "a", "x": "y"}}, set, false},
		"In":                            {expression("zone", "In", "a", "b"), set, true},
		"NotIn":                         {expression("zone", "NotIn", "a"), set, false},
		"NotIn of what is not there":    {expression("x", "NotIn", "a"), set, true},
		"Exists":                        {expression("empty", "Exists"), set, true},
		"DoesNotExist":                  {expression("empty", "DoesNotExist"), set, false},
		"a text":                        {"zone in (a,b),empty,!x", set, true},
		"a text that does not match":    {"zone!=a", set, false},
		"an empty value":                {"empty=", set, true},
		"an empty value, not there":     {"x=", set, false},
		"a value that looks like a key": {"a", set, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, "labels.matches", tc.selector, tc.labels)
			if err != nil || value.IsTrue(got) != tc.want {
				t.Errorf("got %v, %v", got, err)
			}
		})
	}
}

// selectorErrors are apimachinery's words, by selector.
var selectorErrors = map[string]struct {
	selector any
	want     string
}{
	"nothing wrong":       {object{"matchLabels": object{"a": "b"}}, ""},
	"absent":              {nil, ""},
	"a bad key":           {object{"matchLabels": object{"bad key": "a"}}, `key: Invalid value: "bad key": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character`},
	"an unknown operator": {expression("zone", "Gt", "a"), `"Gt" is not a valid label selector operator`},
	"In without values":   {expression("zone", "In"), `values: Invalid value: null: for 'in', 'notin' operators, values set can't be empty`},
	"a bad value":         {object{"matchLabels": object{"a": "b c"}}, `values[0][a]: Invalid value: "b c": a valid label must be an empty string or consist of alphanumeric characters`},
	"Exists with values":  {expression("a", "Exists", "b"), `values: Invalid value: ["b"]: values set must be empty for exists and does not exist`},
	"a text":              {"a in", "unable to parse requirement: found '' expected: '('"},
}

func TestSelectorError(t *testing.T) {
	t.Parallel()
	for name, tc := range selectorErrors {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, "labels.selectorError", tc.selector)
			if text, _ := value.Str(got); err != nil || !strings.HasPrefix(text, tc.want) || tc.want == "" && text != "" {
				t.Errorf("got %q (%v), want %q", text, err, tc.want)
			}
			matched, failed := call(t, "labels.matches", tc.selector, object{})
			if (failed == nil) != (tc.want == "") {
				t.Errorf("labels.matches with it gives %v, %v", matched, failed)
			}
		})
	}
}

func TestRequirementError(t *testing.T) {
	t.Parallel()
	const zone = "topology.kubernetes.io/zone"
	for name, tc := range map[string]struct {
		key, operator string
		values        []any
		want          string
	}{
		"nothing wrong":       {zone, "in", []any{"a", "b"}, ""},
		"not there":           {zone, "!", []any{}, ""},
		"there":               {zone, "exists", []any{}, ""},
		"an empty value":      {zone, "in", []any{""}, ""},
		"a bad value":         {zone, "in", []any{"bad zone!"}, `values[0][topology.kubernetes.io/zone]: Invalid value: "bad zone!": a valid label must be an empty string or consist of`},
		"the second is bad":   {zone, "in", []any{"a", "b c"}, `values[1][topology.kubernetes.io/zone]: Invalid value: "b c"`},
		"no values":           {zone, "in", []any{}, "values: Invalid value: []: for 'in', 'notin' operators, values set can't be empty"},
		"a bad key":           {"bad key", "in", []any{"a"}, `key: Invalid value: "bad key": name part must consist of`},
		"an unknown operator": {zone, "is", []any{"a"}, `operator: Unsupported value: "is": supported values:`},
		"a value too long":    {zone, "in", []any{strings.Repeat("a", 64)}, "must be no more than 63 "},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, "labels.requirementError", tc.key, tc.operator, tc.values)
			if text, _ := value.Str(got); err != nil || !strings.Contains(text, tc.want) || tc.want == "" && text != "" {
				t.Errorf("got %q (%v), want %q", text, err, tc.want)
			}
		})
	}
}

// TestMatchesMap: a map selects as the selector of a Service does.
func TestMatchesMap(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		selector, labels any
		want             bool
		wantErr          string
	}{
		"all of them":     {object{"app": "a"}, object{"app": "a", "zone": "z"}, true, ""},
		"two":             {object{"app": "a", "zone": "z"}, object{"app": "a", "zone": "z"}, true, ""},
		"another value":   {object{"app": "a"}, object{"app": "b"}, false, ""},
		"one is missing":  {object{"app": "a", "zone": "z"}, object{"app": "a"}, false, ""},
		"no labels":       {object{"app": "a"}, nil, false, ""},
		"an absent map":   {nil, object{"app": "a"}, false, ""},
		"an empty map":    {object{}, object{"app": "a"}, false, ""},
		"none":            {value.None, object{"app": "a"}, false, ""},
		"an empty value":  {object{"app": ""}, object{"app": ""}, true, ""},
		"absent or empty": {object{"app": ""}, object{}, false, ""},
		"a LabelSelector": {object{"matchLabels": object{"app": "a"}}, object{"app": "a"}, false, `"matchLabels"`},
		"a text":          {"app=a", object{"app": "a"}, false, "a map of labels is needed"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := call(t, "labels.matchesMap", tc.selector, tc.labels)
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("got %v, %v, want an error with %q", got, err, tc.wantErr)
				}
				return
			}
			if err != nil || value.IsTrue(got) != tc.want {
				t.Errorf("got %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}

// TestManyErrors: a requirement with thousands of wrong values says what is wrong
// with a few.
func TestManyErrors(t *testing.T) {
	t.Parallel()
	values := make([]string, 5000)
	for i := range values {
		values[i] = "a,b"
	}
	got, err := requirementError(nil, []value.Value{value.OfString("a"), value.OfString("in"), value.OfStrings(values)})
	if text, _ := value.Str(got); err != nil || len(text) > 4096 || !strings.Contains(text, "and 4995 more") {
		t.Errorf("%d bytes, %v: %.300s", len(text), err, text)
	}
}
