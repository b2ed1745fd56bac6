package brake

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/schema"
)

// TestChangesOfTypes: what the API server makes of a quantity is no change, and a text that
// looks like one is.
func TestChangesOfTypes(t *testing.T) {
	t.Parallel()
	typed := &schema.Type{Kind: schema.Object, Fields: map[string]*schema.Type{"cpu": {Kind: schema.Dyn, Quantity: true}, "version": {Kind: schema.String}}}
	for name, tc := range map[string]struct {
		before, after object
		want          int
	}{
		"a quantity in another form": {object{"cpu": "500m"}, object{"cpu": "0.5"}, 0},
		"another quantity":           {object{"cpu": "500m"}, object{"cpu": "1"}, 1},
		"a text":                     {object{"version": "1.10"}, object{"version": "1.1"}, 1},
		"what is removed":            {object{"cpu": "500m"}, object{"cpu": nil}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := patch(tc.before, tc.after)
			e.Type = typed
			if got := changes(e); len(got) != tc.want {
				t.Errorf("got %v", got)
			}
		})
	}
}

// TestChangesOfTheOnlyPart: a field has the same path whether it is the only one of its map
// or list or not, and whether it comes or goes.
func TestChangesOfTheOnlyPart(t *testing.T) {
	t.Parallel()
	labels, condition := object{"q": "1"}, object{"type": "Ready", "status": "True"}
	for name, tc := range map[string]struct {
		before, patch object
		want          []string
	}{
		"it comes":              {object{}, object{"labels": labels}, []string{"labels.q"}},
		"beside another":        {object{"labels": object{"p": "1"}}, object{"labels": labels}, []string{"labels.q"}},
		"it goes":               {object{"labels": labels}, object{"labels": object{"q": nil}}, []string{"labels.q"}},
		"it goes with its map":  {object{"labels": labels}, object{"labels": nil}, []string{"labels.q"}},
		"it is not there":       {object{}, object{"labels": object{"q": nil}}, nil},
		"a map without parts":   {object{}, object{"labels": object{}}, []string{"labels"}},
		"an item comes":         {object{}, object{"c": []any{condition}}, []string{"c[type=Ready]"}},
		"an item goes":          {object{"c": []any{condition}}, object{"c": []any{}}, []string{"c[type=Ready]"}},
		"it goes with its list": {object{"c": []any{condition}}, object{"c": nil}, []string{"c[type=Ready]"}},
		"a list without names":  {object{}, object{"c": []any{"a"}}, []string{"c"}},
		"its end":               {object{"c": []any{"a"}}, object{"c": nil}, []string{"c"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, c := range changes(patch(tc.before, tc.patch)) {
				got = append(got, c.path)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestDescribe: what has no field is named as a whole.
func TestDescribe(t *testing.T) {
	t.Parallel()
	e := patch(object{"a": "1"}, object{"a": "2"})
	gone := *e
	e.Rules, gone.Rules, gone.Verb = []string{"set"}, []string{"end"}, eval.VerbDelete
	name := objectName(e.Target)
	for want, effects := range map[string][]*eval.Effect{
		`the rule "set" writes a of ` + name:              {e},
		`the rule "end" writes ` + name + ` (deletes it)`: {&gone},
	} {
		if got := Describe(effects); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}
