package watch_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/eval"
)

// scoped has inputs of the namespace of the key by every route, and one of the cluster.
const scoped = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: example.com/v1, kind: Widget}
  inputs:
    - {name: joined, apiVersion: example.com/v1, kind: Joined, where: item.spec.owner == key.name}
    - {name: rest, apiVersion: example.com/v1, kind: Rest, where: item.spec.size > object.spec.size}
    - {name: entries, apiVersion: example.com/v1, kind: Entry, keyBy: item.metadata.name}
    - {name: whole, apiVersion: example.com/v1, kind: Whole}
    - {name: every, apiVersion: example.com/v1, kind: Every, within: cluster}
  rules:
    - name: all
      do:
        - log: {message: "${string(size(inputs.joined))} ${string(size(inputs.rest))} ${inputs.entries[object.spec.entry].spec.text} ${string(size(inputs.whole))} ${string(size(inputs.every))}"}
`

// TestChangeInANamespace: an object wakes keys of its own namespace, if the input is
// not of the cluster. Kinds without a schema may have no namespace: those of one are
// everywhere.
func TestChangeInANamespace(t *testing.T) {
	t.Parallel()
	r := newRoutedOf(t, scoped)
	for _, key := range []eval.Key{{Namespace: "a", Name: "w"}, {Namespace: "b", Name: "w"}, {Namespace: "b", Name: "v"}, {Name: "w"}} {
		namespace := ""
		if key.Namespace != "" {
			namespace = ", namespace: " + key.Namespace
		}
		r.change("", fmt.Sprintf("{kind: Widget, metadata: {name: %s%s}, spec: {size: 0, entry: e}}", key.Name, namespace))
		r.router.Looked(key, []eval.Lookup{{Input: 2, Key: "e"}, {Input: 3, Whole: true}, {Input: 4, Whole: true}})
	}
	in := func(kind, namespace, spec string) string {
		return fmt.Sprintf("{kind: %s, metadata: {name: e%s}, spec: {%s}}", kind, namespace, spec)
	}
	const a, b, none = ", namespace: a", ", namespace: b", ""
	got, want := map[string]string{}, map[string]string{}
	for name, tc := range map[string]struct{ before, after, want string }{
		"joined in a":         {"", in("Joined", a, "owner: w"), "w a/w"},
		"joined in b":         {in("Joined", b, "owner: w"), in("Joined", b, "owner: v"), "w b/v b/w"},
		"joined in another":   {"", in("Joined", ", namespace: c", "owner: v"), ""},
		"joined, cluster":     {"", in("Joined", none, "owner: w"), "w a/w b/w"},
		"by namespace in a":   {"", in("Rest", a, "size: 1"), "w a/w"},
		"by namespace in b":   {in("Rest", b, "size: 1"), "", "w b/v b/w"},
		"not a member":        {"", in("Rest", b, "size: 0"), ""},
		"an entry in a":       {"", in("Entry", a, "text: x"), "w a/w"},
		"an entry in b":       {in("Entry", b, "text: x"), in("Entry", b, "text: y"), "w b/v b/w"},
		"an entry of nowhere": {"", in("Entry", none, "text: x"), "w a/w b/v b/w"},
		"whole in a":          {"", in("Whole", a, ""), "w a/w"},
		"whole in another":    {"", in("Whole", ", namespace: c", ""), "w"},
		"of the cluster in a": {"", in("Every", a, ""), "w a/w b/v b/w"},
	} {
		got[name], want[name] = r.change(tc.before, tc.after), tc.want
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
	r.router.Looked(eval.Key{Namespace: "a", Name: "w"}, []eval.Lookup{{Input: 3, Whole: true, Ended: true}})
	if got := r.change("", in("Whole", a, "")); got != "w" {
		t.Errorf("a key that reads the list no more: %s are woken", got)
	}
}
