package snapshot_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/snapshot"
	"github.com/edict-dev/edict/test/fixture"
)

const text = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: count}
spec:
  for: {apiVersion: v1, kind: Node, selector: "pool=a"}
  inputs:
    - {name: keys, apiVersion: v1, kind: Secret, namespace: '"home"'}
  variables:
    - {name: sum, expression: 'inputs.keys.map(s, s.?data.key.orValue("")).join()'}
  rules:
    - {name: mark, do: [{annotations: {set: {sum: "${variables.sum}", cordoned: "${string(object.?spec.unschedulable.orValue(false))}"}}}]}
`

func policies(t *testing.T) []*plan.Policy {
	t.Helper()
	return fixture.Compiled(t, text).Policies
}

func objects(t *testing.T, texts ...string) (out []snapshot.Object) {
	t.Helper()
	return fixture.Objects(t, texts...)
}

const (
	node   = `{apiVersion: v1, kind: Node, metadata: {name: a, resourceVersion: "7", labels: {pool: a, rack: r1}, annotations: {sum: old, other: x}}, spec: {unschedulable: true, podCIDR: 10.0.0.0/8}, status: {phase: Running}}`
	other  = `{apiVersion: v1, kind: Node, metadata: {name: b, labels: {pool: b}}}`
	secret = `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: home}, data: {key: c2VjcmV0, more: bW9yZQ==}}`
	pod    = `{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: home}}`
)

func take(t *testing.T, list []snapshot.Object) []snapshot.Object {
	t.Helper()
	reads, err := snapshot.New(policies(t))
	if err != nil {
		t.Fatal(err)
	}
	return reads.Take(list)
}

// TestTake: of the objects that are read, identity and the fields that are read,
// in one order, and digests in place of the values of Secrets.
func TestTake(t *testing.T) {
	t.Parallel()
	kept := take(t, objects(t, secret, pod, other, node))
	digest := kept[1]["data"].(map[string]any)["key"]
	want := objects(t,
		`{apiVersion: v1, kind: Node, metadata: {name: a, labels: {pool: a, rack: r1}, annotations: {sum: old}}, spec: {unschedulable: true}}`,
		`{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: home, annotations: {edict.dev/digests: "true"}}, data: {}}`)
	want[1]["data"] = map[string]any{"key": digest}
	if diff := cmp.Diff(want, kept); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if s, _ := digest.(string); s == "" || s == "c2VjcmV0" {
		t.Errorf("the value is kept as %q", s)
	}
	again := strings.Replace(node, `"7"`, `"8"`, 1)
	if diff := cmp.Diff(kept, take(t, objects(t, again, secret))); diff != "" {
		t.Errorf("the order of objects, or fields that nobody reads, change the snapshot:\n%s", diff)
	}
	if diff := cmp.Diff(kept, take(t, kept)); diff != "" {
		t.Errorf("the snapshot of a snapshot differs:\n%s", diff)
	}
}

// TestMarkedInTheCluster: of a Secret that an API server has listed there are digests,
// also if somebody has marked it as one of a snapshot.
func TestMarkedInTheCluster(t *testing.T) {
	t.Parallel()
	reads, err := snapshot.New(policies(t))
	if err != nil {
		t.Fatal(err)
	}
	marked := strings.Replace(secret, "namespace: home}", `namespace: home, annotations: {edict.dev/digests: "true"}}`, 1)
	once := reads.TakeListed(objects(t, marked))
	if d := cmp.Diff(reads.Take(objects(t, secret)), once); d != "" {
		t.Errorf("a marked Secret is another one (-want +got):\n%s", d)
	}
	if d := cmp.Diff(once, reads.Take(once)); d != "" {
		t.Errorf("a snapshot of a snapshot (-want +got):\n%s", d)
	}
}

// TestStringData: a manifest that writes the values of a Secret in stringData gives the
// snapshot of the Secret that the API server makes of it.
func TestStringData(t *testing.T) {
	t.Parallel()
	written := `{apiVersion: v1, kind: Secret, metadata: {name: s, namespace: home}, data: {key: b3RoZXI=, more: bW9yZQ==}, stringData: {key: secret}}`
	if d := cmp.Diff(take(t, objects(t, secret)), take(t, objects(t, written))); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestHashManifest: the manifest that kubectl keeps in an annotation has no name either.
func TestHashManifest(t *testing.T) {
	t.Parallel()
	list := objects(t, `{apiVersion: v1, kind: Node, metadata: {name: n1, annotations: {kubectl.kubernetes.io/last-applied-configuration: '{"metadata":{"name":"n1"}}', kept: text}}}`)
	raw, err := json.Marshal(snapshot.HashNames(list, ""))
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(raw), "n1") || !strings.Contains(string(raw), `"kept":"text"`) {
		t.Errorf("%s", raw)
	}
}

// TestHashNames: no name is left, and equal names stay equal.
func TestHashNames(t *testing.T) {
	t.Parallel()
	list := objects(t, `{apiVersion: v1, kind: Pod, metadata: {name: web-1, namespace: shop, labels: {tier: gold, ready: "true"}}, spec: {nodeName: n1, claim: shop/web-1}}`,
		`{apiVersion: v1, kind: Node, metadata: {name: n1}}`)
	hashed := snapshot.HashNames(list, "k")
	raw, err := json.Marshal(hashed)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"web-1", "shop", "gold", "n1"} {
		if strings.Contains(string(raw), `"`+name) || strings.Contains(string(raw), "/"+name) {
			t.Errorf("%s is left: %s", name, raw)
		}
	}
	text := func(n int, path ...string) (out string) {
		v := any(hashed[n])
		for _, field := range path {
			v = v.(map[string]any)[field]
		}
		out, _ = v.(string)
		return out
	}
	if text(0, "spec", "nodeName") != text(1, "metadata", "name") || text(0, "spec", "claim") != text(0, "metadata", "namespace")+"/"+text(0, "metadata", "name") {
		t.Errorf("equal names differ: %s", raw)
	}
	if text(0, "kind") != "Pod" || text(0, "metadata", "labels", "ready") != "true" {
		t.Errorf("what is no name was replaced: %s", raw)
	}
	if slices.EqualFunc(hashed, snapshot.HashNames(list, "other"), func(a, b snapshot.Object) bool { return cmp.Equal(a, b) }) {
		t.Error("the key makes no difference")
	}
}
