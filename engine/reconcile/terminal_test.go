package reconcile

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/world"
)

// TestFinalFailures: what is computed from the same input fails again in the
// same way, and is not tried again; a call is.
func TestFinalFailures(t *testing.T) {
	t.Parallel()
	const selecting = `      - select:
          candidates: [{as: c, in: "['a']"}]
          pipeline: [{call: extender.filterAndScore, with: {reservationID: r, ttl: "${duration('1s')}", size: SIZE}, candidate: {name: "${c}"}}]
          then: [{log: {message: chosen}}]
`
	for name, tc := range map[string]struct {
		rule  string
		final bool
	}{
		"an expression":       {"      - labels: {set: {a: \"${object.metadata.labels['x']}\"}}\n", true},
		"fail":                {"      - fail: \"no\"\n", true},
		"a limit":             {"      - labels: {set: {a: \"${string(size(lists.range(1000).map(a, lists.range(1000).map(b, a))))}\"}}\n", true},
		"the guard":           {"      - finalizer: {name: example.com/x}\n", true},
		"a call":              {strings.Replace(selecting, "SIZE", "1", 1), false},
		"a request of a call": {strings.Replace(selecting, "SIZE", "\"${6 / int(size(key.namespace))}\"", 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, b := compiled(t, "  rules:\n    - name: r\n      do:\n"+indented(tc.rule))
			g := newGroup(world.NewStore(), &late{}, b.Schemas)
			g.Answers = broken{}
			c := g.Add(p)
			put(t, g, "n", "1", nil)
			r := c.Reconcile(t.Context(), eval.Key{Name: "n"}, noon)
			if r.Final == nil && r.Err == nil || (r.Final != nil) != tc.final || (r.Err == nil) != tc.final {
				t.Errorf("final %v, to be tried again %v", r.Final, r.Err)
			}
		})
	}
}

// TestWhatKubernetesKeeps: a policy for all ConfigMaps does not fail for those that no person
// has written. It leaves them alone, and the record says so.
func TestWhatKubernetesKeeps(t *testing.T) {
	t.Parallel()
	p, b := compiledFor(t, "{apiVersion: v1, kind: ConfigMap}", "  rules:\n    - name: r\n      do: [{annotations: {set: {owner: me}}}]\n")
	server := &late{}
	g := newGroup(world.NewStore(), server, b.Schemas)
	c := g.Add(p)
	for _, test := range []struct {
		namespace, name string
		written, failed bool
	}{
		{"shop", "kube-root-ca.crt", false, false},
		{"kube-system", "kube-root-ca.crt", false, false},
		{"kube-system", "extension-apiserver-authentication", false, false},
		{"shop", "extension-apiserver-authentication", true, false},
		{"kube-system", "coredns", false, true},
		{"shop", "web", true, false},
	} {
		for _, s := range g.AllSources() {
			g.Put(t.Context(), s, map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": test.namespace, "name": test.name, "resourceVersion": "1"}})
		}
		server.writes = 0
		r := c.Reconcile(t.Context(), eval.Key{Namespace: test.namespace, Name: test.name}, noon)
		said := r.Record.Render(t.Context()).Error
		if (server.writes > 0) != test.written || (r.Final != nil) != test.failed || r.Err != nil || (said == "") != test.written {
			t.Errorf("%s/%s: %d writes, final %v, error %v, record %q", test.namespace, test.name, server.writes, r.Final, r.Err, said)
		}
	}
}

// indented moves actions under a rule.
func indented(actions string) string {
	return "  " + strings.ReplaceAll(strings.TrimSuffix(actions, "\n"), "\n", "\n  ") + "\n"
}

// broken answers no call.
type broken struct{}

func (broken) Answer(context.Context, *expr.Request) (*expr.Response, error) {
	return nil, errors.New("no answer")
}
