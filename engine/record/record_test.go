package record_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/record"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/simulate"
	"github.com/edict-dev/edict/engine/source"
)

// chooses places something on the best of some nodes, and waits for one to rest.
const chooses = `apiVersion: edict.dev/v1alpha1
kind: Policy
metadata: {name: placing}
spec:
  for: {apiVersion: example.com/v1, kind: Task}
  inputs:
    - {name: nodes, apiVersion: v1, kind: Node}
    - {name: config, apiVersion: v1, kind: ConfigMap, get: '{"namespace": "default", "name": "config"}'}
    - {name: secret, apiVersion: v1, kind: Secret, get: '{"namespace": "default", "name": "secret"}'}
  variables:
    - {name: ready, expression: 'inputs.nodes.filter(n, n.?status.conditions.orValue([]).exists(c, c.type == "Ready" && c.status == "True"))'}
    - {name: wanted, expression: 'inputs.config == null ? "" : inputs.config.data.zone'}
  rules:
    - name: place
      when: 'object.?spec.node.orValue("") == "" && size(variables.ready) > 0'
      do:
        - select:
            candidates: [{as: node, in: variables.ready}]
            summary: "${total} nodes"
            pipeline:
              - {filter: cordoned, keep: "!node.?spec.unschedulable.orValue(false)"}
              - {score: zone, points: 'node.metadata.?labels[?"zone"].orValue("") == variables.wanted ? 10 : 0'}
            orderBy: [node.metadata.name]
            then: [{patch: {value: {spec: {node: "${node.metadata.name}"}}}}]
    - name: list
      forEach: object.?spec.parts.orValue([])
      variables: [{name: long, expression: size(item) > 3}]
      cases:
        - {name: wide, when: long, do: [{annotations: {set: {wide: "${item}"}}}]}
        - {name: narrow, when: "true", do: [{annotations: {set: {narrow: "${item}"}}}]}
    - name: late
      when: 'elapsed(timestamp(object.spec.since), duration("10m"))'
      do: [{labels: {set: {late: "true"}}}]
    - name: secret
      when: inputs.secret != null
      do: [{annotations: {set: {digest: "${inputs.secret.data.token}"}}}]
    - {name: last, do: [{fail: no more}]}
    - {name: never, do: [{labels: {set: {never: "true"}}}]}
`

const manifests = `
- {apiVersion: example.com/v1, kind: Task, metadata: {name: t, namespace: default}, spec: {parts: [abcd, ef], since: "2026-03-01T11:55:00Z"}}
- {apiVersion: v1, kind: Node, metadata: {name: n1}, status: {conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: v1, kind: Node, metadata: {name: n2, labels: {zone: z}}, status: {conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: v1, kind: Node, metadata: {name: n3, labels: {zone: z}}, spec: {unschedulable: true}, status: {conditions: [{type: Ready, status: "True"}]}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: default}, data: {zone: z}}
- {apiVersion: v1, kind: Secret, metadata: {name: secret, namespace: default}, data: {token: aHVudGVyMg==}}
`

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// records runs a policy in a world, and returns what was decided.
func records(t *testing.T, values bool) []*record.Document {
	t.Helper()
	file := filepath.Join(t.TempDir(), "p.yaml")
	if err := os.WriteFile(file, []byte(chooses), 0o600); err != nil {
		t.Fatal(err)
	}
	b, err := source.Load([]string{file}, source.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Err(); err != nil {
		t.Fatal(err)
	}
	if values {
		b.Policies[0].SeeValues(schema.GVK{APIVersion: "v1", Kind: "Secret"})
	}
	objects := filepath.Join(t.TempDir(), "world.yaml")
	if err := os.WriteFile(objects, []byte(strings.ReplaceAll(manifests, "\n- ", "\n---\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	list, err := simulate.ReadObjects(objects)
	if err != nil {
		t.Fatal(err)
	}
	s := simulate.New(t.Context(), simulate.Options{Policies: b.Policies, Schemas: b.Schemas, Objects: list, Start: start, KeepTraces: true})
	timeline, err := simulate.ParseTimeline([]byte("- {at: 1m, apply: {apiVersion: v1, kind: ConfigMap, metadata: {name: config, namespace: default}, data: {zone: y}}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	s.Run(t.Context(), timeline, time.Hour)
	return s.Result().Traces
}

// TestRender shows a decision with all details.
func TestRender(t *testing.T) {
	t.Parallel()
	docs := records(t, false)
	got, err := json.MarshalIndent(docs[0], "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`[^ "]*/p\.yaml:`).ReplaceAllString(string(got), "p.yaml:")
	golden(t, "testdata/record.golden.json", text+"\n")
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE_GOLDEN") != "" {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("%s (-want +got):\n%s", file, d)
	}
}

// TestWakes: why a key was decided about, with the fields that changed.
func TestWakes(t *testing.T) {
	t.Parallel()
	var got []string
	for _, doc := range records(t, false) {
		for _, w := range doc.WokenBy {
			line := string(w.Reason)
			if w.Object != nil {
				line += " " + w.Object.Kind + "/" + w.Object.Name + " " + strings.Join(w.Fields, ",")
			}
			got = append(got, doc.At.Format("15:04 ")+line)
		}
	}
	want := []string{
		"12:00 start",
		"12:00 changed Task/t metadata.annotations.digest,metadata.annotations.narrow,metadata.annotations.wide,spec.node",
		"12:01 changed ConfigMap/config data.zone", "12:05 deadline", "12:05 changed Task/t metadata.labels.late",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestSecretsAreHidden: of a policy that reads the values of Secrets no value is
// shown.
func TestSecretsAreHidden(t *testing.T) {
	t.Parallel()
	for _, doc := range records(t, true) {
		text, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, secret := range []string{"hunter2", "aHVudGVyMg=="} {
			if strings.Contains(string(text), secret) {
				t.Errorf("the value is in the record: %s", text)
			}
		}
	}
}
