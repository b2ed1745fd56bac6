package check_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"
)

// TestUnownedSource: a protected field gets a value of objects that every user may make, and
// no expression on the way compares the uid of their controller.
func TestUnownedSource(t *testing.T) {
	t.Parallel()
	const (
		owner = `.?ownerReferences.orValue([]).exists(o, o.uid == object.metadata.uid && o.?controller.orValue(false))`
		pods  = "  inputs: [{name: list, apiVersion: v1, kind: Pod}]\n"
		each  = "      forEach: inputs.list\n      as: one\n"
		image = "${one.metadata.annotations.image}"
	)
	where := func(kind, rest, condition string) string {
		return "  inputs: [{name: list, " + kind + rest + ", where: '" + condition + "'}]\n"
	}
	for name, tc := range map[string]struct {
		inputs, rule, image string
		found               bool
		do                  string
	}{
		"all Pods":                  {pods, each, image, true, ""},
		"those with a label":        {where("apiVersion: v1, kind: Pod", "", `item.metadata.labels["of"] == key.name`), each, image, true, ""},
		"ConfigMaps":                {"  inputs: [{name: list, apiVersion: v1, kind: ConfigMap}]\n", each, "${one.data.image}", true, ""},
		"one ConfigMap":             {"  inputs: [{name: one, apiVersion: v1, kind: ConfigMap, get: '{\"namespace\": key.name, \"name\": \"images\"}'}]\n", "", "${inputs.one.data.image}", true, ""},
		"through a variable":        {pods + "  variables: [{name: images, expression: 'inputs.list.map(p, p.spec.nodeName)'}]\n", "", "${variables.images[0]}", true, ""},
		"owners without the uid":    {where("apiVersion: v1, kind: Pod", "", strings.Replace("item.metadata"+owner, "o.uid == object.metadata.uid", `o.name == key.name`, 1)), each, image, true, ""},
		"any owner":                 {where("apiVersion: v1, kind: Pod", "", `item.metadata.ownerReferences.exists(o, o.uid == object.metadata.uid)`), each, image, true, ""},
		"the rule of another input": {pods[:len(pods)-2] + ", {name: other, apiVersion: v1, kind: Pod}]\n", "      forEach: inputs.other.filter(p, p.metadata" + owner + ")\n      as: one\n", "${inputs.list[0].spec.nodeName}", true, ""},
		"compared":                  {where("apiVersion: v1, kind: Pod", "", "item.metadata"+owner), each, image, false, ""},
		"compared in forEach":       {pods, strings.Replace(each, "inputs.list", "inputs.list.filter(p, p.metadata"+owner+")", 1), image, false, ""},
		"compared in when":          {pods, each + "      when: one.metadata" + owner + "\n", image, false, ""},
		"compared in a variable":    {pods + "  variables: [{name: mine, expression: 'inputs.list.filter(p, p.metadata" + owner + ")'}]\n", strings.Replace(each, "inputs.list", "variables.mine", 1), image, false, ""},
		"a namespace that is given": {"  inputs: [{name: list, apiVersion: v1, kind: Pod, namespace: '\"trusted\"'}]\n", each, image, false, ""},
		"one of a given namespace":  {"  inputs: [{name: one, apiVersion: v1, kind: ConfigMap, get: '{\"namespace\": \"trusted\", \"name\": \"images\"}'}]\n", "", "${inputs.one.data.image}", false, ""},
		"a namespace of a param":    {"  params: {trusted: apps}\n  inputs: [{name: list, apiVersion: v1, kind: Pod, namespace: params.trusted}]\n", each, image, false, ""},
		"of the object itself":      {pods, each, "", false, "patch: {of: one, value: {spec: {serviceAccountName: '${one.metadata.labels.of}'}}}"},
		"of another of the list":    {pods, each, "", true, "patch: {of: one, value: {spec: {serviceAccountName: '${inputs.list[0].metadata.labels.of}'}}}"},
		"which object is deleted":   {pods, each, "", true, `delete: {of: {apiVersion: v1, kind: Pod, namespace: a, name: '${one.metadata.labels["of"]}'}}`},
		"nothing but an owner is protected": {pods, each, "", false, "create: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: b, ownerReferences: " +
			"[{apiVersion: v1, kind: Node, name: '${key.name}', uid: '${object.metadata.uid}'}]}, data: {address: '${one.status.podIP}'}}"},
		"a kind that is not open": {pods, each, "", true, "create: {apiVersion: rbac.authorization.k8s.io/v1, kind: RoleBinding, metadata: {namespace: a, name: b, ownerReferences: " +
			"[{apiVersion: v1, kind: Node, name: '${key.name}', uid: '${object.metadata.uid}'}]}, roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: view}, subjects: [{kind: User, name: '${one.metadata.labels.user}'}]}"},
		"a kind without namespaces":    {"  inputs: [{name: list, apiVersion: v1, kind: Namespace}]\n", each, image, false, ""},
		"a custom kind":                {"  inputs: [{name: list, apiVersion: example.com/v1, kind: Image}]\n", each, image, false, ""},
		"the primary object":           {"", "", "${object.metadata.annotations.image}", false, ""},
		"only whether it is written":   {pods, each + "      when: one.metadata.annotations.image != \"\"\n", "x", false, ""},
		"only which of two is written": {pods, each, `${one.metadata.annotations.image == "x" ? "x" : "y"}`, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			do := cmp.Or(tc.do, `create: {apiVersion: v1, kind: Pod, metadata: {namespace: a, name: b}, spec: {containers: [{name: c, image: '`+tc.image+`'}]}}`)
			text := forNodes + tc.inputs + "  rules:\n    - name: run\n" + tc.rule + "      do:\n        - " + do + "\n"
			list := found(t, text)
			if i := slices.IndexFunc(list, func(f string) bool { return strings.HasSuffix(f, " invalid") }); i >= 0 {
				t.Fatal(list)
			}
			if got := slices.ContainsFunc(list, func(f string) bool { return strings.HasSuffix(f, " unowned-source") }); got != tc.found {
				t.Errorf("found %v: %v\n%s", got, list, text)
			}
		})
	}
}
