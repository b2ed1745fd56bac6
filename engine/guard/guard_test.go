package guard

import (
	"cmp"
	"fmt"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/api/v1alpha1"
	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/identity"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

type object = map[string]any

// versions are the apiVersions of the kinds below that are not of the core group.
var versions = map[string]string{
	"Deployment": "apps/v1", "ControllerRevision": "apps/v1", "CronJob": "batch/v1", "Lease": "coordination.k8s.io/v1", "Widget": "example.com/v1",
	"Role": "rbac.authorization.k8s.io/v1", "ClusterRole": "rbac.authorization.k8s.io/v1", "RoleBinding": "rbac.authorization.k8s.io/v1",
	"ClusterRoleBinding": "rbac.authorization.k8s.io/v1", "CustomResourceDefinition": "apiextensions.k8s.io/v1", "APIService": "apiregistration.k8s.io/v1",
	"ValidatingWebhookConfiguration": "admissionregistration.k8s.io/v1", "MutatingAdmissionPolicy": "admissionregistration.k8s.io/v1",
	"CertificateSigningRequest": "certificates.k8s.io/v1", "StorageClass": "storage.k8s.io/v1", "CSIDriver": "storage.k8s.io/v1",
	"EndpointSlice": "discovery.k8s.io/v1", "PriorityClass": "scheduling.k8s.io/v1", "ClusterIssuer": "cert-manager.io/v1", "ClusterPolicy": "kyverno.io/v1",
	"MachineSet": "cluster.x-k8s.io/v1", "Ingress": "networking.k8s.io/v1", "ResourceClaim": "resource.k8s.io/v1", "ResourceClaimTemplate": "resource.k8s.io/v1",
}

func gvk(kind string) schema.GVK {
	return schema.GVK{APIVersion: cmp.Or(versions[kind], "v1"), Kind: kind}
}

func check(g *Guard, policy string, e *eval.Effect) error {
	_, err := g.Of(&plan.Policy{Name: policy, MarkKeys: plan.MarkKeys(policy, []string{"r"})}).Judge(e)
	return err
}

// effect is a patch of an object of a kind.
func effect(kind string, patch object) *eval.Effect {
	return &eval.Effect{
		Verb: eval.VerbPatch, Target: world.MustIdentify(gvk(kind), "", "a"),
		Patch: value.Freeze(patch, nil, value.KeepAll).(*value.Map),
	}
}

// nested puts a value under a dotted path; [] makes a list of one item.
func nested(path string, v any) object {
	first, rest, more := strings.Cut(strings.ReplaceAll(path, `\.`, "\x00"), ".")
	rest = strings.ReplaceAll(rest, "\x00", `\.`)
	name, list := strings.CutSuffix(strings.ReplaceAll(first, "\x00", "."), "[]")
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
		"Node":       {"metadata.labels.edict\\.dev/child", "metadata.labels.edict\\.dev/policyset", "metadata.annotations." + strings.ReplaceAll(identity.MarkKey(plan.HeldPrefix, "p", "r"), ".", `\.`), "status.conditions", "status.finalizers"},
		"Deployment": {"spec.serviceAccountNames", "metadata.labels.a"},
		"ConfigMap":  {"data.serviceAccountNames", "data.a"},
		"Widget":     {"spec.finalizers", "spec.ownerReferences", "status.phase", "spec.nodeName", "spec.template.kind", "spec.image", "metadata.labels.a", "metadata.annotations.example\\.com/a"},
		"MachineSet": {"spec.template.kind"},
	} {
		for _, path := range paths {
			if err := check(&Guard{}, "p", effect(kind, nested(path, "x"))); err != nil {
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
		e.Target = world.MustIdentify(gvk(kind), namespace, "a")
		return e
	}
	g := &Guard{Home: "home"}
	for _, kind := range []string{"ConfigMap", "Pod", "Widget"} {
		if err := check(g, "p", at(kind, "home")); err == nil || !strings.Contains(err.Error(), "the namespace of the controller itself") {
			t.Errorf("%s: %v", kind, err)
		}
		if err := check(g, "p", at(kind, "away")); err != nil {
			t.Errorf("%s elsewhere: %v", kind, err)
		}
	}
	if err := check(g, "p", at("Node", "")); err != nil {
		t.Errorf("what belongs to no namespace: %v", err)
	}
	g.Allowed = []Allowance{{Policy: "p", Kind: "ConfigMap", Field: "*"}}
	if err := check(g, "p", at("ConfigMap", "home")); err != nil {
		t.Error(err)
	}
	if err := check(&Guard{}, "p", at("ConfigMap", "")); err != nil {
		t.Errorf("without a home: %v", err)
	}
}

// TestWhatIsProtected: fields that decide what becomes of an object, or what it
// may do, are refused wherever they stand.
func TestWhatIsProtected(t *testing.T) {
	t.Parallel()
	for kind, paths := range map[string][]string{
		"Widget": {
			"metadata.finalizers", "metadata.ownerReferences", "metadata.deletionTimestamp", "metadata.managedFields", "spec.template.metadata.finalizers",
			"spec.serviceAccountName", "spec.template.spec.serviceAccount", "spec.pod.securityContext>.runAsUser", "spec.x.hostPath>.path",
			"spec.pod.containers[].image", "spec.initContainers[].command[]", "spec.template.spec.tolerations>[].key", "spec.template.spec.priorityClassName",
			"spec.containers[].env[].valueFrom.secretKeyRef>.name", "spec.containers[].envFrom[].secretRef>.name",
		},
		"Deployment": {
			"spec.template.spec.hostNetwork", "spec.template.spec.volumes[].hostPath>.path", "spec.template.spec.volumes[].secret>.secretName",
			"spec.template.spec.volumes[].projected>.sources", "spec.template.spec.volumes[].emptyDir>.medium", "spec.strategy>.type", "spec.minReadySeconds", "spec.template.spec.containers[].image",
			"spec.template.spec.containers[].env>[].value", "spec.template.spec.nodeName", "spec.template.spec.runtimeClassName", "spec.template.spec.dnsConfig>.x",
			"spec.template.spec.initContainers[].securityContext>.privileged", "spec.template.spec.aFieldOfTheFuture",
			"spec.template.metadata.annotations.a", "spec.template.spec.containers[].resources>.limits.cpu", "spec.template.spec.nodeSelector>.a",
			"spec.template.metadata.annotations.container\\.apparmor\\.security\\.beta\\.kubernetes\\.io/c", "spec.template.spec.containers",
		},
		"CronJob": {"spec.jobTemplate.spec.template.spec.serviceAccountName", "spec.jobTemplate.spec.template.spec.containers[].args[]"},
		"Pod":     {"spec.nodeName", "spec.hostPID", "spec.containers[].lifecycle>.postStart", "spec.ephemeralContainers[].image", "spec.automountServiceAccountToken", "status.podIP", "status.podIPs>[].ip"},
		"Namespace": {
			"metadata.labels.pod-security\\.kubernetes\\.io/enforce", "metadata.labels.resource\\.kubernetes\\.io/admin-access",
			"metadata.annotations.scheduler\\.alpha\\.kubernetes\\.io/node-selector", "metadata.labels.admission\\.gatekeeper\\.sh/ignore",
			"metadata.labels.team", "metadata.annotations.openshift\\.io/sa\\.scc\\.uid-range",
		},
		"ResourceClaim":         {"spec.devices.requests[].exactly.adminAccess", "spec.devices.requests[].adminAccess", "status.allocation>.nodeSelector"},
		"ResourceClaimTemplate": {"spec.spec.devices.requests[].exactly.adminAccess"},
		"Node":                  {"status.addresses", "status.nodeInfo>.bootID", "spec.podCIDR", "metadata.labels.a", "metadata.annotations.held\\.edict\\.dev/q\\.r", "metadata.labels.node-restriction\\.kubernetes\\.io/x"},
		"Service":               {"spec.externalIPs", "status.loadBalancer>.ingress", "spec.selector>.app", "spec.type"},
		"Ingress":               {"spec>.rules[].host", "metadata.annotations.nginx\\.ingress\\.kubernetes\\.io/server-snippet"},
		"PersistentVolumeClaim": {"spec.dataSourceRef.namespace"},
	} {
		for _, path := range paths {
			for name, v := range map[string]any{"set": "x", "set to a list": []any{"x"}} {
				field, below, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(path, "[]", ""), `\.`, "."), ">")
				err := check(&Guard{}, "p", effect(kind, nested(strings.ReplaceAll(path, ">", ""), v)))
				if want := "the policy p may not write " + field + " of " + kind; err == nil || !strings.HasPrefix(err.Error(), want) || !strings.HasSuffix(err.Error(), fmt.Sprintf("kind: %s, fields: [%q]}", kind, field)) {
					t.Errorf("%s (%s) %s: %v", field, below, name, err)
				}
			}
		}
	}
}

// TestRemovalsAreWrites: null takes a field away.
func TestRemovalsAreWrites(t *testing.T) {
	t.Parallel()
	e := effect("Pod", object{})
	e.Patch = value.NewMap([]string{"metadata"}, []value.Value{value.NewMap([]string{"finalizers"}, []value.Value{value.Null})})
	if err := check(&Guard{}, "p", e); err == nil {
		t.Error("a policy may remove finalizers")
	}
}

// TestRemovalsOfWhatHolds: null takes away all that is below a field, protected fields
// too; an empty value takes nothing away.
func TestRemovalsOfWhatHolds(t *testing.T) {
	t.Parallel()
	for kind, paths := range map[string][]string{
		"Namespace":  {"metadata", "metadata.labels", "metadata.annotations"},
		"Node":       {"spec", "status", "metadata.labels"},
		"Service":    {"spec", "status"},
		"Deployment": {"spec.template.metadata.annotations", "spec.template.metadata", "spec.template", "spec.template.spec"},
		"Widget":     {"metadata.labels", "spec.template.metadata.annotations", "spec.worker.template", "spec.worker.template.spec"},
	} {
		for _, path := range paths {
			want := "the policy p may not write " + path + " of " + kind + "; the installation can allow it: {policy: p, "
			if err := check(&Guard{}, "p", removal(kind, path)); err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%s of %s is removed: %v", path, kind, err)
			}
			if err := check(&Guard{}, "p", effect(kind, nested(path, object{}))); err != nil {
				t.Errorf("%s of %s is empty: %v", path, kind, err)
			}
			e := removal(kind, path)
			if e.Verb = eval.VerbApply; check(&Guard{}, "p", e) != nil {
				t.Errorf("%s of %s is not applied: %v", path, kind, check(&Guard{}, "p", e))
			}
			allowed := &Guard{Allowed: []Allowance{{Policy: "p", AnyGroup: true, Kind: kind, Field: path}}}
			if err := check(allowed, "p", removal(kind, path)); err != nil {
				t.Errorf("%s of %s is allowed: %v", path, kind, err)
			}
		}
	}
	for kind, path := range map[string]string{"Widget": "spec", "ConfigMap": "data"} {
		if err := check(&Guard{}, "p", removal(kind, path)); err != nil {
			t.Errorf("%s of %s: %v", path, kind, err)
		}
	}
}

// removal is a patch that removes a field.
func removal(kind, path string) *eval.Effect {
	e, v := effect(kind, object{}), value.Null
	names := strings.Split(path, ".")
	for i := range names {
		v = value.NewMap(names[len(names)-1-i:len(names)-i], []value.Value{v})
	}
	e.Patch, _ = v.(*value.Map)
	return e
}

func TestProtectedKinds(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{
		"Secret", "ServiceAccount", "Role", "ClusterRole", "RoleBinding", "ClusterRoleBinding", "CustomResourceDefinition", "APIService",
		"ValidatingWebhookConfiguration", "MutatingAdmissionPolicy", "CertificateSigningRequest", "StorageClass", "CSIDriver", "PersistentVolume",
		"Endpoints", "EndpointSlice", "Lease", "PriorityClass", "ControllerRevision", "ClusterIssuer", "ClusterPolicy",
	} {
		e := effect(kind, nested("metadata.labels.a", "b"))
		want := "the policy p may not write metadata.labels.a of " + kind + ", a kind that is not open to policies; the installation can allow it: {policy: p, "
		if err := check(&Guard{}, "p", e); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", kind, err)
		}
		e.Verb = eval.VerbApply
		if err := check(&Guard{}, "p", e); err == nil || !strings.Contains(err.Error(), "may not create objects of kind "+kind+", a kind") {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// TestConfigurationOfTheCluster: ConfigMaps that say whom the parts of the cluster believe
// are closed, whatever was written to others before; an allowance opens them.
func TestConfigurationOfTheCluster(t *testing.T) {
	t.Parallel()
	at := func(verb, kind, namespace, name string) *eval.Effect {
		e := effect(kind, nested("data.mapRoles", "x"))
		e.Verb, e.Target = verb, world.MustIdentify(gvk(kind), namespace, name)
		return e
	}
	g := (&Guard{}).Of(&plan.Policy{Name: "p"})
	for _, e := range []*eval.Effect{
		at(eval.VerbPatch, "ConfigMap", "work", "aws-auth"), at(eval.VerbApply, "ConfigMap", "work", "a"), at(eval.VerbPatch, "Pod", "kube-system", "a"),
		at(eval.VerbPatch, "Widget", "kube-system", "kube-root-ca.crt"),
	} {
		if _, err := g.Judge(e); err != nil {
			t.Errorf("%v: %v", e.Target, err)
		}
	}
	for _, place := range [][2]string{{"kube-system", "aws-auth"}, {"kube-public", "cluster-info"}, {"work", "kube-root-ca.crt"}} {
		for verb, want := range map[string]string{eval.VerbPatch: "write data.mapRoles of ConfigMap", eval.VerbApply: "create ConfigMap", eval.VerbCreate: "create ConfigMap"} {
			want += "s that configure the cluster (those in kube-system and kube-public, and kube-root-ca.crt); the installation can allow it"
			if verb == eval.VerbPatch && place[1] == "kube-root-ca.crt" {
				want = "ConfigMap work/kube-root-ca.crt: it is left alone, for Kubernetes itself keeps it"
			}
			if _, err := g.Judge(at(verb, "ConfigMap", place[0], place[1])); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s of %v: %v, want %q", verb, place, err, want)
			}
		}
		allowed := &Guard{Allowed: []Allowance{{Policy: "p", Kind: "ConfigMap", Field: "data"}, {Policy: "p", Kind: "ConfigMap", Field: "create"}}}
		if err := check(allowed, "p", at(eval.VerbApply, "ConfigMap", place[0], place[1])); err != nil {
			t.Error(err)
		}
	}
}

// TestTheDigestIsFree: the annotation with what a policy has applied needs no allowance,
// where the engine writes it.
func TestTheDigestIsFree(t *testing.T) {
	t.Parallel()
	g := &Guard{Allowed: []Allowance{{Policy: "p", Kind: "Secret", Field: "create"}}}
	for name, tc := range map[string]struct {
		verb, annotation string
		allowed          bool
	}{
		"its own":           {eval.VerbApply, plan.AppliedKey("p"), true},
		"that of another":   {eval.VerbApply, plan.AppliedKey("q"), false},
		"by another action": {eval.VerbPatch, plan.AppliedKey("p"), false},
	} {
		e := effect("Secret", object{"metadata": object{"annotations": object{tc.annotation: "x"}}})
		e.Verb = tc.verb
		if err := check(g, "p", e); (err == nil) != tc.allowed {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestEventsAreFree: they change nothing of the object they are about.
func TestEventsAreFree(t *testing.T) {
	t.Parallel()
	e := effect("Secret", object{"reason": "A"})
	e.Verb = eval.VerbEvent
	if err := check(&Guard{}, "p", e); err != nil {
		t.Error(err)
	}
}

// TestAllowances open one thing for one policy, and nothing else.
func TestAllowances(t *testing.T) {
	t.Parallel()
	g := &Guard{Allowed: []Allowance{
		{Policy: "p", Kind: "Secret", Field: "*"},
		{Policy: "p", Kind: "Pod", Field: "metadata.finalizers"},
		{Policy: "p", Kind: "Pod", Field: "spec.containers"},
		{Policy: "p", Kind: "Pod", Field: "spec"},
		{Policy: "q", Group: "apps", Kind: "Deployment", Field: "*", Namespaces: []string{"n"}},
		{Policy: "q", AnyGroup: true, Kind: "Role", Field: "rules"},
		{Policy: "q", Group: "example.com", Kind: "Lease", Field: "*"},
		{Policy: "k", Kind: "Node", Field: "metadata.labels.app"},
		{Policy: "k", Kind: "Node", Field: "metadata.labels.example.com/*"},
		{Policy: "k", Kind: "Node", Field: "metadata.annotations"},
	}}
	for name, tc := range map[string]struct {
		policy, kind, path string
		allowed            bool
	}{
		"a kind":                      {"p", "Secret", "data.a", true},
		"another policy":              {"q", "Secret", "data.a", false},
		"another kind":                {"p", "Role", "rules", false},
		"a field":                     {"p", "Pod", "metadata.finalizers", true},
		"another field":               {"p", "Pod", "metadata.ownerReferences", false},
		"a field of another kind":     {"p", "Node", "metadata.finalizers", false},
		"what runs, below a field":    {"p", "Pod", "spec.containers[].image", true},
		"rights are named themselves": {"p", "Pod", "spec.containers[].securityContext.privileged", false},
		"rights below a field":        {"p", "Pod", "spec.hostPID", false},
		"all fields of a kind":        {"q", "Deployment", "spec.template.spec.hostNetwork", true},
		"a field of a closed kind":    {"q", "Role", "rules[].verbs[]", true},
		"only that field":             {"q", "Role", "metadata.labels.a", false},
		"another policy's one":        {"q", "Pod", "metadata.finalizers", false},
		"a kind opens its fields":     {"p", "Secret", "metadata.finalizers", true},
		"a key":                       {"k", "Node", "metadata.labels.app", true},
		"a key that begins like one":  {"k", "Node", "metadata.labels.app\\.kubernetes\\.io/name", false},
		"a key of a domain":           {"k", "Node", "metadata.labels.example\\.com/a", true},
		"of a domain below it":        {"k", "Node", "metadata.labels.a\\.example\\.com/a", false},
		"any key":                     {"k", "Node", "metadata.annotations.a/b", true},
		"what was never protected":    {"q", "ConfigMap", "metadata.labels.a", true},
		"a kind of another group":     {"q", "Lease", "spec.holderIdentity", false},
		"a policy that is not ours":   {"", "Secret", "data.a", false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := effect(tc.kind, nested(tc.path, "x"))
			e.Target = world.MustIdentify(gvk(tc.kind), "n", "a")
			if err := check(g, tc.policy, e); (err == nil) != tc.allowed {
				t.Errorf("got %v", err)
			}
			e.Target = world.MustIdentify(gvk(tc.kind), "m", "a")
			err := check(g, tc.policy, e)
			if tc.kind == "Deployment" && (err == nil || !strings.Contains(err.Error(), " in the namespace m, only in n; the installation can allow it: ")) {
				t.Errorf("an allowance for one namespace, in another: %v", err)
			}
		})
	}
}

// TestAdd: an allowance holds for the policy of its set, and not for one of the same name in another
// set or in a file.
func TestAdd(t *testing.T) {
	t.Parallel()
	open := v1alpha1.Allowance{Policy: text("p"), ForKind: text("Pod"), Fields: []v1alpha1.Text{text("spec.hostPID"), text("spec.hostIPC")}, Namespaces: []v1alpha1.Text{text("n")}}
	for name, tc := range map[string]struct {
		of      string // the set of the allowance
		policy  plan.Policy
		allowed bool
	}{
		"a file":                {"", plan.Policy{Name: "p"}, true},
		"another file's policy": {"", plan.Policy{Name: "q"}, false},
		"a set":                 {"s", plan.Policy{Set: "s", Name: "p"}, true},
		"another policy of it":  {"s", plan.Policy{Set: "s", Name: "q"}, false},
		"another set":           {"s", plan.Policy{Set: "t", Name: "p"}, false},
		"a set's, for a file's": {"s", plan.Policy{Name: "p"}, false},
		"a file's, for a set's": {"", plan.Policy{Set: "s", Name: "p"}, false},
		"one that it shadows":   {"s", plan.Policy{Set: "t", ShadowOf: "s", Name: "p"}, false},
	} {
		for _, pinned := range []bool{true, false} {
			var g Guard
			g.Add(tc.of, pinned, []v1alpha1.Allowance{open})
			for _, field := range []string{"spec.hostPID", "spec.hostIPC"} {
				e := effect("Pod", nested(field, true))
				e.Target = world.MustIdentify(gvk("Pod"), "n", "a")
				if _, err := g.Of(&tc.policy).Judge(e); (err == nil) != tc.allowed {
					t.Errorf("%s, pinned %v, %s: %v", name, pinned, field, err)
				}
				e.Target = world.MustIdentify(gvk("Pod"), "m", "a")
				if _, err := g.Of(&tc.policy).Judge(e); err == nil {
					t.Errorf("%s: it is open in another namespace", name)
				}
			}
		}
	}
}

// TestPinnedSetsCloseFields: what a policy of a pinned set obeys is written by a policy of a set that
// is pinned and has an allowance, and by no other.
func TestPinnedSetsCloseFields(t *testing.T) {
	t.Parallel()
	obeys := v1alpha1.Allowance{Policy: text("p"), APIGroup: text("example.com"), ForKind: text("Widget"), Obeys: []v1alpha1.Text{text("spec.image")}}
	writes := v1alpha1.Allowance{Policy: text("w"), APIGroup: text("example.com"), ForKind: text("Widget"), Fields: []v1alpha1.Text{text("spec.image")}}
	for name, tc := range map[string]struct {
		obeying, writing bool // are pinned
		allow            []v1alpha1.Allowance
		field            string
		allowed          bool
	}{
		"not pinned":                   {false, false, nil, "spec.image", true},
		"pinned":                       {true, false, nil, "spec.image", false},
		"another field":                {true, false, nil, "spec.size", true},
		"with an allowance":            {true, false, []v1alpha1.Allowance{writes}, "spec.image", false},
		"pinned, without an allowance": {true, true, nil, "spec.image", false},
		"pinned, with an allowance":    {true, true, []v1alpha1.Allowance{writes}, "spec.image", true},
		"what holds it":                {true, false, nil, "spec", false},
	} {
		g := Guard{}
		g.Add("s", tc.obeying, []v1alpha1.Allowance{obeys})
		g.Add("t", tc.writing, tc.allow)
		e := effect("Widget", nested(tc.field, "x"))
		if tc.field == "spec" {
			e = removal("Widget", tc.field)
		}
		_, err := g.Of(&plan.Policy{Set: "t", Name: "w"}).Judge(e)
		if (err == nil) != tc.allowed || err != nil && !strings.Contains(err.Error(), "the policy t/w may not write "+tc.field+" of Widget, which the pinned policy s/p obeys") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// text is one as it stands in a document.
func text(t string) v1alpha1.Text {
	return v1alpha1.Text{Value: t, Node: document.NewText(document.Position{}, t)}
}

// TestAssuming: simulations and tests take what runs in Pods as allowed, and
// nothing that gives rights.
func TestAssuming(t *testing.T) {
	t.Parallel()
	g := Guard{}.Assuming()
	if err := check(&g, "p", effect("Pod", nested("spec.containers[].image", "x"))); err != nil {
		t.Error(err)
	}
	for _, path := range []string{"spec.hostNetwork", "spec.volumes[].hostPath.path", "metadata.finalizers"} {
		if err := check(&g, "p", effect("Pod", nested(path, "x"))); err == nil {
			t.Errorf("%s is open", path)
		}
	}
}
