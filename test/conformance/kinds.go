package conformance

import (
	_ "embed"
	"fmt"

	"sigs.k8s.io/yaml"

	"github.com/edict-dev/edict/engine/apiserver"
	"github.com/edict-dev/edict/engine/schema"
)

//go:embed testdata/kinds.yaml
var kindsText []byte

// kinds reads the kinds that requests are made for, by name.
func kinds() (map[string]*kind, error) {
	text, err := yaml.YAMLToJSON(kindsText)
	if err != nil {
		return nil, err
	}
	raw, err := apiserver.Decode(text)
	if err != nil {
		return nil, fmt.Errorf("testdata/kinds.yaml: %w", err)
	}
	out := map[string]*kind{}
	for name, v := range raw {
		fields, _ := v.(Object)
		version, _ := fields["apiVersion"].(string)
		resource, _ := fields["resource"].(string)
		exact, _ := fields["exact"].(bool)
		restless, _ := fields["restless"].(bool)
		cluster, _ := fields["cluster"].(bool)
		validated, _ := fields["validated"].(bool)
		base, _ := fields["base"].(Object)
		coded := map[string]bool{}
		list, _ := fields["coded"].([]any)
		for _, at := range list {
			coded[fmt.Sprint(at)] = true
		}
		named, ok := fields["kind"].(string)
		if !ok {
			named = name
		}
		out[name] = &kind{
			GVK: schema.GVK{APIVersion: version, Kind: named}, resource: resource, cluster: cluster, exact: exact, validated: validated, restless: restless, base: base, coded: coded,
			fragments: objects(fields["fragments"]), patches: objects(fields["patches"]), statuses: objects(fields["statuses"]), fixed: objects(fields["fixed"]),
		}
	}
	return out, nil
}

func objects(v any) []Object {
	list, _ := v.([]any)
	out := make([]Object, len(list))
	for i, item := range list {
		out[i], _ = item.(Object)
	}
	return out
}
