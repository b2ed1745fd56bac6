package readmodel

import (
	"encoding/json"
	"strings"
	"testing"

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
