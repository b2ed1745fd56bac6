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

	edictv1 "github.com/edict-dev/edict/api/v1alpha1"
)

// patched is an API server whose PolicySets are patched.
type patched struct {
	*apiServer
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

// TestReleaseOfSets: only what is being deleted is released, and as a whole.
func TestReleaseOfSets(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ set, want string }{
		"a set that runs": {"s", "edict: the PolicySet edict-system/s is not being deleted: its policies would set their finalizers again; delete it, or add --delete\n"},
		"a policy":        {"s/one", "edict: s/one is a policy: name its set, or use -f\n"},
		"no such set":     {"t", `edict: there is no PolicySet "t" in the namespace edict-system; the policies are s` + "\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &patched{apiServer: small()}
			got := program(t, "release", tc.set, "-n", defaultNamespace, "--kubeconfig", serving(t, server))
			if diff := cmp.Diff(tc.want, got.stderr); diff != "" || got.code != 1 || len(server.bodies) > 0 {
				t.Errorf("%d: it has written %v (-want +got):\n%s", got.code, server.bodies, diff)
			}
		})
	}
}
