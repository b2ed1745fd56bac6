package source

import (
	"slices"
	"testing"
	"time"
)

// observedWorld is what a catalog is made of.
type observedWorld struct {
	policies, params []ConfigMap
}

// TestObserved: whatever the status of a ConfigMap takes into account changes its hash, and
// nothing else does.
func TestObserved(t *testing.T) {
	t.Parallel()
	none := func(*observedWorld) {}
	policies, params := observedIn(none)
	for name, tc := range map[string]struct {
		change func(*observedWorld)
		// ofPolicies and ofParams report whether the hashes differ.
		ofPolicies, ofParams bool
	}{
		"nothing":                        {none, false, false},
		"the data":                       {func(w *observedWorld) { w.policies[1].Data["one.yaml"] += "#" }, true, true},
		"binary data":                    {func(w *observedWorld) { w.policies[1].Binary = []string{"x"} }, true, true},
		"the mode":                       {func(w *observedWorld) { w.policies[1].Mode = "Disabled" }, true, true},
		"the rollout":                    {func(w *observedWorld) { w.policies[1].Rollout = "steps: [{percent: 5}]" }, true, false},
		"a value":                        {func(w *observedWorld) { w.params[0].Data["one"] = "value: b" }, true, true},
		"values that cannot be read":     {func(w *observedWorld) { w.params[0].Data["one"] = "[" }, true, true},
		"values from elsewhere":          {func(w *observedWorld) { w.params[0].Name = "c" }, true, true},
		"another order":                  {func(w *observedWorld) { slices.Reverse(w.policies); slices.Reverse(w.params) }, false, false},
		"values of others":               {func(w *observedWorld) { w.params[1].Data["other"] = "value: b" }, false, false},
		"more values":                    {func(w *observedWorld) { w.params[1].Data["one"] = "more: b" }, true, true},
		"more values that are not read":  {func(w *observedWorld) { w.params[1].Data["one"] = "[" }, true, true},
		"binary values":                  {func(w *observedWorld) { w.params[1].Binary = []string{"one"} }, true, true},
		"who wrote it":                   {func(w *observedWorld) { w.policies[1].UID, w.params[0].UID = "x", "y" }, false, false},
		"other policies":                 {func(w *observedWorld) { w.policies[0].Data["two.yaml"] += "#" }, false, false},
		"the policy in an older one":     {func(w *observedWorld) { w.policies[0].Data["one.yaml"] = observedPolicy("one") }, true, true},
		"the policy in a younger one":    {func(w *observedWorld) { w.policies[2].Data["one.yaml"] = observedPolicy("one") }, false, true},
		"other policies, in several":     {func(w *observedWorld) { w.policies[2].Data["two.yaml"] = observedPolicy("two") }, false, false},
		"another one has become younger": {func(w *observedWorld) { w.policies[0].Created = time.Unix(9, 0) }, false, false},
	} {
		ofPolicies, ofParams := observedIn(tc.change)
		if (ofPolicies != policies) != tc.ofPolicies || (ofParams != params) != tc.ofParams {
			t.Errorf("%s: differs is %v of policies and %v of params, want %v and %v", name, ofPolicies != policies, ofParams != params, tc.ofPolicies, tc.ofParams)
		}
	}
}

// TestObservedOfRivals: of a policy that an older ConfigMap has, too, it counts what that one
// has, and that it goes.
func TestObservedOfRivals(t *testing.T) {
	t.Parallel()
	twice := func(w *observedWorld) { w.policies[0].Data["one.yaml"] = observedPolicy("one") }
	was, _ := observedIn(twice)
	for name, change := range map[string]func(*observedWorld){
		"deleted": func(w *observedWorld) { w.policies = w.policies[1:] },
		"edited":  func(w *observedWorld) { w.policies[0].Data["two.yaml"] += "#" },
		"no more": func(w *observedWorld) { delete(w.policies[0].Data, "one.yaml") },
	} {
		if got, _ := observedIn(func(w *observedWorld) { twice(w); change(w) }); got == was {
			t.Errorf("%s: the hash is the same", name)
		}
	}
}

func observedPolicy(name string) string {
	return "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: " + name + "}\nspec: {for: {apiVersion: v1, kind: Node}}\n"
}

// observedIn returns the hashes of the ConfigMap m, which has the policy one, and of the
// ConfigMap that has values for it, after a change.
func observedIn(change func(*observedWorld)) (policies, params string) {
	w := observedWorld{
		policies: []ConfigMap{
			{Namespace: "ns", Name: "older", Created: time.Unix(1, 0), Data: map[string]string{"two.yaml": observedPolicy("two")}},
			{Namespace: "ns", Name: "m", Created: time.Unix(2, 0), Data: map[string]string{"one.yaml": observedPolicy("one")}},
			{Namespace: "ns", Name: "younger", Created: time.Unix(3, 0), Data: map[string]string{"three.yaml": observedPolicy("three")}},
		},
		params: []ConfigMap{
			{Namespace: "ns", Name: "a", Data: map[string]string{"one": "value: a"}},
			{Namespace: "ns", Name: "b", Data: map[string]string{"other": "value: a"}},
		},
	}
	change(&w)
	var contents []*Contents
	var values []*Values
	for i := range w.policies {
		contents = append(contents, w.policies[i].Read())
	}
	for i := range w.params {
		values = append(values, w.params[i].ReadParams())
	}
	c := NewCatalog(contents, values, nil)
	m := slices.IndexFunc(c.Contents, func(one *Contents) bool { return one.Name == "m" })
	of := slices.IndexFunc(c.Values, func(v *Values) bool { return v.Name != "b" })
	return c.Observed(c.Contents[m]), c.ObservedParams(c.Values[of])
}
