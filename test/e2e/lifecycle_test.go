package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/test/controlplane"
)

// TestGraceSurvivesARestart stops the controller while a grace period runs,
// and starts it again: the node leaves the list when the period ends. It runs alone,
// since the controller has to have decided before that.
func TestGraceSurvivesARestart(t *testing.T) {
	c := start(t, true)
	c.put(node("node-a", "z1", true, time.Now().Add(-time.Hour)))
	since := time.Now()
	end := since.Truncate(time.Second).Add(12 * time.Second)
	c.put(node("node-b", "z1", false, since))
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a"), "eligibleNodesPolicy": object{"notReadyGracePeriod": "12s"}}))
	c.put(group("vg-a", "node-a", true))

	first := c.run(nil)
	first.running(eligibility, label)
	c.wantEligible("pool", "node-a+vg-a node-b!ready")
	first.stop()

	second := c.run(nil)
	second.running(eligibility, label)
	if got := c.eligible("pool"); got != "node-a+vg-a node-b!ready" && time.Now().Before(end) {
		t.Errorf("right after the restart: %q", got)
	}
	c.wantEligible("pool", "node-a+vg-a")
	if now := time.Now(); now.Before(end) {
		t.Errorf("the node left the list %v before its grace period ended", end.Sub(now))
	}
	c.wantLabelled("node-a")
}

// TestALateKind starts without the CRDs: the policies wait, the process does
// not mind, and they run when the kinds appear.
func TestALateKind(t *testing.T) {
	controlplane.RequireLong(t)
	c := start(t, false)
	c.put(node("node-a", "z1", true, time.Now().Add(-time.Hour)))
	folder := t.TempDir()
	write(t, folder+"/other.yaml", `
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: other}
spec:
  for: {apiVersion: v1, kind: Node}
  rules:
    - name: mark
      do: [{labels: {set: {marked: "yes"}}}]
`)
	edict := c.run(func(o *run.Options) { o.Policies = []string{policies, folder} })
	edict.running("other")
	eventually(t, "the policy that needs no CRD", func() string {
		if c.get("Node", "", "node-a").GetLabels()["marked"] != "yes" {
			return "has not marked the node"
		}
		return ""
	})
	eventually(t, "the waiting policies", func() string {
		for _, p := range []string{eligibility, label} {
			if edict.metric("edict_policy_waiting", p) != 1 {
				return p + " does not say that it waits"
			}
		}
		return ""
	})
	if !strings.Contains(edict.log.String(), "the cluster does not serve "+storage+"/") {
		t.Error("the log does not name the missing kind")
	}
	c.installCRDs()
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a")}))
	c.put(group("vg-a", "node-a", true))
	edict.running(eligibility, label)
	c.wantEligible("pool", "node-a+vg-a")
	c.wantLabelled("node-a")
}

// racer changes an object right before the first write of it arrives, so that
// the write is based on a state that is gone.
type racer struct {
	http.RoundTripper
	match string
	once  sync.Once
	race  func()
	mu    sync.Mutex
	codes []int
}

func (r *racer) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodPatch || !strings.Contains(request.URL.Path, r.match) {
		return r.RoundTripper.RoundTrip(request)
	}
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request.Body = io.NopCloser(bytes.NewReader(body))
	r.once.Do(r.race)
	response, err := r.RoundTripper.RoundTrip(request)
	if err == nil {
		r.mu.Lock()
		r.codes = append(r.codes, response.StatusCode)
		r.mu.Unlock()
	}
	return response, err
}

// TestAStaleWrite lets a write meet a newer object: the server refuses it, and
// it is decided again without an error.
func TestAStaleWrite(t *testing.T) {
	c := start(t, true)
	c.put(node("node-a", "z1", true, time.Now().Add(-time.Hour)))
	c.put(group("vg-a", "node-a", true))
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a")}))
	r := &racer{match: "/replicatedstoragepools/pool/status", race: func() {
		c.merge("ReplicatedStoragePool", "", "pool", "status", object{"status": object{"eligibleNodesRevision": 41}})
	}}
	edict := c.run(func(o *run.Options) {
		o.Config.Wrap(func(next http.RoundTripper) http.RoundTripper { r.RoundTripper = next; return r })
	})
	before := edict.metric("edict_errors_total", eligibility) // counted over all tests of this process
	edict.running(eligibility, label)
	c.wantEligible("pool", "node-a+vg-a")
	revision, _, _ := unstructured.NestedInt64(c.get("ReplicatedStoragePool", "", "pool").Object, "status", "eligibleNodesRevision")
	if revision != 42 {
		t.Errorf("the revision is %d: the write was not decided again on the newer state", revision)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	// A further conflict may follow: a decision made before the write was seen.
	if successes := count(r.codes, http.StatusOK); r.codes[0] != http.StatusConflict || successes != 1 {
		t.Errorf("the writes were answered %v, want a conflict first and one success", r.codes)
	}
	if strings.Contains(edict.log.String(), `"level":"ERROR"`) {
		t.Error("the conflict was logged as an error")
	}
	if n := edict.metric("edict_errors_total", eligibility); n != before {
		t.Errorf("the conflict counts as %v errors", n-before)
	}
}

func count(codes []int, code int) (n int) {
	for _, c := range codes {
		if c == code {
			n++
		}
	}
	return n
}

// TestTwoPoliciesReachAFixedPoint lets the pool choose its nodes by the very
// label that the other policy sets on eligible nodes.
func TestTwoPoliciesReachAFixedPoint(t *testing.T) {
	controlplane.RequireLong(t)
	c := start(t, true)
	long := time.Now().Add(-time.Hour)
	for _, n := range []string{"node-a", "node-b", "node-c"} {
		c.put(node(n, "z1", true, long))
	}
	c.put(group("vg-a", "node-a", true))
	c.put(pool("pool", object{"lvmVolumeGroups": refs("vg-a"), "nodeLabelSelector": object{"matchLabels": object{agentLabel: ""}}}))
	edict := c.run(nil)
	edict.running(eligibility, label)
	c.wantEligible("pool", "")

	c.put(resource("res", "node-b")) // labels the node, which makes it eligible
	c.wantEligible("pool", "node-b")
	c.delete("DRBDResource", "", "res") // now only its eligibility holds the label
	c.merge("Node", "", "node-a", "", labels(agentLabel, ""))
	c.merge("Node", "", "node-c", "", labels(agentLabel, "other")) // selected by nobody
	quiet := -1.0
	eventually(t, "the policies come to rest", func() string {
		before := quiet
		if quiet = edict.evaluations(eligibility) + edict.evaluations(label); quiet != before {
			return fmt.Sprintf("%v evaluations", quiet)
		}
		if got := c.eligible("pool"); !sameNodes(got, c.labelled()) {
			return fmt.Sprintf("the pool lists %q and the labels are on %q", got, c.labelled())
		}
		return ""
	})
	if got := c.eligible("pool"); got != "node-b" && got != "node-a+vg-a node-b" {
		t.Errorf("at rest the pool lists %q", got)
	}
}

// sameNodes compares the names of two lists, without the flags.
func sameNodes(eligible, labelled string) bool {
	var names []string
	for field := range strings.FieldsSeq(eligible) {
		name, _, _ := strings.Cut(strings.ReplaceAll(field, "!", "+"), "+")
		names = append(names, name)
	}
	return strings.Join(names, " ") == labelled
}
