package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// forgetful answers one new list of a resource with no objects, as a faulty proxy
// or cache would.
type forgetful struct {
	http.RoundTripper
	resource string

	mu sync.Mutex
	// stage is 1 while open watches are to end, 2 while the next list is to be
	// empty, 3 after that.
	stage   int
	version string
	bodies  []io.Closer
}

// forget ends the open watches; what is listed then is empty.
func (f *forgetful) forget(version string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stage, f.version = 1, version
	for _, b := range f.bodies {
		b.Close()
	}
	f.bodies = nil
}

func (f *forgetful) forgot() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.stage == 3
}

func (f *forgetful) RoundTrip(r *http.Request) (*http.Response, error) {
	q := r.URL.Query()
	if !strings.HasSuffix(r.URL.Path, "/"+f.resource) || q.Get("watch") == "" {
		return f.RoundTripper.RoundTrip(r)
	}
	f.mu.Lock()
	stage, initial := f.stage, q.Get("sendInitialEvents") == "true"
	switch {
	case stage == 1 && !initial:
		f.stage = 2
		f.mu.Unlock()
		return answered(r, http.StatusGone, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Expired","code":410}`), nil
	case (stage == 1 || stage == 2) && initial:
		f.stage = 3
		f.mu.Unlock()
		return answered(r, http.StatusOK, fmt.Sprintf(`{"type":"BOOKMARK","object":{"kind":"DRBDResource","apiVersion":%q,"metadata":{"resourceVersion":%q,"annotations":{"k8s.io/initial-events-end":"true"}}}}`, storage, f.version)), nil
	}
	f.mu.Unlock()
	response, err := f.RoundTripper.RoundTrip(r)
	if err == nil {
		f.mu.Lock()
		f.bodies = append(f.bodies, response.Body)
		f.mu.Unlock()
	}
	return response, err
}

// answered is a response whose stream stays open when it is a good one.
func answered(r *http.Request, code int, body string) *http.Response {
	stream, write := io.Pipe()
	go func() {
		_, err := io.WriteString(write, body+"\n")
		if code == http.StatusOK {
			<-r.Context().Done()
			err = r.Context().Err()
		}
		write.CloseWithError(err)
	}()
	return &http.Response{StatusCode: code, Status: http.StatusText(code), Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: stream}
}

const agents = 12

// labelledNodes counts the nodes with the label of the agent.
func (c *cluster) agentLabels() int {
	c.t.Helper()
	list, err := c.of("Node", "").List(c.t.Context(), metav1.ListOptions{LabelSelector: agentLabel})
	if err != nil {
		c.t.Fatal(err)
	}
	return len(list.Items)
}

func (c *cluster) wantAgents(n int) {
	c.t.Helper()
	eventually(c.t, "the labels", func() string {
		if got := c.agentLabels(); got != n {
			return fmt.Sprintf("%d nodes have the label, want %d", got, n)
		}
		return ""
	})
}

func agentNode(i int) string { return fmt.Sprintf("n%02d", i) }

// TestAFaultyList: a list that lost all objects removes nothing; what is deleted
// after it is noticed.
func TestAFaultyList(t *testing.T) {
	c := start(t, true)
	for i := range agents {
		c.put(node(agentNode(i), "z", true, time.Now()))
		c.put(resource("r"+agentNode(i), agentNode(i)))
	}
	proxy := &forgetful{resource: "drbdresources"}
	edict := c.run(func(o *run.Options) {
		o.Policies = []string{policies + "/agent-node-label.yaml"}
		o.Config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
			proxy.RoundTripper = inner
			return proxy
		})
	})
	before := edict.written("agent-node-label") // of other controllers of this process
	c.wantAgents(agents)
	eventually(t, "the writes are counted", func() string { // a moment after they are seen
		if n := edict.written("agent-node-label") - before; n < agents {
			return fmt.Sprintf("%v of %d", n, agents)
		}
		return ""
	})
	written := edict.written("agent-node-label")
	list, err := c.of("DRBDResource", "").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	proxy.forget(list.GetResourceVersion())
	eventually(t, "the faulty list", func() string {
		if !proxy.forgot() {
			return "it was not read"
		}
		return ""
	})
	eventually(t, "the second list", func() string {
		if !strings.Contains(edict.log.String(), "a list was wrong") {
			return "it was not read"
		}
		return ""
	})
	time.Sleep(2 * time.Second)
	if n := edict.written("agent-node-label") - written; n > 0 || c.agentLabels() != agents {
		t.Errorf("%v writes, %d nodes have the label", n, c.agentLabels())
	}
	c.delete("DRBDResource", "", "r"+agentNode(0))
	c.wantAgents(agents - 1)
}

// TestAFaultyFirstList: a process whose first list of a kind is wrongly empty
// removes nothing.
func TestAFaultyFirstList(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	for i := range agents {
		c.put(node(agentNode(i), "z", true, time.Now()))
		c.merge("Node", "", agentNode(i), "", labelsOf(object{agentLabel: ""}))
		c.put(resource("r"+agentNode(i), agentNode(i)))
	}
	c.put(node("unused", "z", true, time.Now()))
	c.merge("Node", "", "unused", "", labelsOf(object{agentLabel: ""}))
	list, err := c.of("DRBDResource", "").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	proxy := &forgetful{resource: "drbdresources"}
	proxy.forget(list.GetResourceVersion())
	edict := c.run(func(o *run.Options) {
		o.Policies = []string{policies + "/agent-node-label.yaml"}
		o.Config.Wrap(func(inner http.RoundTripper) http.RoundTripper {
			proxy.RoundTripper = inner
			return proxy
		})
	})
	c.wantAgents(agents) // but for the node that is not used
	if !proxy.forgot() || !strings.Contains(edict.log.String(), "the first list was wrong") {
		t.Error("the first list was right")
	}
	time.Sleep(time.Second)
	if got := c.labelled(); strings.Contains(got, "unused") || c.agentLabels() != agents {
		t.Errorf("labelled are %s", got)
	}
}

var crdResource = kschema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// TestADeletedKind: that a kind is deleted, and all its objects with it, removes
// nothing until it is there again.
func TestADeletedKind(t *testing.T) {
	t.Parallel()
	controlplane.RequireLong(t)
	c := start(t, true)
	c.home()
	for i := range agents {
		c.put(node(agentNode(i), "z", true, time.Now()))
		c.put(resource("r"+agentNode(i), agentNode(i)))
	}
	c.putSet("agent", map[string]string{"a.yaml": fileText(t, policies+"/agent-node-label.yaml")})
	c.fromSets(nil)
	c.wantAgents(agents)
	definitions := c.client.Resource(crdResource)
	crd, err := definitions.Get(t.Context(), "drbdresources.storage.deckhouse.io", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := definitions.Delete(t.Context(), crd.GetName(), metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.wants("agent", "Degraded", "True", "nothing is removed, because what it reads may be out of date")
	time.Sleep(12 * time.Second)
	if n := c.agentLabels(); n != agents {
		t.Errorf("%d nodes have the label while the kind is gone", n)
	}
	c.recreate(t.Context(), crd)
	eventually(t, "the kind", func() string {
		if _, err := c.of("DRBDResource", "").List(t.Context(), metav1.ListOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
	c.put(resource("r"+agentNode(0), agentNode(0)))
	c.wantAgents(1)
	c.wants("agent", "Ready", "True Enforcing")
}

// recreate makes an object again that was deleted.
func (c *cluster) recreate(ctx context.Context, was *unstructured.Unstructured) {
	c.t.Helper()
	text, err := json.Marshal(object{"apiVersion": was.GetAPIVersion(), "kind": was.GetKind(), "metadata": object{"name": was.GetName()}, "spec": was.Object["spec"]})
	if err != nil {
		c.t.Fatal(err)
	}
	eventually(c.t, "the definition", func() string {
		next := &unstructured.Unstructured{}
		if err := next.UnmarshalJSON(text); err != nil {
			c.t.Fatal(err)
		}
		if _, err := c.client.Resource(crdResource).Create(ctx, next, metav1.CreateOptions{}); err != nil {
			return err.Error()
		}
		return ""
	})
}

func fileText(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
