package cel

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/expr"
)

// authorization are functions that ask an API server; no policy may, because
// no name of the right type is ever declared.
var authorization = map[string]bool{
	"allowed": true, "authorizer": true, "check": true, "error": true, "errored": true, "group": true, "name": true, "namespace": true,
	"path": true, "reason": true, "resource": true, "serviceAccount": true, "subresource": true, "fieldSelector": true, "labelSelector": true,
}

// TestPlanningKnowsEveryFunction holds the environment that plans programs
// against the one that checks them: what can be said can be run.
func TestPlanningKnowsEveryFunction(t *testing.T) {
	env, err := NewEnv([]expr.Function{{Name: "a.b", Args: []expr.Type{expr.String}, Result: expr.Bool}})
	if err != nil {
		t.Fatal(err)
	}
	for name, f := range env.base().Functions() {
		planned, ok := env.planning.Functions()[name]
		if !ok {
			if !authorization[name] {
				t.Errorf("the function %s cannot be planned", name)
			}
			continue
		}
		have := map[string]bool{}
		for _, o := range planned.OverloadDecls() {
			have[o.ID()] = true
		}
		for _, o := range f.OverloadDecls() {
			if !have[o.ID()] && !strings.Contains(o.ID(), "authorizer") {
				t.Errorf("the overload %s of %s cannot be planned", o.ID(), name)
			}
		}
	}
}
