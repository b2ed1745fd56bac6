package e2e

import (
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/edict-dev/edict/engine/run"
)

// withoutHistory is a transport that does not read the history while it is cut.
type withoutHistory struct {
	http.RoundTripper
	cut *atomic.Bool
}

// RoundTrip implements http.RoundTripper.
func (h withoutHistory) RoundTrip(r *http.Request) (*http.Response, error) {
	if h.cut.Load() && strings.Contains(r.URL.Path, "/controllerrevisions") {
		return nil, errors.New("the history is cut off")
	}
	return h.RoundTripper.RoundTrip(r)
}

// TestWaitForAllReplicas: with several replicas edict wait ends when an edit is in force in
// all of them, and names one that does not take it over.
func TestWaitForAllReplicas(t *testing.T) {
	t.Parallel()
	c, wait := waiting(t)
	var cut atomic.Bool
	replica := func(identity string, change func(*run.Options)) *controller {
		return c.fromConfigMaps(func(o *run.Options) {
			o.Election = &run.Election{Namespace: home, Name: "edict", Identity: identity, LeaseDuration: 6 * time.Second, RenewDeadline: 4 * time.Second, RetryPeriod: 500 * time.Millisecond}
			o.Shards = 2
			change(o)
		})
	}
	first := replica("first", func(*run.Options) {})
	first.running("one")
	second := replica("second", func(o *run.Options) {
		o.Config = rest.CopyConfig(o.Config)
		o.Config.Wrap(func(inner http.RoundTripper) http.RoundTripper { return withoutHistory{inner, &cut} })
	})
	second.running("one")
	eventually(t, "the shards", func() string {
		if !strings.Contains(second.log.String(), "this process holds a shard") {
			return "the second replica has none"
		}
		return ""
	})
	edit := func(value string) {
		t.Helper()
		c.merge("ConfigMap", home, "one", "", object{"data": object{"one.yaml": marks("one", "one", value)}})
	}
	inBoth := func() {
		t.Helper()
		_, revision, _ := strings.Cut(c.get("ConfigMap", home, "one").GetAnnotations()["edict.dev/policies"], "=")
		for _, one := range []*controller{first, second} {
			if revision == "" || !strings.Contains(one.log.String(), `"the policy runs","policy":"one","revision":"`+revision) {
				t.Errorf("the revision %q is not in force in both replicas", revision)
			}
		}
	}
	for _, value := range []string{"v1", "v2", "v3"} {
		edit(value)
		wait("an edit", "active", "60s", 0, "one: active")
		inBoth()
	}
	for _, change := range []struct {
		what   string
		do     func()
		status string
		still  string
	}{
		{"an edit", func() { edit("v4") }, "active", " the revision "},
		{"disabled", func() { c.mode("Disabled") }, "disabled", " it"},
		{"enabled", func() { c.mode(nil) }, "active", ""},
		{"in Shadow mode", func() { c.mode("Shadow") }, "active", " it"},
		{"enforced", func() { c.mode(nil) }, "active", ""},
	} {
		cut.Store(change.still != "")
		change.do()
		if change.still != "" {
			wait(change.what+", and a replica cannot read it", change.status, "3s", 1, "its status is Waiting one: the replica second still runs"+change.still)
		}
		cut.Store(false)
		wait(change.what, change.status, "60s", 0, "one: "+change.status)
	}
	inBoth()

	cut.Store(true)
	edit("taken-back")
	wait("an edit that is taken back", "active", "2s", 1, "the replica second still runs the revision")
	edit("v4")
	wait("taken back, and a replica may still load the edit", "active", "2s", 1, "the replica second has not read yet which revision is in force")
	cut.Store(false)
	wait("taken back", "active", "60s", 0, "one: active")

	cut.Store(true)
	edit("v5")
	wait("a replica that cannot read it", "active", "2s", 1, "the replica second")
	second.stop()
	wait("it has ended", "active", "60s", 0, "one: active")
}
