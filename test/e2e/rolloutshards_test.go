package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/rollout"
	"github.com/edict-dev/edict/engine/run"
	"github.com/edict-dev/edict/engine/run/shards"
)

const sharedSteps = "steps: [{percent: 50}, {percent: 100}]\ninterval: 2s\n"

// replica starts a replica of two that share the work, whose requests have its name.
func (c *cluster) replica(identity string) *controller {
	c.t.Helper()
	return c.fromConfigMaps(func(o *run.Options) {
		o.Election = &run.Election{Namespace: home, Name: "edict", Identity: identity, LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: 500 * time.Millisecond}
		o.Shards = 4
		o.Config = rest.CopyConfig(o.Config)
		o.Config.UserAgent = "edict/" + identity
	})
}

// markedBy returns by the audit log which replicas have given nodes a value of the label one,
// and how often, by node.
func (c *cluster) markedBy(value string) (by []string, nodes map[string]int) {
	c.t.Helper()
	file, err := os.Open(c.plane.AuditLogPath())
	if err != nil {
		c.t.Fatal(err)
	}
	defer file.Close()
	who, nodes := map[string]bool{}, map[string]int{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var e struct {
			Stage, Verb, UserAgent string
			ObjectRef              struct{ Resource, Name string }
			ResponseStatus         struct{ Code int }
			RequestObject          json.RawMessage
		}
		if json.Unmarshal(lines.Bytes(), &e) == nil && e.Stage == "ResponseComplete" && e.Verb == "patch" && e.ObjectRef.Resource == "nodes" &&
			e.ResponseStatus.Code == 200 && strings.Contains(string(e.RequestObject), `"one":"`+value+`"`) {
			who[e.UserAgent] = true
			nodes[e.ObjectRef.Name]++
		}
	}
	return slices.Sorted(maps.Keys(who)), nodes
}

// wantMarkedBy wants each node to have been given a value once, by these replicas.
func (c *cluster) wantMarkedBy(value string, nodes []string, by ...string) {
	c.t.Helper()
	want := map[string]int{}
	for _, name := range nodes {
		want[name] = 1
	}
	who, got := c.markedBy(value)
	if !slices.Equal(who, by) || !maps.Equal(got, want) {
		c.t.Errorf("%s was written by %v, want %v, so often: %v", value, who, by, got)
	}
}

// TestRolloutWithShards: with several replicas the steps of a rollout are those of all objects:
// the leader evaluates all of them, each once, while the other replica goes on with the
// revision in force, of which it decides about none. Without steps both do their part again.
func TestRolloutWithShards(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	var nodes []string
	for i := range 24 {
		nodes = append(nodes, fmt.Sprint("n", i))
		c.put(node(nodes[i], "z", true, time.Now()))
	}
	first := c.replica("first")
	eventually(t, "the leader", func() string {
		if !strings.Contains(first.log.String(), `"this process holds a shard","shard":0`) {
			return "there is none"
		}
		return ""
	})
	second := c.replica("second")
	eventually(t, "the shards", func() string {
		if strings.Count(second.log.String(), `"this process holds a shard"`) < 2 {
			return "the second replica has not its share"
		}
		return ""
	})
	edit := func(value string) {
		t.Helper()
		c.put(policyMap("one", map[string]string{"one.yaml": marks("one", "one", value)}))
	}
	edit("a")
	c.wantSharedStep(nodes, 2, "a", "")
	c.wantMarkedBy("a", nodes, "edict/first", "edict/second")
	c.wantNote("one", map[string]string{"status": "Active", "rollout-status": ""})
	before := c.get("ConfigMap", home, "one").GetAnnotations()["edict.dev/policies"]

	c.steps(sharedSteps)
	edit("b")
	c.wantNote("one", map[string]string{"status": "RollingOut", "policies": before, "rollout-status": `"step":1,"steps":2,"share":"50%"`})
	c.wantSharedStep(nodes, 1, "b", "a")
	c.wantNote("one", map[string]string{"status": "Active", "error": "", "rollout-status": ""})
	c.wantSharedStep(nodes, 2, "b", "a")
	c.wantMarkedBy("b", nodes, "edict/first")
	after := c.get("ConfigMap", home, "one").GetAnnotations()["edict.dev/policies"]
	_, revision, _ := strings.Cut(after, "=")
	if log := second.log.String(); after == before || !strings.Contains(log, `"the policy runs","policy":"one","revision":"`+revision) || strings.Contains(log, "comes into force in steps") {
		t.Errorf("after %q, %q is in force, and the second replica has logged %s", before, after, log)
	}

	c.steps(nil)
	eventually(t, "the objects are divided again", c.placement)
	edit("c")
	c.wantSharedStep(nodes, 2, "c", "")
	c.wantMarkedBy("c", nodes, "edict/first", "edict/second")
	c.wantNote("one", map[string]string{"status": "Active", "error": "", "rollout-status": ""})
}

// placement returns the policies whose objects are not divided among the replicas.
func (c *cluster) placement() string {
	leases := kschema.GroupVersionResource{Group: "coordination.k8s.io", Version: "v1", Resource: "leases"}
	roster, err := c.client.Resource(leases).Namespace(home).Get(c.t.Context(), "edict-shards", metav1.GetOptions{})
	if err != nil {
		return err.Error()
	}
	return roster.GetAnnotations()[shards.AnnotationPlacement]
}

// wantSharedStep waits until the nodes of the steps up to one have a value, and all others
// another one.
func (c *cluster) wantSharedStep(nodes []string, step int, in, out string) {
	c.t.Helper()
	spec, problems := rollout.Parse("", sharedSteps)
	if problems != nil {
		c.t.Fatal(problems)
	}
	c.wantValues(nodes, spec.Share(step), in, out)
}
