package conformance

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/schema"
)

//go:embed testdata/short.yaml
var shortText []byte

// storedFile has the objects of testdata/short.yaml as a real server stores them.
const storedFile = "testdata/stored.json"

// shorts returns requests that create objects without what the server sets by itself.
func shorts() (out []request, err error) {
	list, err := objectsIn("testdata/short.yaml", shortText)
	for i, k := range list {
		name := fmt.Sprintf("short-%d", i)
		out = append(out, request{Op: create, Kind: k, Name: name, Body: k.object(name, k.base), Manager: "user"})
	}
	return out, err
}

// objectsIn reads a list of objects, each with its kind.
func objectsIn(file string, text []byte) (out []*kind, err error) {
	if text, err = yaml.YAMLToJSON(text); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	raw, err := apiserver.Decode([]byte(`{"list":` + string(text) + `}`))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	for _, fields := range objects(raw["list"]) {
		base, _ := fields["base"].(Object)
		out = append(out, &kind{
			GVK:      schema.GVK{APIVersion: fields["apiVersion"].(string), Kind: fields["kind"].(string)},
			resource: fields["resource"].(string), cluster: fields["cluster"] == true, base: base,
		})
	}
	return out, nil
}

// content returns an object without its metadata and status.
func content(o Object) Object {
	out := Object{}
	for field, v := range o {
		if field != "metadata" && field != "status" {
			out[field] = v
		}
	}
	return out
}

func readStored(text []byte) (out []Object, err error) {
	raw, err := apiserver.Decode([]byte(`{"list":` + string(text) + `}`))
	return objects(raw["list"]), err
}

func writeStored(list []Object) ([]byte, error) { return json.MarshalIndent(list, "", " ") }
