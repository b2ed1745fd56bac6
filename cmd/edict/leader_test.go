package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/eval"
	"github.com/edict-dev/edict/engine/live"
)

// replicas serve as those of a controller with shards do: the holder of the first Lease
// does not decide about the object.
func replicas(t *testing.T, f *liveFlags) (asked *[]string) {
	t.Helper()
	asked = &[]string{}
	f.lease = "edict"
	f.forward = func(_ context.Context, _ *origin, lease string) (*endpoint, error) {
		*asked = append(*asked, lease)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			switch lease {
			case "edict":
				w.Header().Set(live.HeaderLease, "edict-shard-2")
				http.Error(w, "another replica decides about Node a", http.StatusMisdirectedRequest)
			case "edict-shard-2":
				fmt.Fprint(w, `{"kind": "Node", "decision": {"id": "7"}}`)
			default:
				http.Error(w, "no decision of it that wrote something is kept any more", http.StatusNotFound)
			}
		}))
		t.Cleanup(server.Close)
		return &endpoint{address: server.URL}, nil
	}
	return asked
}

// TestAsksTheReplicaThatDecides: nobody has to know which shard an object belongs to.
func TestAsksTheReplicaThatDecides(t *testing.T) {
	t.Parallel()
	var f liveFlags
	asked := replicas(t, &f)
	answer, err := f.decision(t.Context(), &origin{}, "mark", eval.Key{Name: "a"}, nil)
	if err != nil || answer.Decision.ID != "7" {
		t.Errorf("%+v, %v", answer, err)
	}
	if got := strings.Join(*asked, " "); got != "edict edict-shard-2" {
		t.Errorf("asked were %s", got)
	}
}

// TestAnAnswerIsNotSilence: a controller that has no decision does answer, and what it
// has written is not known to an evaluation here.
func TestAnAnswerIsNotSilence(t *testing.T) {
	t.Parallel()
	f := captureFlags{explain: explainFlags{policy: "mark", key: eval.Key{Name: "a"}, lastWrite: true}}
	replicas(t, &f.explain.live)
	f.explain.live.lease = "other"
	var errOut bytes.Buffer
	_, err := f.explain.answer(t.Context(), &errOut)
	_, captured := f.text(t.Context(), &errOut)
	for _, err := range []error{err, captured} {
		if err == nil || !strings.Contains(err.Error(), "answers 404 Not Found: no decision of it that wrote something is kept any more") || errOut.Len() > 0 {
			t.Errorf("%v: %s", err, errOut.String())
		}
	}
}

func TestUnanswered(t *testing.T) {
	t.Parallel()
	var f liveFlags
	for want, err := range map[string]error{
		"the controller gives no decision (http://x answers 404: no such policy runs); ": &refusal{address: "http://x", status: "404", reason: "no such policy runs"},
		"no running controller answers (no controller leads); ":                          cluster.ErrNoLeader,
	} {
		if got := f.unanswered(err); !strings.HasPrefix(got, want) {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}
