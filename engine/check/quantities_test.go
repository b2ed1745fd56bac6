package check_test

import (
	"strings"
	"testing"
)

// TestQuantitiesOfNumbers: quantity(x) of a field that may be a number is found, unless the
// policy asks what it is.
func TestQuantitiesOfNumbers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		expression string
		found      bool
	}{
		"a field":                    {`has(object.spec.minAvailable) && quantity(object.spec.minAvailable) == quantity("1")`, true},
		"a field with a default":     {`quantity(object.spec.?minAvailable.orValue("1")) == quantity("1")`, true},
		"a field of an input":        {`inputs.services.exists(s, s.spec.?ports.orValue([]).exists(p, has(p.targetPort) && quantity(p.targetPort) == quantity("1")))`, true},
		"a name of optMap":           {`object.spec.?minAvailable.optMap(q, quantity(q)).hasValue()`, true},
		"a variable":                 {`quantity(variables.least) == quantity("1")`, true},
		"an optional variable":       {`variables.maybe.optMap(q, quantity(q)).hasValue()`, true},
		"another name of a macro":    {`object.spec.?minAvailable.optMap(q, quantity("1")).hasValue()`, false},
		"what takes numbers":         {`has(object.spec.minAvailable) && quantity.value(object.spec.minAvailable) == 1`, false},
		"a text of it":               {`has(object.spec.minAvailable) && quantity(string(object.spec.minAvailable)) == quantity("1")`, false},
		"with its type":              {`has(object.spec.minAvailable) && type(object.spec.minAvailable) == string && quantity(object.spec.minAvailable) == quantity("1")`, false},
		"a quantity of a built-in":   {`inputs.nodes.exists(n, quantity(n.status.capacity["cpu"]) == quantity("1"))`, false},
		"a text":                     {`quantity("1") == quantity("2")`, false},
		"a text of the object":       {`quantity(object.metadata.labels["a"]) == quantity("1")`, false},
		"a number in another's type": {`has(object.spec.minAvailable) && type(object.metadata.name) == string && quantity(object.spec.minAvailable) == quantity("1")`, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text := strings.Replace(forNodes, "{apiVersion: v1, kind: Node}", "{apiVersion: policy/v1, kind: PodDisruptionBudget}", 1) +
				"  variables: [{name: least, expression: 'object.spec.?minAvailable.orValue(\"1\")'}, {name: maybe, expression: 'object.spec.?minAvailable'}]\n" +
				"  inputs: [{name: services, apiVersion: v1, kind: Service}, {name: nodes, apiVersion: v1, kind: Node}]\n" +
				"  rules: [{name: r, when: '" + tc.expression + "', do: [{labels: {set: {a: b}}}]}]\n"
			got := strings.Join(findingsWith(t, text), "\n")
			if strings.Contains(got, "error") || strings.Contains(got, "may be a number; then this fails (quantity.value(x)") != tc.found {
				t.Errorf("got %q", got)
			}
		})
	}
}
