package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

const place = `# places Pods
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: place}
spec:
  for: {apiVersion: v1, kind: Pod}
  params:
    least: {default: 0, minimum: 0, maximum: 9, description: the least rank}
  inputs:
    - {name: nodes, apiVersion: v1, kind: Node}
    - {name: secret, apiVersion: v1, kind: Secret, get: '{"namespace": "east", "name": "secret"}'}
  rules:
    - name: choose
      when: object.metadata.namespace == "east"
      do:
        - select:
            candidates: [{as: node, in: inputs.nodes, orderBy: [node.metadata.name]}]
            summary: "${total} nodes"
            pipeline:
              - {filter: low, keep: 'int(node.metadata.labels.rank) >= params.least'}
              - {score: rank, points: 'int(node.metadata.labels.rank)'}
            then: [{annotations: {set: {node: "${node.metadata.name}"}}}]
            otherwise: [{annotations: {set: {node: null}}}]
    - name: late
      when: 'elapsed(timestamp(object.metadata.creationTimestamp), duration("10m"))'
      do: [{labels: {set: {late: "true"}}}]
    - {name: told, when: inputs.secret != null, do: [{fail: "it is ${inputs.secret.data.token}"}]}
---
apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: follow}
spec:
  for: {apiVersion: v1, kind: Node}
  inputs: [{name: pods, apiVersion: v1, kind: Pod, where: 'item.metadata.?annotations.?node.orValue("") == key.name'}]
  rules:
    - {name: mark, do: [{labels: {set: {used: "${string(size(inputs.pods))}"}}}]}
`

const objects = `
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: east, creationTimestamp: "2026-03-01T11:55:00Z"}}
---
{apiVersion: v1, kind: Pod, metadata: {name: lost, namespace: west, creationTimestamp: "2026-03-01T11:55:00Z"}}
---
{apiVersion: v1, kind: Node, metadata: {name: a, labels: {rank: "1"}}}
---
{apiVersion: v1, kind: Node, metadata: {name: b, labels: {rank: "2"}}}
`

const secretObject = `{apiVersion: v1, kind: Secret, metadata: {name: secret, namespace: east}, data: {token: aHVudGVyMg==}}`

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func load(t *testing.T, text string) *source.Bundle {
	t.Helper()
	contents := (&source.ConfigMap{Namespace: "n", Name: "m", Data: map[string]string{"p.yaml": text}}).Read()
	b, err := source.Assemble(contents.Units, schema.NewSet(schema.Builtin()), nil, nil, nil)
	if err != nil || b.Err() != nil {
		t.Fatal(err, b.Err())
	}
	return b
}

func world(t *testing.T, manifests string, against *source.Bundle) *World {
	t.Helper()
	list, err := simulate.ParseObjects("objects.yaml", []byte(manifests))
	if err != nil {
		t.Fatal(err)
	}
	return New(Options{Bundle: load(t, place), Against: against, Objects: list, Start: start, Guard: guard.New(nil).Assuming(), Origin: "objects.yaml"})
}

// answer asks a question, and reads the answer as T.
func answer[T any](t *testing.T, w *World, question string) T {
	t.Helper()
	path, query, _ := strings.Cut(question, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		t.Fatal(err)
	}
	got, err := w.Answer(t.Context(), path, values)
	if err != nil {
		t.Fatalf("%s: %v", question, err)
	}
	out, ok := got.(T)
	if !ok {
		t.Fatalf("%s answers %T", question, got)
	}
	return out
}

// TestDecision: the sentence, the candidates, the notes beside the text and why-not
// are those of the decision on the objects as given, before and after others ask.
func TestDecision(t *testing.T) {
	t.Parallel()
	w := world(t, objects, nil)
	for range 2 {
		d := answer[*Decision](t, w, "decision?policy=place&key=east/p&about=a")
		if d.State != StateWrites || !strings.Contains(d.Sentence, `the rule "choose" applies`) || !strings.Contains(d.Sentence, "2026-03-01T12:05:00Z") {
			t.Errorf("%s: %s", d.State, d.Sentence)
		}
		if diff := cmp.Diff([]string{`the rule "choose": node a came 2nd: 1 point, node b has 2 (rank 1, not 2)`}, d.WhyNot[:1]); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		var lines []string
		for _, n := range d.Notes {
			lines = append(lines, fmt.Sprintf("%d %s %s: %s", n.Line, n.What, n.Name, n.Text))
		}
		want := []string{
			"8 param least: 0", "10 input nodes: read: 2 Node", "11 input secret: read: 0 Secret", "13 rule choose: fired", "14 when : true",
			"20 step low: excluded 0 of 2", "21 step rank: 1 to 2 points", "24 rule late: skipped", "25 when : false", "27 rule told: skipped", "27 when : false",
		}
		if diff := cmp.Diff(want, lines); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		answer[*Timeline](t, w, "timeline?horizon=3600")
		answer[*Decision](t, w, "decision?policy=place&key=east/p&run=1&after=600")
	}
}

// TestClock: the clock alone changes what depends on the time, a run what policies
// write until then; the clock goes back, too.
func TestClock(t *testing.T) {
	t.Parallel()
	w := world(t, objects, nil)
	for _, tc := range []struct{ query, state, rule string }{
		{"", StateNothing, "skipped"}, {"&after=300", StateWrites, "fired"}, {"&run=1&after=300", StateNothing, "fired"}, {"&run=1", StateNothing, "skipped"}, {"&after=299", StateNothing, "skipped"},
	} {
		d := answer[*Decision](t, w, "decision?policy=place&key=west/lost"+tc.query)
		if d.State != tc.state || d.Record.Rules[1].Outcome != tc.rule {
			t.Errorf("%s: %s, the rule is %s", tc.query, d.State, d.Record.Rules[1].Outcome)
		}
	}
}

// TestTimeline: every write of a run is an event, and leads to its decision.
func TestTimeline(t *testing.T) {
	t.Parallel()
	w := world(t, objects, nil)
	var got []string
	for _, e := range answer[*Timeline](t, w, "timeline?horizon=600").Events {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.At.Format(time.TimeOnly), e.What, e.Policy, e.Key))
		d := answer[*Decision](t, w, fmt.Sprintf("decision?policy=%s&key=%s&record=%s", e.Policy, e.Key, e.Record))
		if !d.Record.At.Equal(e.At) || len(d.Record.Effects) == 0 || d.Record.Effects[0].Result != "written" {
			t.Errorf("the decision of %v is %+v", e, d.Record)
		}
	}
	want := []string{
		"12:00:00 write follow a", "12:00:00 write follow b", "12:00:00 write place east/p", "12:00:00 write follow b",
		"12:05:00 write place east/p", "12:05:00 write place west/lost",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if short := answer[*Timeline](t, w, "timeline?horizon=60"); short.Events[len(short.Events)-1].What != EventDeadline {
		t.Errorf("the deadline behind the horizon is missing: %+v", short.Events)
	}
}

// TestParams: another value says who moves, and what a decision then is.
func TestParams(t *testing.T) {
	t.Parallel()
	w := world(t, objects, nil)
	c := answer[*Comparison](t, w, "compare?policy=place&set=least=3")
	var got []string
	for _, change := range c.Changes {
		for _, f := range change.Fields {
			got = append(got, fmt.Sprintf("%s %s: %v, %v", change.Target.Name, f.Path, f.Before, f.After))
		}
	}
	if diff := cmp.Diff([]string{"b metadata.labels.used: 1, 0", "p metadata.annotations.node: b, <nil>"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if d := answer[*Decision](t, w, "decision?policy=place&key=east/p&set=least=2"); len(d.Record.Selections[0].Candidates) != 2 || d.Record.Selections[0].Candidates[0].DroppedBy != "low" {
		t.Errorf("%+v", d.Record.Selections)
	}
	if _, err := w.Answer(t.Context(), "compare", url.Values{"policy": {"place"}, "set": {"least=-1"}}); err == nil || !strings.Contains(err.Error(), "least") {
		t.Errorf("a value that is not allowed: %v", err)
	}
}

// TestRevisions: the other revision is what was before.
func TestRevisions(t *testing.T) {
	t.Parallel()
	other := load(t, strings.Replace(place, "rank)'}\n            then", "rank) * -1'}\n            then", 1))
	w := world(t, objects, other)
	c := answer[*Comparison](t, w, "compare?against=1")
	if len(c.Changes) != 3 || c.Changes[2].Fields[0].Before != "a" || c.Changes[2].Fields[0].After != "b" {
		t.Errorf("%+v", c.Changes)
	}
	for question, want := range map[string]string{"decision?policy=place&key=east/p": "b", "decision?policy=place&key=east/p&against=1": "a"} {
		s := answer[*Decision](t, w, question).Record.Selections[0]
		if got := s.Candidates[*s.Winner].Names["node"]; got != want {
			t.Errorf("%s chooses %s", question, got)
		}
	}
	if a, b := answer[*Text](t, w, "text?policy=follow"), answer[*Text](t, w, "text?policy=follow&against=1"); a.First != 29 || a.Lines[0] != "apiVersion: edict.dev/v1alpha1" || !cmp.Equal(a, b) {
		t.Errorf("%+v, %+v", a, b)
	}
}

func TestGraph(t *testing.T) {
	t.Parallel()
	var got []string
	for _, e := range answer[*Graph](t, world(t, objects, nil), "graph").Edges {
		got = append(got, fmt.Sprintf("%s %s %s %s", e.Policy, e.Does, e.Kind, strings.Join(e.Fields, " ")))
	}
	want := []string{
		"follow decides Node metadata.deletionTimestamp metadata.labels.used", "follow reads Pod metadata.annotations.node", "follow writes Node metadata.labels.used",
		"place decides Pod metadata.annotations.node metadata.creationTimestamp metadata.deletionTimestamp metadata.labels.late metadata.namespace",
		"place reads Node metadata.labels.rank metadata.name", "place reads Secret data.token", "place writes Pod metadata.annotations.node metadata.labels.late",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

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

// TestSecretsAreHidden: no answer, and no exported page, has the value of a Secret
// that a policy reads, also where it is in an error or in what a policy writes.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	leaky := strings.Replace(place, `{fail: "it is ${inputs.secret.data.token}"}`, `{annotations: {set: {token: "${inputs.secret.data.token}"}}}, {fail: "it is ${inputs.secret.data.token}"}`, 1)
	open := func(text string) *source.Bundle {
		b := load(t, text)
		for _, p := range b.Policies {
			p.SeeValues(schema.GVK{APIVersion: "v1", Kind: "Secret"})
		}
		return b
	}
	list, err := simulate.ParseObjects("objects.yaml", []byte(objects+"---\n"+secretObject))
	if err != nil {
		t.Fatal(err)
	}
	writes := strings.Replace(leaky, `, {fail: "it is ${inputs.secret.data.token}"}`, "", 1)
	for name, bundles := range map[string][2]string{"an error": {leaky, place}, "a write": {writes, place}, "an error before": {place, writes}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := New(Options{Bundle: open(bundles[0]), Against: open(bundles[1]), Objects: list, Start: start, Guard: guard.New(nil).Assuming()})
			var page strings.Builder
			if err := w.Export(t.Context(), &page); err != nil {
				t.Fatal(err)
			}
			if strings.Count(page.String(), "aHVudGVyMg")+strings.Count(page.String(), "hunter2") > 0 {
				t.Error("the value is in the page")
			}
			if !strings.Contains(page.String(), "hidden: the policy reads values of Secrets") {
				t.Error("nothing is hidden: the test shows nothing")
			}
		})
	}
}

// TestExport: the page needs nothing else, and a text of the world ends no script.
func TestExport(t *testing.T) {
	t.Parallel()
	b := load(t, strings.Replace(place, "# places Pods", "# </script><script>alert(1)</script>", 1))
	list, err := simulate.ParseObjects("objects.yaml", []byte(objects))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := New(Options{Bundle: b, Objects: list, Start: start, Guard: guard.New(nil).Assuming()}).Export(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	page := out.String()
	for _, bad := range []string{"src=", `rel="stylesheet"`, `from "./`, "alert(1)</script>", "http-equiv=\"refresh"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	_, rest, _ := strings.Cut(page, `<script type="application/json" id="data">`)
	text, _, _ := strings.Cut(rest, "</script>")
	var data exported
	if err := json.Unmarshal([]byte(text), &data); err != nil {
		t.Fatal(err)
	}
	for _, question := range []string{"world", "graph", "timeline?horizon=3600", "keys?policy=place", "text?policy=follow", "decision?key=east/p&policy=place"} {
		if data.Answers[question] == nil {
			t.Errorf("the answer to %s is missing", question)
		}
	}
	if len(data.LeftOut) == 0 {
		t.Error("the page does not say what it lacks")
	}
}

// TestAdmission: only the holder of the token is answered, on a loopback address, by
// its own page, and to GET alone.
func TestAdmission(t *testing.T) {
	t.Parallel()
	handler := world(t, objects, nil).Handler("secret")
	for name, tc := range map[string]struct {
		method, target, host string
		header               map[string]string
		want                 int
	}{
		"the page":                   {"GET", "/secret/", "127.0.0.1:1", nil, 200},
		"a script":                   {"GET", "/secret/main.js", "localhost:1", nil, 200},
		"a question":                 {"GET", "/secret/api/world", "[::1]:1", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://[::1]:1"}, 200},
		"no slash":                   {"GET", "/secret", "127.0.0.1:1", nil, 302},
		"no token":                   {"GET", "/", "127.0.0.1:1", nil, 403},
		"no token, a question":       {"GET", "/api/world", "127.0.0.1:1", nil, 403},
		"another token":              {"GET", "/secreT/", "127.0.0.1:1", nil, 403},
		"the token below":            {"GET", "/x/secret/", "127.0.0.1:1", nil, 403},
		"a name that is rebound":     {"GET", "/secret/api/world", "evil.example:1", nil, 421},
		"a name that looks the same": {"GET", "/secret/api/world", "127.0.0.1.evil.example", nil, 421},
		"another origin":             {"GET", "/secret/api/world", "127.0.0.1:1", map[string]string{"Origin": "http://evil.example"}, 403},
		"another port":               {"GET", "/secret/api/world", "127.0.0.1:1", map[string]string{"Origin": "http://127.0.0.1:2"}, 403},
		"another site":               {"GET", "/secret/api/world", "127.0.0.1:1", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		"a write":                    {"POST", "/secret/api/world", "127.0.0.1:1", nil, 405},
		"a file outside":             {"GET", "/secret/../explore.go", "127.0.0.1:1", nil, 404},
		"what is not there":          {"GET", "/secret/api/decision?policy=plase", "127.0.0.1:1", nil, 404},
		"what is not understood":     {"GET", "/secret/api/decision?after=x", "127.0.0.1:1", nil, 422},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequestWithContext(t.Context(), tc.method, "http://"+tc.host+"/", nil)
			target, err := url.Parse(tc.target)
			if err != nil {
				t.Fatal(err)
			}
			r.URL, r.Host = target, tc.host
			for k, v := range tc.header {
				r.Header.Set(k, v)
			}
			out := httptest.NewRecorder()
			handler.ServeHTTP(out, r)
			if out.Code != tc.want {
				t.Errorf("%d, want %d: %s", out.Code, tc.want, out.Body)
			}
			if h := out.Header(); h.Get("Content-Security-Policy") != contentPolicy || h.Get("Referrer-Policy") != "no-referrer" || h.Get("X-Content-Type-Options") != "nosniff" || h.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("headers: %v", h)
			}
			if out.Code >= http.StatusBadRequest && strings.Contains(out.Body.String(), "objects.yaml") {
				t.Error("a refusal says something")
			}
		})
	}
}

// TestModules: the list of scripts is what the page has, each before those that
// import it.
func TestModules(t *testing.T) {
	t.Parallel()
	entries, err := embedded.ReadDir("web")
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range append([]string{}, append(modules, "main.js")...) {
		text, err := embedded.ReadFile("web/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(text)) {
			if _, from, imports := strings.Cut(line, ` from "./`); imports && !known[strings.TrimSuffix(strings.TrimSpace(from), `";`)] {
				t.Errorf("%s imports a module that is not before it: %s", name, line)
			}
		}
		known[name] = true
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), ".js") && !known[e.Name()] {
			t.Errorf("%s is not exported", e.Name())
		}
	}
}
