package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/test/program"
)

// dividedPolicy says on each object, and in a child of it, which installation decides.
const dividedPolicy = `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: mark}
spec:
  params: {by: nobody}
  for: {apiVersion: v1, kind: ConfigMap, selector: app=x}
  children:
    - {name: copy, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: "copy-${key.name}"}, data: {by: "${params.by}"}}}
  rules:
    - {name: mark, do: [{annotations: {set: {by: "${params.by}"}}}]}
`

// installations are controllers of one cluster that divide its objects by a label.
type installations struct {
	*cluster
	binary, policy string
}

// installation is one of them, a process of its own.
type installation struct {
	command *exec.Cmd
	done    chan error
	metrics string
}

// handOver is the duration of the Leases.
const handOver = 5 * time.Second

// install starts an installation that calls itself by a name.
func (c *installations) install(name, selector string) *installation {
	c.t.Helper()
	log := &lockedBuffer{}
	p := &installation{done: make(chan error, 1), metrics: address(c.t)}
	p.command = exec.Command(c.binary, "run", "--kubeconfig", c.plane.Kubeconfig(), "--policies", c.policy, "--param", "mark.by="+name, "--allow", "{policy: mark, kind: Node, fields: [metadata.annotations]}", "--watch-label-selector", selector,
		"--metrics-bind-address", p.metrics, "--health-probe-bind-address", "", "--decisions-bind-address", "", "--leader-elect", "--leader-elect-namespace", "work", "--leader-elect-name", name, "--leader-elect-identity", name,
		"--leader-elect-lease-duration", handOver.String(), "--leader-elect-renew-deadline", "3s", "--leader-elect-retry-period", "500ms")
	p.command.Stderr = log
	if err := p.command.Start(); err != nil {
		c.t.Fatal(err)
	}
	go func() { p.done <- p.command.Wait() }()
	c.t.Cleanup(func() {
		_ = p.command.Process.Kill()
		if c.t.Failed() {
			c.t.Logf("%s:\n%s", name, log.String())
		}
	})
	return p
}

func (c *installations) object(name, shard string) {
	c.t.Helper()
	labels := object{"app": "x"}
	if shard != "" {
		labels["shard"] = shard
	}
	c.put(object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": name, "namespace": "work", "labels": labels}})
}

// by waits until an object and its child say by whom they were written.
func (c *installations) by(name, want string) {
	c.t.Helper()
	eventually(c.t, name, func() string {
		child := c.get("ConfigMap", "work", "copy-"+name)
		got := c.get("ConfigMap", "work", name).GetAnnotations()["by"]
		if child == nil || got != want || child.Object["data"].(object)["by"] != want {
			return fmt.Sprintf("it is written by %q, want %s; its child is %v", got, want, child)
		}
		return ""
	})
}

// request is one that changed an object, as the audit log has it.
type request struct {
	verb string
	at   time.Time
}

// requests returns the requests of controllers that changed an object.
func (c *installations) requests(name string) (out []request) {
	c.t.Helper()
	f, err := os.Open(c.plane.AuditLogPath())
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Stage, Verb, UserAgent   string
			RequestReceivedTimestamp time.Time
			ObjectRef                struct{ Resource, Namespace, Name string }
			ResponseStatus           struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Stage == "ResponseComplete" && strings.HasPrefix(e.UserAgent, "edict/") && e.ResponseStatus.Code < 300 &&
			e.ObjectRef.Resource == "configmaps" && e.ObjectRef.Namespace == "work" && e.ObjectRef.Name == name && (e.Verb == "patch" || e.Verb == "delete" || e.Verb == "create") {
			out = append(out, request{e.Verb, e.RequestReceivedTimestamp})
		}
	}
	return out
}

// TestTwoInstallations: every object is written by one of two installations. When one is
// killed, the other continues with its objects only. An object whose label
// moves is written by its new installation after the duration of a Lease, and keeps its
// child.
func TestTwoInstallations(t *testing.T) {
	t.Parallel()
	c := &installations{cluster: start(t, false), binary: program.Build(t), policy: filepath.Join(t.TempDir(), "mark.yaml")}
	write(t, c.policy, dividedPolicy)
	c.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "work"}})
	const selectorA, selectorRest = "shard=a", "shard notin (a)"
	for i := range 6 {
		c.object(fmt.Sprint("of-a-", i), "a")
		c.object(fmt.Sprint("of-b-", i), "b")
		c.object(fmt.Sprint("of-none-", i), "")
	}
	a := c.install("a", selectorA)
	rest := c.install("rest", selectorRest)
	for i := range 6 {
		c.by(fmt.Sprint("of-a-", i), "a")
		c.by(fmt.Sprint("of-b-", i), "rest")
		c.by(fmt.Sprint("of-none-", i), "rest")
	}
	for p, want := range map[*installation][2]int{a: {6, 12}, rest: {12, 6}} {
		_, text := fetch(t.Context(), "http://"+p.metrics+"/metrics")
		for i, name := range []string{"edict_policy_objects", "edict_policy_left_objects"} {
			if line := fmt.Sprintf("%s{policy=\"mark\",policyset=\"\"} %d", name, want[i]); !strings.Contains(text, "\n"+line+"\n") {
				t.Errorf("there is no metric %s", line)
			}
		}
	}
	for _, name := range []string{"of-a-0", "of-b-0", "of-none-0"} {
		if got := c.requests(name); len(got) != 1 {
			t.Errorf("%s was written by %v, want one patch", name, got)
		}
	}
	for _, name := range []string{"a", "rest"} {
		leases := c.client.Resource(kschema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}).Namespace("work")
		if _, err := leases.Get(t.Context(), name, metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
	}

	if err := a.command.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-a.done; err == nil {
		t.Error("a killed process ends without an error")
	}
	c.object("late-a", "a")
	c.object("late", "")
	c.by("late", "rest")
	if got := c.requests("late-a"); len(got) > 0 {
		t.Errorf("while its installation is down, late-a was written: %v", got)
	}
	c.install("a", selectorA)
	c.by("late-a", "a")

	moved := time.Now()
	c.object("of-b-1", "a")
	c.by("of-b-1", "a")
	got := c.requests("of-b-1")
	if len(got) != 2 || got[1].at.Sub(moved) < handOver {
		t.Errorf("of-b-1, which moved at %v, was written by %v, want one more patch after %v", moved, got, handOver)
	}
	for _, one := range append(c.requests("copy-of-b-1"), got...) {
		if one.verb == "delete" {
			t.Errorf("something of of-b-1 was deleted: %v", one)
		}
	}
}
