package check_test

import (
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/selector"
	"github.com/edict-dev/edict/engine/value"
)

// shardA returns the selector of an installation that decides about a part of the objects.
func shardA(t *testing.T) *selector.Selector {
	t.Helper()
	s, err := selector.Parse(value.OfString("shard=a"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestDividedWrites: objects that belong to one primary object are written by one
// installation, others may be written by several.
func TestDividedWrites(t *testing.T) {
	t.Parallel()
	const head = "apiVersion: edict.dev/v1alpha1\nkind: Policy\nmetadata: {name: p}\nspec:\n  for: {apiVersion: v1, kind: ConfigMap}\n"
	mark := func(input, of string) string {
		return "  inputs: [{name: pods, apiVersion: v1, kind: Pod, " + input + "}]\n  rules: [{name: r, " + of + "}]\n"
	}
	each := "forEach: inputs.pods, as: pod, do: [{labels: {of: pod, set: {a: b}}}]"
	for name, tc := range map[string]struct {
		text  string
		found bool
	}{
		"pods that are named alike":   {mark(`where: item.metadata.name.startsWith("x")`, each), true},
		"pods of a field":             {mark("where: item.spec.nodeName == key.name", each), false},
		"pods of a field of the name": {mark("where: item.spec.nodeName != \"\" && object.metadata.name == item.spec.nodeName", each), false},
		"pods of one of two names":    {mark("where: item.spec.nodeName == key.name || item.metadata.name == key.name", each), true},
		"pods that it owns":           {mark("where: item.metadata.?ownerReferences.orValue([]).exists(o, o.uid == object.metadata.uid)", each), false},
		"a pod of its name":           {mark("get: key.name", "when: inputs.pods != null, do: [{labels: {of: inputs.pods, set: {a: b}}}]"), false},
		"a pod that it names":         {mark("get: object.data.pod", "when: inputs.pods != null, do: [{labels: {of: inputs.pods, set: {a: b}}}]"), true},
		"itself":                      {"  rules: [{name: r, do: [{labels: {set: {a: b}}}]}]\n", false},
		"an object of its name":       {"  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: Secret, metadata: {name: \"${key.name}\"}}}]}]\n", false},
		"an object of one name":       {"  rules: [{name: r, do: [{apply: {apiVersion: v1, kind: ConfigMap, metadata: {namespace: x, name: one}, data: {a: b}}}]}]\n", true},
		"a child":                     {"  children: [{name: c, apply: {apiVersion: v1, kind: Secret, metadata: {name: \"${key.name}\"}}}]\n", false},
		"accepted":                    {strings.Replace(mark(`where: item.metadata.name.startsWith("x")`, each), "  rules:", "  # edict:accept divided-write one installation has all of them\n  rules:", 1), false},
		"in Shadow mode":              {"  mode: Shadow\n" + mark(`where: item.metadata.name.startsWith("x")`, each), false},
	} {
		text := head + tc.text
		got := strings.Join(foundFor(t, shardA(t), text), "\n")
		if strings.Contains(got, "divided-write") != tc.found {
			t.Errorf("%s: %s", name, got)
		}
		for _, everything := range []*selector.Selector{nil, selector.Everything} {
			if got := strings.Join(foundFor(t, everything, text), "\n"); strings.Contains(got, "divided-write") || strings.Contains(got, "acceptance") {
				t.Errorf("%s, without a selector: %s", name, got)
			}
		}
	}
}
