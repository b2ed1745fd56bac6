package guard

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

type object = map[string]any

// effect is a patch of an object of a kind.
func effect(kind string, patch object) *eval.Effect {
	return &eval.Effect{
		Verb: eval.VerbPatch, Target: world.ID{GVK: schema.GVK{APIVersion: "v1", Kind: kind}, Name: "a"},
		Patch: value.Freeze(patch, nil, value.KeepAll).(*value.Map),
	}
}

// nested puts a value under a dotted path; [] makes a list of one item.
func nested(path string, v any) object {
	first, rest, more := strings.Cut(path, ".")
	name, list := strings.CutSuffix(first, "[]")
	if more {
		v = nested(rest, v)
	}
	if list {
		v = []any{v}
	}
	return object{name: v}
}

func TestWhatIsFree(t *testing.T) {
	t.Parallel()
	for kind, paths := range map[string][]string{
		"Node":       {"metadata.labels.a", "metadata.annotations.securityContext/x", "spec.unschedulable", "status.conditions", "status.finalizers"},
		"Deployment": {"spec.replicas", "spec.template.metadata.annotations.a", "spec.template.spec.containers[].image", "spec.serviceAccountNames"},
		"ConfigMap":  {"data.serviceAccountNames", "data.a"},
		"Widget":     {"spec.finalizers", "spec.ownerReferences", "status.phase"},
	} {
		for _, path := range paths {
			if err := (&Guard{}).Check("p", effect(kind, nested(path, "x"))); err != nil {
				t.Errorf("%s of %s: %v", path, kind, err)
			}
		}
	}
}

// TestHome: in the controller's own namespace no policy writes, and so changes
// neither what it or another one is nor who else has the controller's rights;
// elsewhere the same kinds are free.
func TestHome(t *testing.T) {
	t.Parallel()
	at := func(kind, namespace string) *eval.Effect {
		e := effect(kind, nested("data.a", "x"))
		e.Target.Namespace = namespace
		return e
	}
	g := &Guard{Home: "home"}
	for _, kind := range []string{"ConfigMap", "ControllerRevision", "Lease", "Pod"} {
		if err := g.Check("p", at(kind, "home")); err == nil || !strings.Contains(err.Error(), "the namespace of the controller itself") {
			t.Errorf("%s: %v", kind, err)
		}
		if err := g.Check("p", at(kind, "away")); err != nil {
			t.Errorf("%s elsewhere: %v", kind, err)
		}
	}
	if err := g.Check("p", at("Node", "")); err != nil {
		t.Errorf("what belongs to no namespace: %v", err)
	}
	g.Allowed = []Allowance{{Policy: "p", Kind: "ConfigMap", Field: "*"}}
	if err := g.Check("p", at("ConfigMap", "home")); err != nil {
		t.Error(err)
	}
	if err := (&Guard{}).Check("p", at("ConfigMap", "")); err != nil {
		t.Errorf("without a home: %v", err)
	}
}

// TestWhatIsProtected: fields that decide what becomes of an object, or what it
// may do, are refused wherever they stand.
func TestWhatIsProtected(t *testing.T) {
	t.Parallel()
	for _, path := range []string{
		"metadata.finalizers", "metadata.ownerReferences", "metadata.deletionTimestamp",
		"spec.serviceAccountName", "spec.template.spec.serviceAccountName", "spec.template.spec.serviceAccount", "spec.jobTemplate.spec.template.spec.serviceAccountName",
		"spec.template.spec.securityContext", "spec.template.spec.containers[].securityContext", "spec.template.spec.securityContext.runAsUser", "spec.initContainers[].securityContext.privileged",
		"spec.automountServiceAccountToken", "spec.template.spec.hostNetwork", "spec.hostPID", "spec.hostIPC", "spec.template.metadata.finalizers",
	} {
		for name, v := range map[string]any{"set": "x", "set to a list": []any{"x"}} {
			field := strings.ReplaceAll(path, "[]", "")
			for _, protected := range []string{".runAsUser", ".privileged"} {
				field = strings.TrimSuffix(field, protected)
			}
			err := (&Guard{}).Check("p", effect("Deployment", nested(path, v)))
			if want := "the policy p may not write " + field + " of Deployment; the installation can allow it"; err == nil || err.Error() != want {
				t.Errorf("%s %s: %v", path, name, err)
			}
		}
	}
}

// TestRemovalsAreWrites: null takes a field away.
func TestRemovalsAreWrites(t *testing.T) {
	t.Parallel()
	e := effect("Pod", object{})
	e.Patch = value.NewMap([]string{"metadata"}, []value.Value{value.NewMap([]string{"finalizers"}, []value.Value{value.Null})})
	if err := (&Guard{}).Check("p", e); err == nil {
		t.Error("a policy may remove finalizers")
	}
}

func TestProtectedKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		"Secret", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "CustomResourceDefinition",
		"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration", "ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding",
	} {
		want := "the policy p may not write objects of kind " + kind + "; the installation can allow it"
		if err := (&Guard{}).Check("p", effect(kind, nested("metadata.labels.a", "b"))); err == nil || err.Error() != want {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestEventsAreFree: they change nothing of the object they are about.
func TestEventsAreFree(t *testing.T) {
	t.Parallel()
	e := effect("Secret", object{"reason": "A"})
	e.Verb = eval.VerbEvent
	if err := (&Guard{}).Check("p", e); err != nil {
		t.Error(err)
	}
}

// TestAllowances open one thing for one policy, and nothing else.
func TestAllowances(t *testing.T) {
	t.Parallel()
	g := &Guard{Allowed: []Allowance{
		{Policy: "p", Kind: "Secret", Field: "*"},
		{Policy: "p", Kind: "Pod", Field: "metadata.finalizers"},
		{Policy: "q", Kind: "Deployment", Field: "*"},
		{Policy: "q", Kind: "Role", Field: "rules"},
	}}
	for name, tc := range map[string]struct {
		policy, kind, path string
		allowed            bool
	}{
		"a kind":                    {"p", "Secret", "data.a", true},
		"another policy":            {"q", "Secret", "data.a", false},
		"another kind":              {"p", "Role", "rules", false},
		"a field":                   {"p", "Pod", "metadata.finalizers", true},
		"another field":             {"p", "Pod", "metadata.ownerReferences", false},
		"a field of another kind":   {"p", "Node", "metadata.finalizers", false},
		"all fields of a kind":      {"q", "Deployment", "spec.template.spec.hostNetwork", true},
		"a field opens no kind":     {"q", "Role", "rules", false},
		"another policy's one":      {"q", "Pod", "metadata.finalizers", false},
		"a kind opens its fields":   {"p", "Secret", "metadata.finalizers", true},
		"what was never protected":  {"q", "Node", "metadata.labels.a", true},
		"a policy that is not ours": {"", "Secret", "data.a", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := g.Check(tc.policy, effect(tc.kind, nested(tc.path, "x"))); (err == nil) != tc.allowed {
				t.Errorf("got %v", err)
			}
		})
	}
}
