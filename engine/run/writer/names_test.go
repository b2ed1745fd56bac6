package writer

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/apply"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/plan"
	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/engine/world"
)

// namedPolicy writes with every action to objects whose names and namespaces are those of
// the spec. The kind Gadget has no schema: its names are any segments of a path.
const namedPolicy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: p}
spec:
  for: {apiVersion: example.com/v1, kind: Widget}
  inputs:
    - {name: one, apiVersion: v1, kind: Pod, get: '{"namespace": string(object.spec.namespace), "name": string(object.spec.name)}'}
  rules:
    - {name: create gadget, do: [{create: {apiVersion: example.com/v1, kind: Gadget, metadata: {namespace: "${object.spec.namespace}", name: "${object.spec.name}"}}}]}
    - {name: create pod, finally: true, do: [{create: {apiVersion: v1, kind: Pod, metadata: {namespace: "${object.spec.namespace}", name: "${object.spec.name}"}}}]}
    - {name: create secret, finally: true, do: [{create: {apiVersion: v1, kind: Secret, metadata: {namespace: ns, name: "${object.spec.name}"}}}]}
    - {name: apply, finally: true, do: [{apply: {apiVersion: example.com/v1, kind: Thing, metadata: {namespace: "${object.spec.namespace}", name: "${object.spec.name}"}, spec: {a: 1}}}]}
    - {name: patch create, finally: true, do: [{patch: {create: true, of: {apiVersion: example.com/v1, kind: Gizmo, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}, value: {spec: {a: 1}}}}]}
    - {name: patch, finally: true, do: [{patch: {of: {apiVersion: example.com/v1, kind: Gadget, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}, value: {spec: {a: 2}}}}]}
    - {name: status, finally: true, do: [{patch: {subresource: status, of: {apiVersion: v1, kind: Pod, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}, value: {status: {message: m}}}}]}
    - {name: labels, finally: true, do: [{labels: {of: {apiVersion: example.com/v1, kind: Gadget, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}, set: {a: b}}}]}
    - {name: finalizer, finally: true, do: [{finalizer: {of: {apiVersion: example.com/v1, kind: Gizmo, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}, name: example.com/f}}]}
    - {name: event, finally: true, do: [{event: {of: {apiVersion: v1, kind: Pod, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}, reason: R, message: m}}]}
    - {name: evict, finally: true, do: [{evict: {of: {apiVersion: v1, kind: Pod, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}}}]}
    - {name: delete, finally: true, do: [{delete: {of: {apiVersion: example.com/v1, kind: Gadget, namespace: "${object.spec.namespace}", name: "${object.spec.name}"}}}]}
    - {name: computed, finally: true, do: [{annotations: {of: "has(inputs.one.metadata) ? inputs.one : object", set: {a: b}}}]}
`

// paths notes the paths of requests, and refuses creations for odd ones.
type paths struct {
	mu  sync.Mutex
	got []string
}

func (p *paths) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.got = append(p.got, r.URL.EscapedPath())
	p.mu.Unlock()
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "application/json")
	if r.Method == http.MethodPost && len(r.URL.Path)%2 == 0 { // what is written onto it is not sent, finally or not
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
		return
	}
	_, _ = io.WriteString(w, `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"c","resourceVersion":"8"}}`)
}

// TestRequestsStayInTheirPath: whatever a name or a namespace is computed to, the path of
// each request is that of the kind that was judged, with one segment for each of the two.
func TestRequestsStayInTheirPath(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(file, []byte(namedPolicy), 0o600); err != nil {
		t.Fatal(err)
	}
	bundle, err := source.Load([]string{file}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := bundle.Err(); err != nil {
		t.Fatal(err)
	}
	server := &paths{}
	listener := httptest.NewServer(server)
	defer listener.Close()
	mapper := meta.NewDefaultRESTMapper(nil)
	for _, kind := range []string{"Widget", "Gadget", "Thing", "Gizmo", "Pod", "Secret"} {
		version := kschema.GroupVersion{Group: "example.com", Version: "v1"}
		if kind == "Pod" || kind == "Secret" {
			version.Group = ""
		}
		mapper.Add(version.WithKind(kind), meta.RESTScopeNamespace)
	}
	w, err := New(&rest.Config{Host: listener.URL, QPS: -1}, listener.Client(), mapper)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	r := rand.New(rand.NewPCG(1, 2))
	sent, odd := 0, []string{
		"..", ".", "/", "a/b", "../namespaces/drivers/modules/gpu", "../../secrets/x", "%2f", "..%2f..", "a%2Fb", "?", "a?b=c", "#", "", " ", "a b",
		strings.Repeat("x", 300), "имя", "名前", "\x00", "a\n", "a\x00b", "ok", "status", "x..", ".x",
	}
	for i := range 600 {
		name, namespace := odd[r.IntN(len(odd))], odd[r.IntN(len(odd))]
		if i%3 == 0 {
			namespace = "ns"
		}
		server.got = nil
		write(t, bundle.Policies[0], w, namespace, name)
		sent += len(server.got)
		for _, path := range server.got {
			if !inPath(path) {
				t.Errorf("%q in %q: a request for %s", name, namespace, path)
			}
		}
	}
	if sent < 300 {
		t.Errorf("only %d requests were sent", sent)
	}
}

// write decides about an object that has a name and a namespace in its spec, and writes.
func write(t *testing.T, p *plan.Policy, w *Writer, namespace, name string) {
	t.Helper()
	store := world.NewStore()
	object := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"namespace": "ns", "name": "w", "uid": "u"},
		"spec": map[string]any{"namespace": namespace, "name": name},
	}
	for _, need := range readmodel.Requirements(p) {
		store.Open(need.Source, need.Mask, need.Indexes)
		if need.Source.Kind == "Widget" {
			store.Put(need.Source, readmodel.Object(need.Source, object, schema.Untyped(), store.Mask(need.Source)))
		}
	}
	d := eval.Evaluate(t.Context(), eval.Input{Policy: p, Key: eval.Key{Namespace: "ns", Name: "w"}, World: store.Snapshot(), Now: time.Unix(1e9, 0)}, nil)
	g := guard.Guard{Allowed: []guard.Allowance{{Policy: "p", AnyGroup: true, Kind: "Pod", Field: guard.Everything}, {Policy: "p", AnyGroup: true, Kind: "Gadget", Field: guard.Everything},
		{Policy: "p", AnyGroup: true, Kind: "Gizmo", Field: guard.Everything}, {Policy: "p", Kind: "Secret", Field: guard.Everything}}}
	grants := g.Of(p)
	var writes []guard.Write
	for _, e := range d.Effects {
		one, err := grants.Judge(e)
		if err != nil {
			t.Fatal(err)
		}
		writes = append(writes, one)
	}
	a := apply.Applier{
		Writer: w, Policy: "p", Version: func(world.ID) (world.Version, string) { return world.Version{}, "" }, Seen: func(apply.Event) bool { return false },
	}
	made := map[string]bool{}
	for _, o := range a.Apply(t.Context(), writes) {
		key := fmt.Sprint(o.Effect.Target)
		if o.Effect.Missing || o.Effect.Verb == eval.VerbCreate {
			made[key] = o.Written()
		} else if done, decided := made[key]; decided && !done && o.Written() {
			t.Errorf("%q in %q: %s of an object that was not made", name, namespace, o.Effect.Verb)
		}
	}
}

// inPath reports whether a path is that of an object, or of the objects of a namespace.
func inPath(path string) bool {
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	switch {
	case segments[0] == "api" && len(segments) > 2:
		segments = segments[2:]
	case segments[0] == "apis" && len(segments) > 3 && segments[1] == "example.com":
		segments = segments[3:]
	default:
		return false
	}
	if segments[0] == "namespaces" && len(segments) > 2 {
		segments = segments[2:]
	}
	known := slices.Contains([]string{"widgets", "gadgets", "things", "gizmos", "pods", "secrets", "events"}, segments[0])
	subresource := len(segments) == 3 && slices.Contains([]string{"status", "eviction"}, segments[2])
	return known && (len(segments) <= 2 || subresource) && !slices.Contains(segments, "..") && !slices.Contains(segments, ".")
}
