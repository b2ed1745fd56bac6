package informers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/edict-dev/edict/engine/run/writer"
	"github.com/edict-dev/edict/test/fixture"
)

// seen is an informer that has seen a version.
type seen struct {
	toolscache.SharedIndexInformer
	version string
}

func (s seen) LastSyncResourceVersion() string { return s.version }

// versioned is an API server that is at a version, and notes what it is asked for.
type versioned struct {
	version string
	err     error
	asked   []string
}

// of returns what asks for the version of a source.
func (v *versioned) of(id string) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		v.asked = append(v.asked, id)
		return v.version, v.err
	}
}

// watching makes informers that have seen versions.
func watching(t *testing.T, seenVersions map[string]string, server *versioned) *versions {
	t.Helper()
	var all []*informer
	for id, version := range seenVersions {
		all = append(all, &informer{id: id, shared: seen{version: version}, version: server.of(id)})
	}
	return &versions{options: &Options{Log: fixture.Log(), Writer: &writer.Writer{}}, informers: func() []*informer { return slices.Clone(all) }}
}

// TestRewound: versions have gone back only when the server says so and both are
// numbers.
func TestRewound(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		seen   string
		server versioned
		asked  int
		want   bool
	}{
		"older":                      {"20", versioned{version: "19"}, 1, true},
		"older, with fewer digits":   {"100", versioned{version: "99"}, 1, true},
		"the same":                   {"20", versioned{version: "20"}, 1, false},
		"newer":                      {"20", versioned{version: "100"}, 1, false},
		"the server does not say":    {"20", versioned{version: ""}, 1, false},
		"the server fails":           {"20", versioned{version: "1", err: errors.New("it is away")}, 1, false},
		"nothing was seen yet":       {"", versioned{version: "1"}, 0, false},
		"what was seen is no number": {"abc", versioned{version: "1"}, 0, false},
	} {
		err := watching(t, map[string]string{"one": tc.seen}, &tc.server).check(t.Context(), 0)
		if errors.Is(err, ErrRewound) != tc.want || (err == nil) == tc.want {
			t.Errorf("%s: %v", name, err)
		}
		if tc.want && !strings.HasSuffix(err.Error(), "the version of one is "+tc.server.version+", and was "+tc.seen) {
			t.Errorf("%s: the error is %v", name, err)
		}
		if len(tc.server.asked) != tc.asked {
			t.Errorf("%s: it was asked %d times", name, len(tc.server.asked))
		}
	}
	if err := watching(t, nil, nil).check(t.Context(), 3); err != nil {
		t.Errorf("where nothing is watched: %v", err)
	}
}

// TestRewoundTakesTurns: each source is asked about in its turn.
func TestRewoundTakesTurns(t *testing.T) {
	t.Parallel()
	server := &versioned{version: "20"}
	f := watching(t, map[string]string{"c": "20", "a": "20", "b": "20"}, server)
	for turn := range 4 {
		if err := f.check(t.Context(), turn); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a", "b", "c", "a"}, server.asked); diff != "" {
		t.Errorf("it was asked (-want +got):\n%s", diff)
	}
}

// TestARewoundProcessEnds: it writes nothing more, and says why it ends; before,
// every source is looked at every few seconds.
func TestARewoundProcessEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &versioned{version: "20"}
		f := watching(t, map[string]string{"a": "20", "b": "21"}, server)
		var reasons []error
		f.options.End = func(err error) { reasons = append(reasons, err) }
		began := time.Now()
		f.follow(t.Context())
		if !f.options.Writer.Closed() || len(reasons) != 1 || !errors.Is(reasons[0], ErrRewound) {
			t.Errorf("the writer is closed: %v; it ends with %v", f.options.Writer.Closed(), reasons)
		}
		if took := time.Since(began); took != 2*rewindInterval {
			t.Errorf("found after %v", took)
		}

		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		same := &versioned{version: "21"}
		f = watching(t, map[string]string{"a": "20", "b": "21"}, same)
		f.options.End = func(err error) { t.Errorf("it ends with %v", err) }
		f.follow(ctx)
		if len(same.asked) < 10 || f.options.Writer.Closed() {
			t.Errorf("in a minute it was asked %d times", len(same.asked))
		}
	})
}
