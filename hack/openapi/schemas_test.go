package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	var value map[string]any
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		t.Fatal(err)
	}
	return value
}

func TestStripKeepsFieldsCalledDescription(t *testing.T) {
	schema := parse(t, `{
		"description": "gone", "type": "object", "x-kubernetes-map-type": "atomic",
		"properties": {
			"description": {"type": "string", "description": "gone"},
			"list": {"type": "array", "items": {"description": "gone", "allOf": [{"description": "gone", "$ref": "#/x"}]}},
			"map": {"additionalProperties": {"description": "gone", "type": "string"}},
			"open": {"additionalProperties": true}
		}}`)
	want := parse(t, `{
		"type": "object", "x-kubernetes-map-type": "atomic",
		"properties": {
			"description": {"type": "string"},
			"list": {"type": "array", "items": {"allOf": [{"$ref": "#/x"}]}},
			"map": {"additionalProperties": {"type": "string"}},
			"open": {"additionalProperties": true}
		}}`)
	strip(schema)
	if diff := cmp.Diff(want, schema); diff != "" {
		t.Error(diff)
	}
}

func TestMergeRefusesTwoMeanings(t *testing.T) {
	merged := map[string]any{}
	first := parse(t, `{"components": {"schemas": {"a": {"type": "string", "description": "one"}}}}`)
	same := parse(t, `{"components": {"schemas": {"a": {"type": "string", "description": "two"}, "b": {}}}}`)
	other := parse(t, `{"components": {"schemas": {"a": {"type": "integer"}}}}`)
	for _, document := range []map[string]any{first, same} {
		if err := merge(merged, document); err != nil {
			t.Error(err)
		}
	}
	if len(merged) != 2 {
		t.Errorf("merged: %v", merged)
	}
	if merge(merged, other) == nil || merge(merged, nil) == nil {
		t.Error("no error for another meaning of a name, or for a document without schemas")
	}
}

func TestMergeForgetsTheGroupsOfEnvelopes(t *testing.T) {
	const name = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
	merged := map[string]any{}
	for _, group := range []string{"apps", "batch"} {
		document := parse(t, `{"components": {"schemas": {"`+name+`": {
			"type": "object", "x-kubernetes-group-version-kind": [{"group": "`+group+`"}]}}}}`)
		if err := merge(merged, document); err != nil {
			t.Error(err)
		}
	}
	want := map[string]any{name: map[string]any{"type": "object"}}
	if diff := cmp.Diff(want, merged); diff != "" {
		t.Error(diff)
	}
}

func TestWriteFileLeavesTheSameTextAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.gz")
	schemas := map[string]any{"b": map[string]any{}, "a": map[string]any{}}
	for range 2 {
		if err := writeFile(path, schemas); err != nil {
			t.Fatal(err)
		}
		text, err := readFile(path)
		if want := `{"components":{"schemas":{"a":{},"b":{}}}}`; err != nil || string(text) != want {
			t.Errorf("the file has %s (%v), want %s", text, err, want)
		}
		if err := os.Chmod(path, 0o400); err != nil { // a second write would fail, unless root runs it
			t.Fatal(err)
		}
	}
}
