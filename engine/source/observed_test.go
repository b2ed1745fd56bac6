package source

import "testing"

// TestObserved: whatever the status of a ConfigMap takes into account changes the hash, and
// nothing else does.
func TestObserved(t *testing.T) {
	t.Parallel()
	type world struct {
		policies ConfigMap
		params   []ConfigMap
	}
	const text = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: one}\nspec: {for: {apiVersion: v1, kind: Node}}\n"
	observed := func(change func(*world)) string {
		w := world{
			policies: ConfigMap{Namespace: "ns", Name: "m", Data: map[string]string{"one.yaml": text}},
			params: []ConfigMap{
				{Namespace: "ns", Name: "a", Data: map[string]string{"one": "value: a"}},
				{Namespace: "ns", Name: "b", Data: map[string]string{"other": "value: a"}},
			},
		}
		change(&w)
		var values []*Values
		for i := range w.params {
			values = append(values, w.params[i].ReadParams())
		}
		return w.policies.Read().Observed(values)
	}
	was := observed(func(*world) {})
	for name, tc := range map[string]struct {
		change  func(*world)
		differs bool
	}{
		"nothing":                    {func(*world) {}, false},
		"the data":                   {func(w *world) { w.policies.Data["one.yaml"] += "#" }, true},
		"binary data":                {func(w *world) { w.policies.Binary = []string{"x"} }, true},
		"the mode":                   {func(w *world) { w.policies.Mode = "Shadow" }, true},
		"the rollout":                {func(w *world) { w.policies.Rollout = "steps: [{percent: 5}]" }, true},
		"a value":                    {func(w *world) { w.params[0].Data["one"] = "value: b" }, true},
		"values that cannot be read": {func(w *world) { w.params[0].Data["one"] = "[" }, true},
		"no values":                  {func(w *world) { w.params = w.params[1:] }, true},
		"values from elsewhere":      {func(w *world) { w.params[0].Name = "c" }, true},
		"another order":              {func(w *world) { w.params[0], w.params[1] = w.params[1], w.params[0] }, false},
		"values of others":           {func(w *world) { w.params[1].Data["other"] = "value: b" }, false},
		"more values":                {func(w *world) { w.params[1].Data["one"] = "more: b" }, true},
		"binary values":              {func(w *world) { w.params[1].Binary = []string{"one"} }, true},
		"who wrote it":               {func(w *world) { w.policies.UID, w.params[0].UID = "x", "y" }, false},
	} {
		if got := observed(tc.change); (got != was) != tc.differs {
			t.Errorf("%s: differs is %v, want %v", name, got != was, tc.differs)
		}
	}
}
