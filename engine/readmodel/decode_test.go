package readmodel

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// TestDecode: an object of JSON is the object of the decoded manifest.
func TestDecode(t *testing.T) {
	t.Parallel()
	pod := schema.GVK{APIVersion: "v1", Kind: "Pod"}
	manifest := func(kind, spec string, more string) []byte {
		return fmt.Appendf(nil, `{%s"metadata":{"namespace":"ns","name":"a","uid":"u","resourceVersion":"7","generation":3,"labels":{"x":"y"},`+
			`"managedFields":[{"manager":"edict/p","operation":"Apply","fieldsV1":{"f:spec":{}}}]},%s%s}`, kind, spec, more)
	}
	spec := `"spec":{"nodeName":"n","containers":[{"name":"c","image":"i"}]}`
	masks := map[string]*value.Mask{
		"all": value.KeepAll, "a field": {Fields: map[string]*value.Mask{"spec": {Fields: map[string]*value.Mask{"nodeName": {}}}}},
		"the kind": {Fields: map[string]*value.Mask{"kind": {}, "spec": value.KeepAll}}, "managers": value.Merge(value.KeepAll, world.WithManagers),
	}
	for name, tc := range map[string]struct {
		of   world.Source
		data []byte
	}{
		"an event":                {world.Source{GVK: pod}, manifest(`"apiVersion":"v1","kind":"Pod",`, spec, "")},
		"out of a list":           {world.Source{GVK: pod}, manifest("", spec, "")},
		"metadata last":           {world.Source{GVK: pod}, []byte(`{"spec":{"nodeName":"n"},"metadata":{"name":"a"}}`)},
		"a Secret":                {world.Source{GVK: schema.Secret}, manifest(`"kind":"Secret","apiVersion":"v1",`, `"data":{"a":"YQ=="}`, "")},
		"a Secret, values wanted": {world.Source{GVK: schema.Secret, Values: true}, manifest(`"kind":"Secret","apiVersion":"v1",`, `"data":{"a":"YQ=="}`, "")},
	} {
		for mask, keep := range masks {
			t.Run(name+", "+mask, func(t *testing.T) {
				t.Parallel()
				var object map[string]any
				if err := json.Unmarshal(tc.data, &object); err != nil {
					t.Fatal(err)
				}
				object["apiVersion"], object["kind"] = tc.of.APIVersion, tc.of.Kind
				want := Object(tc.of, object, schema.Untyped(), keep)
				var before *world.Object
				for range 2 {
					d := &Decoder{Source: tc.of, Type: schema.Untyped(), Mask: keep, Known: func([]byte, []byte) *world.Object { return before }}
					got, err := d.Decode(tc.data)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(value.Plain(want.Value), value.Plain(got.Value)); diff != "" {
						t.Errorf("(- of a manifest, + decoded):\n%s", diff)
					}
					if got.ID() != want.ID() || got.UID != want.UID || got.Version() != want.Version() || got.Managers().Has("edict/p") != want.Managers().Has("edict/p") {
						t.Errorf("got %v %s %v, want %v %s %v", got.ID(), got.UID, got.Version(), want.ID(), want.UID, want.Version())
					}
					before = got
				}
			})
		}
	}
}

// TestDecodeFails: what cannot be read is named.
func TestDecodeFails(t *testing.T) {
	t.Parallel()
	d := &Decoder{Source: world.Source{GVK: schema.GVK{APIVersion: "v1", Kind: "Pod"}}, Mask: &value.Mask{Fields: map[string]*value.Mask{"spec": value.KeepAll}}, Known: func([]byte, []byte) *world.Object { return nil }}
	for text, want := range map[string]string{
		`{"metadata":{"namespace":"ns","name":"a"},"spec":]}`: "Pod ns/a cannot be read: at byte 49 the JSON has ']' where a value is expected",
		`{"metadata":`: "an object of the kind Pod cannot be read: the JSON ends too early",
	} {
		if _, err := d.Decode([]byte(text)); err == nil || err.Error() != want {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
