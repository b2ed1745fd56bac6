package e2e

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/edict-dev/edict/engine/rbac"
	"github.com/edict-dev/edict/engine/run"
)

// TestDecisionEvents: an object has Events that say why a rule failed for it, and that
// it no longer does. The permission is the controller's own.
func TestDecisionEvents(t *testing.T) {
	t.Parallel()
	c := start(t, false)
	c.home()
	c.asController()
	c.grant("nodes", "", rulesOf("nodes", "get", "list", "watch", "patch"))
	c.grant("decision-events", "", []rbac.Rule{{APIGroups: []string{""}, Resources: []string{"events"}, Verbs: []string{"create", "patch"}}})
	c.put(node("a", "z", true, time.Now()))
	c.putSet("told", map[string]string{"told.yaml": copies("told", "team")})
	c.fromSets(func(o *run.Options) {
		asLimited(o.Config)
		o.DecisionEvents = true
	})
	c.wantObjectEvent("a", "RuleFailed", `Policy told/told: Node a: the rule "copy" failed: `)
	c.merge("Node", "", "a", "", labelsOf(object{"team": "x"}))
	c.wantPath("Node", "", "a", "x", "metadata", "labels", "copied")
	c.wantObjectEvent("a", "Recovered", `Policy told/told: Node a: `)
}

// wantObjectEvent waits for an Event about a Node.
func (c *cluster) wantObjectEvent(name, reason, message string) {
	c.t.Helper()
	events := c.client.Resource(kschema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace("default")
	eventually(c.t, "waiting for the Event "+reason, func() string {
		list, err := events.List(c.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.kind=Node,involvedObject.name=" + name + ",reason=" + reason})
		if err != nil {
			return err.Error()
		}
		for _, e := range list.Items {
			if text, _ := e.Object["message"].(string); strings.HasPrefix(text, message) {
				return ""
			}
		}
		return "none of the Events says " + message
	})
}
