package readmodel

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// TestSecretsAreDigests: no value of a Secret is in the read model, nor what
// kubectl keeps of it, unless the source has the values; that a value has changed
// shows. The manifest stays as it was.
func TestSecretsAreDigests(t *testing.T) {
	t.Parallel()
	manifest := func(password string) map[string]any {
		return map[string]any{
			"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": map[string]any{"a": password, "b": password}, "stringData": map[string]any{"c": password},
			"metadata": map[string]any{"namespace": "ns", "name": "s", "annotations": map[string]any{"mine": "kept", lastApplied: "{data: {a: " + password + "}}"}},
		}
	}
	read := func(source world.Source, o map[string]any) string {
		text, err := json.Marshal(value.Plain(Object(source, o, nil, value.KeepAll).Value))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	source := world.Source{GVK: schema.GVK{APIVersion: "v1", Kind: "Secret"}}
	o := manifest("canary")
	got := read(source, o)
	if strings.Contains(got, "canary") || !strings.Contains(got, "kept") || !strings.Contains(got, "Opaque") {
		t.Errorf("read as %s", got)
	}
	if got != read(source, manifest("canary")) || got == read(source, manifest("other")) {
		t.Error("a digest does not follow its value")
	}
	digests := Redacted(o)["data"].(map[string]any)
	if digests["a"] == digests["b"] {
		t.Error("equal values of two keys look alike")
	}
	if before, err := json.Marshal(o); err != nil || strings.Count(string(before), "canary") != 4 {
		t.Errorf("the manifest was changed: %s", before)
	}
	source.Values = true
	if !strings.Contains(read(source, o), "canary") {
		t.Error("a source with values has none")
	}
}

// TestAnnotationsWithValues: an annotation that may hold a value of the Secret is not read,
// whoever has written it; others are.
func TestAnnotationsWithValues(t *testing.T) {
	t.Parallel()
	secret := map[string]any{
		"data": map[string]any{"password": "aHVudGVyMg==", "short": "MQ=="}, // hunter2, 1
		"metadata": map[string]any{"namespace": "ns", "name": "s", "annotations": map[string]any{
			"objectset.rio.cattle.io/applied": `{"data":{"password":"aHVudGVyMg=="}}`, "a/list": ` ["x"]`, "a/packed": "H4sIAAAAAAAA/wEAAP//AAAAAAAAAAA=",
			"a/clear": "the password is hunter2", "a/encoded": "x:aHVudGVyMg==", "a/one": "1", "a/kept": "every 12 months", lastApplied: "",
		}},
	}
	metadata, _ := Redacted(secret)["metadata"].(map[string]any)
	if diff := cmp.Diff(map[string]any{"a/one": "1", "a/kept": "every 12 months"}, metadata["annotations"]); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
