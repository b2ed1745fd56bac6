package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/simulate"
)

// data are documents without a kind: an example with every field, and what reads
// them.
var data = map[string]struct {
	whole string
	read  func([]byte) error
}{
	"answers": {
		`{extender: {scores: {a: 1, a/b: 2}, default: 3, error: full, narrowError: why}}`,
		func(text []byte) error { _, err := simulate.ParseAnswers(text); return err },
	},
	"timeline": {
		`[{at: 1s, apply: {a: b}, patch: {a: b}, delete: {apiVersion: v1, kind: Pod, namespace: ns, name: x}, answers: {extender: {}},
		  restart: true, stop: true, start: true, fail: {verb: patch, kind: Pod, name: x, times: 2, code: 409}}]`,
		func(text []byte) error { _, err := simulate.ParseTimeline(text); return err },
	},
}

// lenient are edits that are read although the schema rejects them, because null
// stands for nothing or a text stands for no time.
func lenient(e edit) bool { return e.what == "null" || e.what == "a text" || e.what == "without at" }

// TestDataSchemasAgree: what the schemas of answers and timelines accept is read,
// and what they reject is not.
func TestDataSchemasAgree(t *testing.T) {
	t.Parallel()
	for name, tc := range data {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join(schemaFolder, name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := yaml.Unmarshal([]byte(tc.whole), &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Fatal(err)
		}
		for _, e := range edits(doc, "") {
			text, err := json.Marshal(e.doc)
			if err != nil {
				t.Fatal(err)
			}
			var value any
			if err := yaml.Unmarshal(text, &value); err != nil {
				t.Fatal(err)
			}
			invalid, unread := schema.Validate(value), tc.read(text)
			if (invalid == nil) != (unread == nil) && !lenient(e) {
				t.Errorf("%s%s %s: the schema says %v, the reader %v", name, e.at, e.what, invalid, unread)
			}
		}
	}
}

// TestShippedData: the answers and timelines of the examples are what the schemas
// describe.
func TestShippedData(t *testing.T) {
	t.Parallel()
	for file, name := range map[string]string{
		"storage/answers.json": "answers", "storage-timeline.yaml": "timeline", "modules-timeline.yaml": "timeline", "restarts-timeline.yaml": "timeline",
	} {
		schema, err := jsonschema.NewCompiler().Compile(filepath.Join(schemaFolder, name+".schema.json"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join("../../examples", file))
		if err != nil {
			t.Fatal(err)
		}
		var doc any
		if err := yaml.Unmarshal(text, &doc); err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
