package explore

import (
	"context"
	"net/url"
	"strings"
	"sync"
	"testing"
)

// TestUnknown: what does not exist is said to be so, with what was meant.
func TestUnknown(t *testing.T) {
	t.Parallel()
	w := world(t, objects, nil)
	for question, want := range map[string]string{
		"decision?policy=plase&key=p":               `there is no policy "plase" here; did you mean "place"?`,
		"decision?policy=place&key=east/q":          "there is no Pod east/q that the policy place decides about at this time",
		"decision?policy=place&key=east/p&record=9": "the policy place has made no decision 9 about east/p before the horizon",
		"decision?policy=place&key=p&after=-1":      `after must be seconds from 0 to 315360000: "-1"`,
		"decision?policy=place&key=p&after=NaN":     `after must be seconds from 0 to 315360000: "NaN"`,
		"compare?against=1":                         "there is no other revision: start with --against PATH",
		"compare?policy=place&set=x":                `set must be PARAM=VALUE: "x"`,
		"nothing":                                   `there is nothing at "nothing"`,
	} {
		path, query, _ := strings.Cut(question, "?")
		values, _ := url.ParseQuery(query)
		if _, err := w.Answer(t.Context(), path, values); err == nil || err.Error() != want {
			t.Errorf("%s: %v", question, err)
		}
	}
}

// TestDocumentNames: the name of a document is that of its policy if it has one kind.
func TestDocumentNames(t *testing.T) {
	t.Parallel()
	b := load(t, strings.ReplaceAll(place, "for: {apiVersion: v1, kind: Pod}", "for: {kinds: [{apiVersion: v1, kind: Pod}]}"))
	if p, err := policyOf(b.Policies, "place"); err != nil || p.Name != "place-pod" {
		t.Errorf("%v, %v", p, err)
	}
	b = load(t, strings.ReplaceAll(place, "for: {apiVersion: v1, kind: Pod}", "for: {kinds: [{apiVersion: v1, kind: Pod}, {apiVersion: v1, kind: ConfigMap}]}"))
	if _, err := policyOf(b.Policies, "place"); err == nil || err.Error() != "place is a policy for each of several kinds; name one of place-configmap, place-pod" {
		t.Error(err)
	}
}

// TestInterrupted: a question that is given up leaves nothing half done.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := world(t, objects, nil)
	ctx, stop := context.WithCancel(t.Context())
	stop()
	for _, path := range []string{"timeline", "keys", "compare", "decision"} {
		if _, err := w.Answer(ctx, path, url.Values{"policy": {"place"}, "key": {"east/p"}, "run": {"1"}}); err == nil {
			t.Errorf("%s is answered", path)
		}
	}
	if events := answer[*Timeline](t, w, "timeline").Events; len(events) < 6 {
		t.Errorf("%d events afterwards", len(events))
	}
	if d := answer[*Decision](t, w, "decision?policy=place&key=east/p&run=1"); d.State != StateNothing {
		t.Errorf("afterwards it %s", d.State)
	}
}

// TestAtOnce: questions that are asked at the same time have the answers that they
// have one after the other.
func TestAtOnce(t *testing.T) {
	t.Parallel()
	w := world(t, objects, load(t, place))
	var all sync.WaitGroup
	for i := range 24 {
		all.Go(func() {
			question := []string{
				"decision?policy=place&key=east/p&run=1&after=600", "decision?policy=place&key=east/p", "timeline?horizon=600", "compare?policy=place&set=least=2",
				"keys?policy=place", "decision?policy=place&key=west/lost&run=1&after=10", "compare?against=1", "decision?policy=place&key=east/p&against=1",
			}[i%8]
			path, query, _ := strings.Cut(question, "?")
			values, _ := url.ParseQuery(query)
			got, err := w.Answer(t.Context(), path, values)
			if d, ok := got.(*Decision); err != nil || ok && (d.State == StateNothing) != (values.Get("run") == "1") {
				t.Errorf("%s: %+v, %v", question, got, err)
			}
		})
	}
	all.Wait()
}
