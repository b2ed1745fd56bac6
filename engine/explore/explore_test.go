package explore

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/guard"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
	"github.com/edict-dev/edict/test/fixture"
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
	return fixture.Compiled(t, text)
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
