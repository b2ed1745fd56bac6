package conformance

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/test/budget"
	"github.com/edict-dev/edict/test/controlplane"
)

const seed = 20260301

func scenarios(t *testing.T) []scenario {
	t.Helper()
	out, err := generate(seed)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, s := range out {
		n += len(s.Requests)
	}
	if n < 800 {
		t.Fatalf("only %d requests", n)
	}
	return out
}

// describe shows a request as a person would write it.
func describe(r request) string {
	body, _ := json.Marshal(r.Body)
	return fmt.Sprintf("%s %s/%s %s by %q force=%v %s uid=%s rv=%s %s", r.Op, r.Kind.Kind, r.Name, r.Subresource, r.Manager, r.Force, r.Propagation, r.UID, r.ResourceVersion, body)
}

// plain returns a value as its JSON reads: numbers are float64.
func plain[T any](t *testing.T, v T) (out T) {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestAsRecorded compares the server in memory with what a real one answered.
func TestAsRecorded(t *testing.T) {
	t.Parallel()
	records, err := readRecords()
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range scenarios(t) {
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			want, ok := records[of.Name]
			if !ok || len(want.Answers) != len(of.Requests) {
				t.Fatal("no answers are recorded for this scenario; with a control plane, UPDATE_GOLDEN=1 go test ./test/conformance records them")
			}
			replay(t, inMemory(t, of), of, want)
		})
	}
}

// replay compares the answers of a session with those of a record.
func replay(t *testing.T, s *session, of scenario, want record) {
	t.Helper()
	for i, r := range of.Requests {
		got := plain(t, answered(t, s, of, r))
		if diff := cmp.Diff(want.Answers[i], got); diff != "" {
			t.Fatalf("request %d: %s\n(-kube-apiserver +in memory)\n%s", i, describe(r), diff)
		}
	}
}

// TestAsPublished: a command that reads a cluster knows custom kinds as they are published,
// and answers as one that has their CRDs.
func TestAsPublished(t *testing.T) {
	t.Parallel()
	records, err := readRecords()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, of := range scenarios(t) {
		if k := of.Requests[0].Kind; k.APIVersion != publishedVersion || k.GVK.Kind == "Rack" {
			continue // what the subresource scale of a Rack sets is not published
		}
		n++
		t.Run(of.Name, func(t *testing.T) {
			t.Parallel()
			schemas, err := published()
			if err != nil {
				t.Fatal(err)
			}
			replay(t, newSession(memoryOf(schemas), "ns", of), of, records[of.Name])
		})
	}
	if n < 6 {
		t.Errorf("%d scenarios of custom kinds", n)
	}
}

func inMemory(t *testing.T, of scenario) *session {
	t.Helper()
	m, err := newMemory()
	if err != nil {
		t.Fatal(err)
	}
	return newSession(m, "ns", of)
}

// answered sends a request; the objects afterwards are part of the answer of a
// scenario with a collector.
func answered(t *testing.T, s *session, of scenario, r request) answer {
	t.Helper()
	out := s.send(t.Context(), r)
	if of.Collected {
		all, err := s.everything(t.Context(), of)
		if err != nil {
			t.Fatal(err)
		}
		out.All, out.Object = all, nil
	}
	if of.Codes {
		out.Object = nil
	}
	return out
}

// TestAsARealServer sends the same requests to both; make test those of each fourth scenario.
func TestAsARealServer(t *testing.T) {
	controlplane.Require(t)
	on := startCluster(t)
	var mu sync.Mutex
	var records []record
	all := scenarios(t)
	every := budget.Of(4, 1)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		every = 1
	}
	// The server in memory has no namespaces: a simulation checks them.
	t.Run("no namespace", func(t *testing.T) {
		r := all[0].Requests[0]
		for _, r.Op = range []string{create, apply} {
			if got := newSession(on, "nowhere", all[0]).send(t.Context(), r); got.Code != http.StatusNotFound {
				t.Errorf("%s: %+v", describe(r), got)
			}
		}
	})
	t.Run("scenarios", func(t *testing.T) {
		for i, of := range all {
			if i%every > 0 {
				continue
			}
			t.Run(of.Name, func(t *testing.T) {
				t.Parallel()
				got := compare(t, on, of)
				mu.Lock()
				defer mu.Unlock()
				records = append(records, record{of.Name, got})
			})
		}
	})
	if os.Getenv("UPDATE_GOLDEN") == "" {
		return
	}
	if err := writeRecords(sorted(records, all)); err != nil {
		t.Fatal(err)
	}
	store(t, on)
	publish(t, on)
}

// publish writes the file of published schemas.
func publish(t *testing.T, on *cluster) {
	t.Helper()
	text, err := on.core.RESTClient().Get().AbsPath(publishedPath).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := writePublished(text); err != nil {
		t.Fatal(err)
	}
}

// store writes the file of stored objects.
func store(t *testing.T, on *cluster) {
	t.Helper()
	list, err := shorts()
	if err != nil {
		t.Fatal(err)
	}
	var stored []Object
	for _, r := range list {
		o, err := on.do(t.Context(), "default", r)
		if err != nil {
			t.Errorf("%s: %v", describe(r), err)
			continue
		}
		stored = append(stored, content(o))
	}
	text, err := writeStored(stored)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(storedFile, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDemandsMet: each field that the server in memory demands is left out of an object.
func TestDemandsMet(t *testing.T) {
	t.Parallel()
	list, err := objectsIn("testdata/demanded.yaml", demandedText)
	if err != nil {
		t.Fatal(err)
	}
	met := map[string]bool{}
	for _, k := range list {
		for _, d := range demandedIn(schema.Builtin().Of(k.GVK), k.base, nil) {
			met[d.definition+" "+d.name] = true
		}
	}
	want, err := os.ReadFile("../../engine/schema/demanded.txt")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(want)) {
		if line = strings.TrimSpace(line); !met[line] {
			t.Errorf("no object of testdata/demanded.yaml has %s", line)
		}
	}
}

// TestDefaultsWrittenOut: an object that is written as a real server stores it has not
// changed, whatever its fields are immutable.
func TestDefaultsWrittenOut(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(storedFile)
	if err != nil {
		t.Fatal(err)
	}
	stored, err := readStored(text)
	if err != nil {
		t.Fatal(err)
	}
	list, err := shorts()
	if err != nil || len(list) != len(stored) {
		t.Fatalf("%d objects, %d are stored: %v", len(list), len(stored), err)
	}
	m, err := newMemory()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range list {
		if _, err := m.do(t.Context(), "ns", r); err != nil {
			t.Fatal(err)
		}
		if _, err := m.do(t.Context(), "ns", request{Op: patch, Kind: r.Kind, Name: r.Name, Body: stored[i], Manager: "edict/p"}); err != nil {
			t.Errorf("%s: %v", describe(r), err)
		}
	}
}

func sorted(records []record, all []scenario) (out []record) {
	for _, of := range all {
		for _, r := range records {
			if r.Name == of.Name {
				out = append(out, r)
			}
		}
	}
	return out
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{
		Log: os.Stderr, ControllerManager: true,
		Controllers:   []string{"garbage-collector-controller", "serviceaccount-controller"},
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := plane.InstallCRDs(ctx, "testdata/crds"); err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	core, err := typedcorev1.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	return &cluster{client, core}
}

// compare runs a scenario on both servers, and returns the answers of the real
// one as far as they can be compared.
func compare(t *testing.T, on *cluster, of scenario) (out []answer) {
	t.Helper()
	namespace := &unstructured.Unstructured{Object: Object{"apiVersion": "v1", "kind": "Namespace", "metadata": Object{"name": of.Name}}}
	if _, err := on.client.Resource(kschema.GroupVersionResource{Version: "v1", Resource: "namespaces"}).Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	mine, real := inMemory(t, of), newSession(on, of.Name, of)
	named := namedIn(of.Requests)
	for i, r := range of.Requests {
		want := plain(t, answered(t, mine, of, r))
		if of.Collected && r.Op == remove {
			time.Sleep(500 * time.Millisecond) // the collector looks at what it was told of
		}
		got := comparable(t, r, want, plain(t, answered(t, real, of, r)), named)
		for deadline := time.Now().Add(5 * time.Minute); of.Collected && !cmp.Equal(want.All, got.All) && time.Now().Before(deadline); {
			time.Sleep(50 * time.Millisecond)
			all, err := real.everything(t.Context(), of)
			if err != nil {
				t.Fatal(err)
			}
			got.All = plain(t, all)
		}
		if os.Getenv("EDICT_TEST_TRACE") != "" {
			t.Logf("%d %s\n real %v\n mine %v", i, describe(r), got, want)
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("request %d: %s\n(-kube-apiserver +in memory)\n%s", i, describe(r), diff)
			if os.Getenv("UPDATE_GOLDEN") == "" {
				return out
			}
		}
		out = append(out, got)
	}
	return out
}

// comparable cuts an answer of the real server down to what the other one can
// know.
func comparable(t *testing.T, r request, mine, real answer, named Object) answer {
	t.Helper()
	if r.Kind.exact || real.Object == nil {
		return real
	}
	metadata := real.Object["metadata"]
	cut, _ := r.Kind.project(real.Object, mine.Object, named, "").(Object)
	cut["metadata"] = metadata
	real.Object = cut
	return real
}
