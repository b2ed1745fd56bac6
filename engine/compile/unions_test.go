package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/document"
	"github.com/edict-dev/edict/engine/plan"
)

const workloads = "kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: apps/v1, kind: StatefulSet}, {apiVersion: apps/v1, kind: DaemonSet}]"

// TestKinds: what is wrong with an input of several kinds is reported once, where it is
// written; what the kinds share can be read and written.
func TestKinds(t *testing.T) {
	t.Parallel()
	in := func(fields string) string { return "  inputs: [{name: w, " + fields + "}]\n" }
	use := func(expression string) string {
		return "  rules: [{name: r, when: '" + expression + "', do: [{labels: {set: {a: b}}}]}]\n"
	}
	each := func(action string) string {
		return "  rules: [{name: r, forEach: inputs.w, as: w, do: [" + action + "]}]\n"
	}
	for name, tc := range map[string]struct{ spec, want, hint string }{
		"a list":                          {in(workloads) + use("inputs.w.exists(w, w.kind == \"Deployment\" && w.apiVersion == \"apps/v1\" && w.metadata.name == key.name)"), "", ""},
		"what they share":                 {in(workloads) + use("inputs.w.exists(w, w.spec.template.spec.containers.exists(c, c.image == \"x\"))"), "", ""},
		"a map":                           {in(workloads+", keyBy: item.metadata.name") + use("\"a\" in inputs.w && inputs.w[\"a\"].kind == \"Deployment\""), "", ""},
		"groups in an order":              {in(workloads+", groupBy: item.metadata.namespace, orderBy: [item.metadata.name]") + use("size(inputs.w[?\"a\"].orValue([])) > 1"), "", ""},
		"a where":                         {in(workloads+", where: 'item.spec.template.metadata.labels[\"a\"] == key.name'") + use("size(inputs.w) > 0"), "", ""},
		"one of them":                     {in(workloads) + use("size(inputs.w.Deployment) > 0"), "", ""},
		"a variable of the same name":     {in(workloads) + "  variables: [{name: w, expression: size(inputs.w)}]\n" + use("variables.w > 0"), "", ""},
		"of two groups":                   {in("kinds: [{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy}, {apiVersion: example.com/v1, kind: NetworkPolicy}]") + use("size(inputs.w) > 0"), "no schema is known for example.com/v1 NetworkPolicy", ""},
		"labels of each":                  {in(workloads) + each("{labels: {of: w, set: {a: b}}}"), "", ""},
		"fields of each":                  {in(workloads) + each("{patch: {of: w, value: {spec: {template: {metadata: {annotations: {a: b}}}}}}}"), "", ""},
		"a field that one lacks":          {in(workloads) + use("inputs.w.exists(w, w.spec.replicas > 1)"), `no field "replicas" here`, "DaemonSet has no such field"},
		"a field that two lack":           {in(workloads) + use("inputs.w.exists(w, w.spec.paused)"), `no field "paused" here`, "StatefulSet and DaemonSet have no such field"},
		"one in where":                    {in(workloads+", where: item.spec.replicas == 1") + use("size(inputs.w) > 0"), `no field "replicas" here`, "DaemonSet has no such field"},
		"one in keyBy":                    {in(workloads+", keyBy: item.spec.serviceName") + use("size(inputs.w) > 0"), `no field "serviceName" here`, "Deployment and DaemonSet have no such field"},
		"a field that none has":           {in(workloads) + use("inputs.w.exists(w, w.spec.templat == dyn(1))"), `no field "templat" here`, `did you mean "template"?`},
		"a field of another type":         {in("kinds: [{apiVersion: v1, kind: ConfigMap}, {apiVersion: v1, kind: Secret}, {apiVersion: apps/v1, kind: ControllerRevision}]") + use("inputs.w.exists(w, w.immutable)"), `no field "immutable" here`, "ControllerRevision has no such field"},
		"a field that differs":            {in("kinds: [{apiVersion: apps/v1, kind: Deployment}, {apiVersion: v1, kind: ReplicationController}]") + use("inputs.w.exists(w, w.spec.selector == dyn(1))"), `no field "selector" here`, "its types differ between Deployment and ReplicationController"},
		"a written field that one lacks":  {in(workloads) + each("{patch: {of: w, value: {spec: {replicas: 1}}}}"), `has no field "replicas"`, "DaemonSet has no such field"},
		"a condition that one lacks":      {in("kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: ConfigMap}]") + each("{condition: {of: w, type: A, status: \"True\", reason: R}}"), "the kind has no status.conditions", ""},
		"get":                             {in(workloads+", get: key.name") + use("true"), "has get", "an input of one kind"},
		"a kind beside them":              {in(workloads+", apiVersion: v1, kind: Pod") + use("true"), "has kinds, and a kind", "leave out"},
		"none":                            {in("kinds: []") + use("true"), "needs apiVersion and kind, or kinds", ""},
		"one":                             {in("kinds: [{apiVersion: v1, kind: Pod}]") + use("true"), "are fewer than two", "kinds: ["},
		"one twice":                       {in("kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Pod}]") + use("true"), "has the kind Pod twice", "leave it out"},
		"one without apiVersion":          {in("kinds: [{kind: Pod}, {apiVersion: v1, kind: ConfigMap}]") + use("true"), "needs apiVersion and kind", "such as {apiVersion"},
		"a kind that is none":             {in("kinds: [{apiVersion: apps/v1, kind: Deploymnet}, {apiVersion: v1, kind: ConfigMap}]") + use("true"), `apps/v1 has no kind "Deploymnet"`, "did you mean"},
		"a name twice":                    {"  inputs: [{name: w, apiVersion: v1, kind: Pod}, {name: w, " + workloads + "}]\n" + use("true"), `duplicate input "w"`, ""},
		"a name that is none":             {"  inputs: [{name: in, " + workloads + "}]\n" + use("true"), `"in"`, ""},
		"within of a cluster-scoped kind": {in("kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: Node}], namespace: '\"a\"'") + use("true"), "a Node belongs to no namespace", "leave it out"},
		"read by another input":           {"  inputs: [{name: w, " + workloads + "}, {name: p, apiVersion: v1, kind: Pod, where: 'inputs.w.exists(w, w.metadata.name == item.metadata.name)'}]\n" + use("size(inputs.p) > 0"), "reads inputs.w", "a join may read"},
		"read by itself":                  {in(workloads+", where: 'inputs.w.exists(w, w.metadata.name == item.metadata.name)'") + use("true"), "reads inputs.w", "a join may read"},
		"keyBy and groupBy":               {in(workloads+", keyBy: item.metadata.name, groupBy: item.metadata.name") + use("true"), "has keyBy and groupBy", "keyBy gives"},
		"not used":                        {in(workloads) + use("true"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := compiled(t, header+tc.spec, PolicyOptions{})
			var list []document.Problem
			for _, p := range problems {
				if p.Severity != document.Note && !strings.Contains(p.Message, "undefined name") {
					list = append(list, p)
				}
			}
			switch {
			case tc.want == "" && len(list) == 0:
			case len(list) != 1 || tc.want == "" || !strings.Contains(list[0].Message, tc.want) || !strings.Contains(list[0].Hint, tc.hint) || list[0].Line < 6:
				t.Errorf("got %v, want %q with the hint %q", list, tc.want, tc.hint)
			}
		})
	}
}

// TestKindsNeed: permissions are those for each kind.
func TestKindsNeed(t *testing.T) {
	t.Parallel()
	p, problems := compiled(t, header+"  inputs: [{name: w, "+workloads+", where: item.metadata.name == key.name}]\n  rules: [{name: r, forEach: inputs.w, as: w, do: [{labels: {of: w, set: {a: b}}}]}]\n", PolicyOptions{})
	if p == nil {
		t.Fatal(problems)
	}
	got := map[string]string{}
	for _, a := range p.Accesses(plan.InForce) {
		got[a.Kind] += a.Verb + " "
	}
	const all = "get list patch watch "
	want := map[string]string{"Node": "get list watch ", "Deployment": all, "StatefulSet": all, "DaemonSet": all}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, in := range p.Inputs {
		if in.Written() != "w" || in.Index == "" || !in.Join.Exact {
			t.Errorf("%s of %s: index %q", in.Name, in.Written(), in.Index)
		}
	}
}
