package main

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/edict-dev/edict/engine/cluster"
	"github.com/edict-dev/edict/engine/eval"
)

// TestAnAnswerIsNotSilence: a controller that has no decision does answer, and what it
// has written is not known to an evaluation here.
func TestAnAnswerIsNotSilence(t *testing.T) {
	t.Parallel()
	f := captureFlags{explain: explainFlags{policy: "mark", key: eval.Key{Name: "a"}, lastWrite: true}}
	f.explain.live.forward = func(context.Context, *origin) (*endpoint, error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			http.Error(w, "no decision of it that wrote something is kept any more", http.StatusNotFound)
		}))
		t.Cleanup(server.Close)
		return &endpoint{address: server.URL}, nil
	}
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
