package e2e

import (
	"bufio"
	"context"
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
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/edict-dev/edict/builtins"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/controlplane"
	"github.com/edict-dev/edict/test/program"
)

// replicaProcess is a controller process of its own.
type replicaProcess struct {
	t                *testing.T
	name             string
	command          *exec.Cmd
	log              *lockedBuffer
	done             chan error
	address, metrics string
}

// reload is a cluster whose controller manager rolls Deployments, and the
// binary.
type reload struct {
	*cluster
	binary string
	pace
}

// pace is how long the leases last and the faults.
type pace struct {
	lease, renew, retry string
	frozen, down        time.Duration
}

// paceOf returns what the controller ships with in the longer suite, make
// test-fault, and the same in small otherwise.
func paceOf() pace {
	if os.Getenv("EDICT_TEST_FAULT") != "" {
		return pace{"15s", "10s", "2s", 40 * time.Second, 30 * time.Second}
	}
	return pace{"5s", "3s", "500ms", 6 * time.Second, 8 * time.Second}
}

func startReload(t *testing.T) *reload {
	t.Helper()
	controlplane.Require(t)
	ctx, cancel := context.WithTimeout(t.Context(), 15*time.Minute)
	defer cancel()
	plane, err := controlplane.Start(ctx, controlplane.Options{Log: os.Stderr, ControllerManager: true, AuditLog: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	client, err := dynamic.NewForConfig(plane.Config())
	if err != nil {
		t.Fatal(err)
	}
	r := &reload{cluster: &cluster{t: t, plane: plane, client: client}, pace: paceOf(), binary: program.Build(t)}
	r.put(object{"apiVersion": "v1", "kind": "Namespace", "metadata": object{"name": "shipshape"}})
	r.put(deployment("web"))
	r.put(configMap("one"))
	return r
}

func deployment(name string) object {
	labels := object{"app": "helloworld", "env": "test"}
	return object{
		"apiVersion": "apps/v1", "kind": "Deployment", "metadata": object{"name": name, "namespace": "shipshape", "labels": labels},
		"spec": object{"replicas": int64(1), "selector": object{"matchLabels": object{"name": name}}, "template": object{
			"metadata": object{"labels": object{"name": name}}, "spec": object{"containers": []any{object{"name": "c", "image": "img:1"}}},
		}},
	}
}

func configMap(message string) object {
	return object{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "app-config", "namespace": "shipshape", "labels": object{"app": "helloworld", "env": "test"}},
		"data": object{"MESSAGE": message},
	}
}

func hashOf(t *testing.T, message string) string {
	t.Helper()
	for _, f := range builtins.Functions() {
		if f.Name == "hash.configData" {
			v, err := f.Do(&expr.Call{}, []value.Value{value.Freeze(configMap(message), nil, value.KeepAll)})
			if err != nil {
				t.Fatal(err)
			}
			text, _ := value.Str(v)
			return text
		}
	}
	return ""
}

func (r *reload) run(name string) *replicaProcess {
	r.t.Helper()
	p := &replicaProcess{t: r.t, name: name, log: &lockedBuffer{}, done: make(chan error, 1), address: address(r.t), metrics: address(r.t)}
	p.command = exec.Command(r.binary, "run", "--kubeconfig", r.plane.Kubeconfig(), "--policies", filepath.Join(policies, "configmap-restart.yaml"), "--allowances", filepath.Join(policies, "allowances.yaml"),
		"--metrics-bind-address", p.metrics, "--health-probe-bind-address", p.address, "--leader-elect", "--leader-elect-namespace", "shipshape", "--leader-elect-identity", name,
		"--leader-elect-lease-duration", r.lease, "--leader-elect-renew-deadline", r.renew, "--leader-elect-retry-period", r.retry, "--param", "configmap-restart.debounce=4s")
	p.command.Stderr = p.log
	if err := p.command.Start(); err != nil {
		r.t.Fatal(err)
	}
	go func() { p.done <- p.command.Wait() }()
	r.t.Cleanup(func() {
		_ = p.command.Process.Kill()
		if r.t.Failed() {
			r.t.Logf("%s:\n%s", name, p.log.String())
		}
	})
	return p
}

func (p *replicaProcess) signal(s syscall.Signal) {
	p.t.Helper()
	if err := p.command.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// freeze stops the process until thaw.
func (p *replicaProcess) freeze() {
	p.t.Helper()
	if err := controlplane.Freeze(p.command.Process); err != nil {
		p.t.Fatal(err)
	}
}

func (p *replicaProcess) thaw() {
	p.t.Helper()
	if err := controlplane.Thaw(p.command.Process); err != nil {
		p.t.Fatal(err)
	}
}

// ended waits until the process has ended.
func (p *replicaProcess) ended() {
	p.t.Helper()
	select {
	case err := <-p.done:
		p.done <- err
	case <-time.After(5 * time.Minute):
		p.t.Fatalf("%s does not end", p.name)
	}
}

// answers waits for an answer of an endpoint.
func (p *replicaProcess) answers(path string, code int, text string) {
	p.t.Helper()
	eventually(p.t, p.name+path, func() string {
		gotCode, got := fetch(p.t.Context(), "http://"+p.address+path)
		if gotCode != code || strings.TrimSpace(got) != text {
			return fmt.Sprintf("want %d %s, got %d %s", code, text, gotCode, got)
		}
		return ""
	})
}

// exports checks that metrics are there, each with how its first line goes on.
func (p *replicaProcess) exports(want map[string]string) {
	p.t.Helper()
	_, text := fetch(p.t.Context(), "http://"+p.metrics+"/metrics")
	for name, rest := range want {
		if !strings.Contains(text, "\n"+name+rest) {
			p.t.Errorf("no metric %s%s", name, rest)
		}
	}
}

// leads waits until a process leads and has looked at everything.
func (p *replicaProcess) leads(times int) {
	p.t.Helper()
	eventually(p.t, p.name+" leads", func() string {
		if n := strings.Count(p.log.String(), `"the policy runs"`); n < times {
			return fmt.Sprintf("%d times so far", n)
		}
		return ""
	})
}

// carries waits until the Deployment was restarted for a message.
func (r *reload) carries(what, message string) {
	r.t.Helper()
	want := hashOf(r.t, message)
	eventually(r.t, what, func() string {
		d := r.get("Deployment", "shipshape", "web")
		got, _, _ := unstructured.NestedString(d.Object, "spec", "template", "metadata", "annotations", "shipshape.io/config-hash-app-config")
		if got != want {
			return fmt.Sprintf("want %s, got %q", want, got)
		}
		return ""
	})
}

func (r *reload) edit(message string) {
	r.t.Helper()
	r.merge("ConfigMap", "shipshape", "app-config", "", configMap(message))
}

// revisions counts the ReplicaSets: the roll-outs of the Deployment.
func (r *reload) revisions() int {
	r.t.Helper()
	list, err := r.client.Resource(kschema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "replicasets"}).Namespace("shipshape").List(r.t.Context(), metav1.ListOptions{})
	if err != nil {
		r.t.Fatal(err)
	}
	return len(list.Items)
}

func (r *reload) wantRevisions(what string, want int) {
	r.t.Helper()
	eventually(r.t, what, func() string {
		if got := r.revisions(); got != want {
			return fmt.Sprintf("want %d roll-outs, got %d", want, got)
		}
		return ""
	})
}

// restartWrite is a successful patch of a Deployment by a controller.
type restartWrite struct {
	at    time.Time
	agent string
}

// writes reads from the audit log who has restarted, and when.
func (r *reload) writes() (out []restartWrite) {
	r.t.Helper()
	f, err := os.Open(r.plane.AuditLogPath())
	if err != nil {
		r.t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var e struct {
			Stage, Verb, UserAgent   string
			RequestReceivedTimestamp time.Time
			ObjectRef                struct{ Resource string }
			ResponseStatus           struct{ Code int }
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Stage == "ResponseComplete" && e.Verb == "patch" && e.ObjectRef.Resource == "deployments" &&
			strings.HasPrefix(e.UserAgent, "edict/") && e.ResponseStatus.Code == 200 {
			out = append(out, restartWrite{e.RequestReceivedTimestamp, e.UserAgent})
		}
	}
	return out
}

// TestRestartsAndHandOver takes two processes through edits, a killed, a
// stopped and a frozen leader, and a stopped API server: no change is lost, no
// two write at once, and a window sees one restart.
func TestRestartsAndHandOver(t *testing.T) {
	controlplane.RequireLong(t)
	r := startReload(t)
	a := r.run("a")
	a.leads(1)
	b := r.run("b")
	r.wantRevisions("at the start", 1)
	a.answers("/healthz", 200, "ok")
	b.answers("/healthz", 200, "ok")
	a.answers("/readyz", 200, "ready=true leader=true")
	b.answers("/readyz", 503, "ready=false leader=false")
	a.answers("/leadz", 200, "ok")
	b.answers("/leadz", 503, "not leader")

	r.edit("two")
	r.carries("an edit restarts at once", "two")
	r.wantRevisions("an edit", 2)
	for i := range 5 {
		r.edit(fmt.Sprintf("burst-%d", i))
	}
	r.carries("a burst restarts once, with its last", "burst-4")
	r.wantRevisions("a burst", 3)

	a.exports(map[string]string{
		"configmap_reload_restarts_total": `{env="test"} 2`, "configmap_reload_debounced_total": `{env="test"}`, "configmap_reload_watch_errors_total": " 0",
		"configmap_reload_watch_reconnects_total": "", "configmap_reload_leader_transitions_total": `{transition="acquired"} 1`, "configmap_reload_leader_state": " 1",
		"configmap_reload_leader_acquire_latency_seconds_bucket": `{le="0.5"}`, "configmap_reload_pending_restarts": " 0",
		"configmap_reload_dropped_restarts_total": " 0", "configmap_reload_info": `{revision=`,
	})
	time.Sleep(4 * time.Second) // the window ends
	r.edit("three")
	r.carries("an edit", "three")
	r.edit("four") // waits for the window
	a.signal(syscall.SIGTERM)
	a.ended()
	r.carries("a leader that is stopped writes what waits", "four")
	b.leads(1)
	r.edit("five")
	r.carries("the other leads", "five")

	a = r.run("a2")
	time.Sleep(time.Second)
	b.signal(syscall.SIGKILL)
	b.ended()
	r.edit("six")
	a.leads(1)
	r.carries("what changed while nobody led is found", "six")

	b = r.run("b2")
	time.Sleep(time.Second)
	r.edit("seven")
	a.freeze()
	thaw := time.Now().Add(r.frozen)
	r.edit("eight")
	b.leads(1)
	r.carries("a frozen leader is replaced", "eight")
	time.Sleep(time.Until(thaw))
	mark := time.Now()
	a.thaw()
	a.ended() // it has lost the lead
	r.edit("nine")
	r.carries("the other goes on", "nine")
	for _, w := range r.writes() {
		if w.at.After(mark) && strings.Contains(w.agent, fmt.Sprintf("(%d)", a.command.Process.Pid)) {
			t.Errorf("a process that had lost the lead wrote at %v", w.at)
		}
	}

	r.run("a3")
	time.Sleep(4 * time.Second)
	r.edit("ten")
	r.edit("eleven")
	if err := r.plane.StopAPIServer(); err != nil {
		t.Fatal(err)
	}
	time.Sleep(r.down) // longer than the lease: who led has lost it
	if err := r.plane.StartAPIServer(t.Context()); err != nil {
		t.Fatal(err)
	}
	r.carries("the API server is back", "eleven")
	r.edit("twelve")
	r.carries("all goes on", "twelve")
}
