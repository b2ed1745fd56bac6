package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
	"github.com/edict-dev/edict/engine/plan"
)

// patched is an API server whose PolicySets are patched.
type patched struct {
	*apiServer
	// observe is called after a patch, as a controller would be; nil is none.
	observe func(*edictv1.PolicySet)

	mu      sync.Mutex
	bodies  []string
	manager string
}

// ServeHTTP implements http.Handler.
func (p *patched) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if r.Method != http.MethodPatch {
		p.apiServer.ServeHTTP(w, r)
		return
	}
	body, _ := io.ReadAll(r.Body)
	for i := range p.sets {
		s := &p.sets[i]
		if !strings.HasSuffix(r.URL.Path, "/policysets/"+s.Name) || json.Unmarshal(body, s) != nil {
			continue
		}
		s.Generation++
		p.bodies, p.manager = append(p.bodies, string(body)), r.URL.Query().Get("fieldManager")
		if p.observe != nil {
			p.observe(s)
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s)
		return
	}
	http.NotFound(w, r)
}

// TestResume: resuming writes the present time, and only if something is paused.
func TestResume(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		paused bool
		set    string
		code   int
		want   string
	}{
		"paused":      {true, "s", 0, "the policies of the set s go on\n"},
		"by a policy": {true, "s/one", 0, "the policies of the set s go on\n"},
		"not paused":  {false, "s", 1, "edict: no policy of the set s is paused\n"},
		"no such set": {true, "t", 1, `edict: there is no PolicySet "t" in any namespace`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &patched{apiServer: small()}
			server.sets[0].ResourceVersion = "7"
			if tc.paused {
				server.sets[0].Status.Policies = []edictv1.PolicyStatus{{Name: "two"}, {Name: "one", Pause: &edictv1.Pause{Reason: "LimitExceeded"}}}
			}
			begin := time.Now().Truncate(time.Second)
			got := program(t, "resume", tc.set, "--kubeconfig", serving(t, server))
			if got.code != tc.code || !strings.HasPrefix(got.stdout+got.stderr, tc.want) {
				t.Errorf("%d: %s%s", got.code, got.stdout, got.stderr)
			}
			if tc.code != 0 {
				if len(server.bodies) > 0 {
					t.Errorf("it has written %v", server.bodies)
				}
				return
			}
			if at := server.sets[0].Spec.ResumedAt; at == nil || at.Time.Before(begin) || time.Since(at.Time) > time.Minute || server.manager != "edict-cli" || len(server.bodies) != 1 || !strings.Contains(server.bodies[0], `"resourceVersion":"7"`) {
				t.Errorf("%s has written %v", server.manager, server.bodies)
			}
		})
	}
}

// TestReleaseStopsSets: the sets of the policies are disabled first, and the controller is waited for; that
// there is none is said.
func TestReleaseStopsSets(t *testing.T) {
	t.Parallel()
	const silent = "no controller has said within 100ms that it stopped the sets s; going on, finalizers may come back\n"
	for name, tc := range map[string]struct {
		observe func(*edictv1.PolicySet)
		dryRun  bool
		want    edictv1.Mode
		said    string
	}{
		"a controller stops them": {func(s *edictv1.PolicySet) {
			s.Status.ObservedGeneration, s.Status.Policies = s.Generation, []edictv1.PolicyStatus{{Name: "one", Reason: "Disabled"}}
		}, false, edictv1.ModeDisabled, ""},
		"it does not":  {func(s *edictv1.PolicySet) { s.Status.ObservedGeneration = s.Generation - 1 }, false, edictv1.ModeDisabled, silent},
		"one goes on":  {func(s *edictv1.PolicySet) { s.Status.ObservedGeneration = s.Generation }, false, edictv1.ModeDisabled, silent},
		"nobody does":  {nil, false, edictv1.ModeDisabled, silent},
		"only a trial": {nil, true, edictv1.ModeEnforce, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &patched{apiServer: small(), observe: tc.observe}
			server.sets[0].ResourceVersion, server.sets[0].Status.ObservedGeneration = "7", -1
			server.sets[0].Status.Policies = []edictv1.PolicyStatus{{Name: "one", Reason: "Enforcing", Pause: &edictv1.Pause{Since: &metav1.Time{}}}}
			f := releaseFlags{origin: origin{setClient: setClient{clusterFlags: clusterFlags{kubeconfig: serving(t, server)}}}, dryRun: tc.dryRun, timeout: 100 * time.Millisecond}
			var said strings.Builder
			if err := f.stop(t.Context(), &said, []*plan.Policy{{Set: "s", Name: "one"}, {Set: "s", Name: "two"}}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.said, said.String()); diff != "" || server.sets[0].Spec.Mode != tc.want {
				t.Errorf("the mode is %s, said (-want +got):\n%s", server.sets[0].Spec.Mode, diff)
			}
		})
	}
}
